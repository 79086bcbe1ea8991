//! What can be called: methods and builtins, read from `signatures.txt`.

use std::sync::LazyLock;

use super::types::{Type, split_arguments};

/// What a call does to its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    Grows,
    Shrinks,
    Changes,
}

/// A method or builtin.
#[derive(Debug, Clone)]
pub(super) struct Signature {
    pub(super) name: String,
    /// None for a function.
    pub(super) receiver: Option<Type>,
    pub(super) arguments: Vec<Type>,
    pub(super) result: Type,
    pub(super) nonempty: bool,
    pub(super) raises: Option<&'static str>,
    pub(super) effect: Effect,
    pub(super) rare: bool,
}

/// Every signature of the table.
pub(super) static SIGNATURES: LazyLock<Vec<Signature>> = LazyLock::new(|| {
    include_str!("signatures.txt")
        .lines()
        .filter_map(read)
        .collect()
});

fn read(line: &'static str) -> Option<Signature> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (head, tail) = line.split_once(" -> ")?;
    let (callee, arguments) = head.strip_suffix(')')?.split_once('(')?;
    let (receiver, name) = match callee.rsplit_once('.') {
        Some((receiver, name)) => (Some(Type::parse(receiver)?), name),
        None => (None, callee),
    };
    // A result may hold blanks; flags are what follows the last bracket or the first word.
    let split = tail
        .rfind(']')
        .map_or_else(|| tail.find(' ').unwrap_or(tail.len()), |at| at + 1);
    let mut signature = Signature {
        name: name.to_owned(),
        receiver,
        arguments: split_arguments(arguments)
            .into_iter()
            .map(Type::parse)
            .collect::<Option<_>>()?,
        result: Type::parse(&tail[..split])?,
        nonempty: false,
        raises: None,
        effect: Effect::Nothing,
        rare: false,
    };
    for flag in tail[split..].split_whitespace() {
        match flag {
            "nonempty" => signature.nonempty = true,
            "grows" => signature.effect = Effect::Grows,
            "shrinks" => signature.effect = Effect::Shrinks,
            "changes" => signature.effect = Effect::Changes,
            "rare" => signature.rare = true,
            error => signature.raises = error.strip_prefix('!'),
        }
    }
    Some(signature)
}

#[cfg(test)]
mod tests {
    use super::{Effect, SIGNATURES};

    #[test]
    fn every_line_is_read() {
        let lines = include_str!("signatures.txt").lines();
        let written = lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .count();
        assert_eq!(SIGNATURES.len(), written);
        let remove = SIGNATURES.iter().find(|one| one.name == "remove").unwrap();
        assert_eq!(
            (remove.raises, remove.effect),
            (Some("ValueError"), Effect::Shrinks)
        );
    }
}
