//! Texts cut to what is read at a glance.

/// Columns of a text within a remark: with the words around it no line is much longer than a screen is wide.
const COLUMNS: usize = 76;

/// A text in one line, its middle left out where it is long: ends tell as much as beginnings.
pub fn short(text: &str) -> String {
    shortened(text, COLUMNS)
}

/// A text in one line of at most so many letters.
pub fn shortened(text: &str, most: usize) -> String {
    // Nothing beyond what can be shown is looked at.
    let lines = text.split(['\n', '\r']).map(str::trim);
    let line = if text.contains(['\n', '\r']) {
        lines.collect::<Vec<_>>().join(" ")
    } else {
        text.to_owned()
    };
    let count = line.chars().count();
    if count <= most {
        return line;
    }
    let tail = most / 4;
    let head: String = line.chars().take(most - tail - 1).collect();
    let tail: String = line.chars().skip(count - tail).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(short("f(1)"), "f(1)");
        assert_eq!(short("f(1,\n  2)"), "f(1, 2)");
        let long = short(&format!("f('{}')", "ab".repeat(50_000)));
        assert_eq!(long.chars().count(), 76);
        assert!(
            long.starts_with("f('ab") && long.ends_with("ab')"),
            "{long}"
        );
    }
}
