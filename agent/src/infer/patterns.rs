//! Texts that a regular expression of the source matches, with parts of the wanted value in its groups.

use std::iter::Peekable;
use std::str::Chars;

use ndbg_dataset::random::Random;

/// Nesting of groups that is followed.
const DEPTH: usize = 12;
/// Repetitions beyond the least.
const MORE: usize = 3;
/// Letters of what is made.
const LONGEST: usize = 200;
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789_";
const DIGITS: &str = "0123456789";

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq)]
enum Node {
    /// What takes no letters.
    Nothing,
    /// One of these letters.
    One(Vec<char>),
    /// What stands in a group: one of several rows; a group that captures has a number.
    Group(Option<usize>, Vec<Vec<Self>>),
    /// The group with this number again.
    Again(usize),
    /// Something, at least and at most so often.
    Repeat(Box<Self>, usize, usize),
}

/// A pattern that can be written out.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    ways: Vec<Vec<Node>>,
    groups: usize,
}

impl Pattern {
    /// Reads a pattern in Python's syntax; none if it is none, or matches nothing but itself.
    pub fn of(text: &str) -> Option<Self> {
        if text.len() > LONGEST || !text.contains(['\\', '[', '(', '*', '+', '?', '.']) {
            return None;
        }
        let mut reader = Reader {
            rest: text.chars().peekable(),
            groups: 0,
            verbose: false,
        };
        let ways = reader.ways(DEPTH)?;
        if reader.rest.peek().is_some() {
            return None;
        }
        let plain = |node: &Node| matches!(node, Node::One(letters) if letters.len() == 1);
        if ways.iter().all(|way| way.iter().all(plain)) {
            return None;
        }
        Some(Self {
            ways,
            groups: reader.groups,
        })
    }

    /// How many groups capture.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// A text that it matches, with these texts in its groups, as far as there are any.
    pub fn text(&self, groups: &[Option<String>], random: &mut Random) -> String {
        let mut writer = Writer {
            text: String::new(),
            given: groups,
            made: vec![String::new(); self.groups + 1],
        };
        writer.ways(&self.ways, random);
        writer.text
    }
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    groups: usize,
    verbose: bool,
}

impl Reader<'_> {
    fn ways(&mut self, depth: usize) -> Option<Vec<Vec<Node>>> {
        if depth == 0 {
            return None;
        }
        let mut ways = vec![Vec::new()];
        loop {
            let Some(&letter) = self.rest.peek() else {
                return Some(ways);
            };
            if letter == ')' {
                return Some(ways);
            }
            self.rest.next();
            let node = match letter {
                '|' => {
                    ways.push(Vec::new());
                    continue;
                }
                '^' | '$' => continue,
                letter if self.verbose && letter.is_whitespace() => continue,
                '(' => self.group(depth)?,
                '[' => Node::One(self.set()?),
                '.' => Node::One(LETTERS.chars().collect()),
                '\\' => self.escape()?,
                '*' | '+' | '?' => return None,
                letter => Node::One(vec![letter]),
            };
            if node == Node::Nothing {
                continue;
            }
            let node = self.repeated(node);
            if let Some(way) = ways.last_mut() {
                way.push(node);
            }
        }
    }

    /// After `(`.
    fn group(&mut self, depth: usize) -> Option<Node> {
        let mut number = None;
        let mut looks = false;
        if self.rest.next_if_eq(&'?').is_some() {
            match self.rest.next()? {
                ':' => {}
                'P' | '<' => {
                    let kind = *self.rest.peek()?;
                    match kind {
                        '=' | '!' if looks_back(kind) => {
                            self.rest.next();
                            looks = true;
                        }
                        _ => {
                            self.rest.next_if_eq(&'<');
                            for letter in self.rest.by_ref() {
                                if letter == '>' {
                                    break;
                                }
                            }
                            self.groups += 1;
                            number = Some(self.groups);
                        }
                    }
                }
                '=' | '!' => looks = true,
                // Flags for all of it, or for the group.
                flag if flag.is_ascii_alphabetic() => {
                    self.verbose |= flag == 'x';
                    loop {
                        match self.rest.next()? {
                            ')' => return Some(Node::Nothing),
                            ':' => break,
                            'x' => self.verbose = true,
                            _ => {}
                        }
                    }
                }
                _ => return None,
            }
        } else {
            self.groups += 1;
            number = Some(self.groups);
        }
        let ways = self.ways(depth - 1)?;
        self.rest.next_if_eq(&')')?;
        Some(if looks {
            Node::Nothing
        } else {
            Node::Group(number, ways)
        })
    }

    /// After a backslash.
    fn escape(&mut self) -> Option<Node> {
        let letter = self.rest.next()?;
        if let Some(number) = letter.to_digit(10).filter(|number| *number > 0) {
            return Some(Node::Again(number as usize));
        }
        Some(match letter {
            'b' | 'B' | 'A' | 'Z' | 'z' => Node::Nothing,
            letter => Node::One(escaped(letter)?),
        })
    }

    /// After `[`.
    fn set(&mut self) -> Option<Vec<char>> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        let mut letters: Vec<char> = Vec::new();
        let mut is_first = true;
        loop {
            let letter = self.rest.next()?;
            if letter == ']' && !is_first {
                break;
            }
            is_first = false;
            if letter == '\\' {
                letters.extend(escaped(self.rest.next()?)?);
                continue;
            }
            let is_range = {
                let mut ahead = self.rest.clone();
                ahead.next() == Some('-') && ahead.next().is_some_and(|end| end != ']')
            };
            if is_range {
                self.rest.next();
                let mut end = self.rest.next()?;
                if end == '\\' {
                    end = self.rest.next()?;
                }
                letters.extend((letter..=end).take(128));
            } else {
                letters.push(letter);
            }
        }
        if negated {
            let others = LETTERS.chars().chain(" .,:/-".chars());
            letters = others.filter(|other| !letters.contains(other)).collect();
        }
        (!letters.is_empty()).then_some(letters)
    }

    fn repeated(&mut self, node: Node) -> Node {
        let (least, most) = match self.rest.peek() {
            Some('*') => (0, MORE),
            Some('+') => (1, 1 + MORE),
            Some('?') => (0, 1),
            Some('{') => match self.counts() {
                Some(counts) => counts,
                None => return node,
            },
            _ => return node,
        };
        self.rest.next();
        // As few as possible, or all of them at once: the same letters.
        let _ = self.rest.next_if(|letter| matches!(letter, '?' | '+'));
        Node::Repeat(Box::new(node), least, most)
    }

    /// `{2}`, `{2,}`, `{,3}`, `{2,3}`, up to before the bracket that closes it.
    fn counts(&mut self) -> Option<(usize, usize)> {
        let mut ahead = self.rest.clone();
        ahead.next();
        let inner: String = ahead.take_while(|letter| *letter != '}').collect();
        let count =
            |text: &str| -> Option<usize> { text.parse().ok().filter(|count| *count <= LONGEST) };
        let counts = match inner.split_once(',') {
            None => {
                let count = count(&inner)?;
                (count, count)
            }
            Some((least, "")) => (count(least)?, count(least)? + MORE),
            Some(("", most)) => (0, count(most)?),
            Some((least, most)) => (count(least)?, count(most)?),
        };
        if counts.0 > counts.1 {
            return None;
        }
        for _ in 0..=inner.chars().count() {
            self.rest.next();
        }
        Some(counts)
    }
}

/// `(?<=` and `(?<!` look back; `(?P<name>` and `(?<name>` do not.
fn looks_back(kind: char) -> bool {
    matches!(kind, '=' | '!')
}

fn escaped(letter: char) -> Option<Vec<char>> {
    Some(match letter {
        'd' => DIGITS.chars().collect(),
        'w' => LETTERS.chars().collect(),
        's' => vec![' '],
        'D' => "ab -".chars().collect(),
        'W' => " -.,".chars().collect(),
        'S' => LETTERS.chars().collect(),
        'n' => vec!['\n'],
        't' => vec!['\t'],
        'r' => vec!['\r'],
        letter if letter.is_ascii_alphabetic() => return None,
        letter => vec![letter],
    })
}

struct Writer<'g> {
    text: String,
    given: &'g [Option<String>],
    made: Vec<String>,
}

impl Writer<'_> {
    fn ways(&mut self, ways: &[Vec<Node>], random: &mut Random) {
        for node in random.pick(ways) {
            self.node(node, random);
        }
    }

    fn node(&mut self, node: &Node, random: &mut Random) {
        if self.text.len() > LONGEST {
            return;
        }
        match node {
            Node::Nothing => {}
            Node::One(letters) => self.text.push(*random.pick(letters)),
            Node::Again(number) => {
                let again = self.made.get(*number).cloned().unwrap_or_default();
                self.text.push_str(&again);
            }
            Node::Group(number, ways) => {
                let start = self.text.len();
                let given = number.and_then(|number| self.given.get(number - 1)?.as_deref());
                match given {
                    Some(text) => self.text.push_str(text),
                    None => self.ways(ways, random),
                }
                if let Some(number) = number
                    && let Some(made) = self.made.get_mut(*number)
                {
                    self.text[start..].clone_into(made);
                }
            }
            Node::Repeat(inner, least, most) => {
                let count = least + random.below(most - least + 1);
                // A group that is given is there.
                let given = matches!(&**inner, Node::Group(Some(number), _)
                    if self.given.get(number - 1).is_some_and(Option::is_some));
                let count = if given { count.max(1) } else { count };
                for _ in 0..count {
                    self.node(inner, random);
                }
            }
        }
    }
}

/// Ways to put wanted texts into a number of groups: in their order, each in each, and one text divided.
pub fn fillings(groups: usize, wanted: &[String]) -> Vec<Vec<Option<String>>> {
    const MOST: usize = 24;
    let mut made: Vec<Vec<Option<String>>> = Vec::new();
    if groups == 0 || wanted.is_empty() {
        return made;
    }
    for start in 0..wanted.len().min(4) {
        let row = (0..groups).map(|at| wanted.get(start + at).cloned());
        made.push(row.collect());
    }
    if groups == 2 {
        for text in wanted.iter().take(3) {
            let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).collect();
            for cut in cuts.into_iter().rev().take(6) {
                made.push(vec![
                    Some(text[..cut].to_owned()),
                    Some(text[cut..].to_owned()),
                ]);
            }
        }
    }
    for text in wanted.iter().take(4) {
        for group in 0..groups.min(4) {
            let mut row = vec![None; groups];
            row[group] = Some(text.clone());
            made.push(row);
        }
    }
    made.truncate(MOST);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_match_the_pattern_that_they_are_made_of() {
        let mut random = Random::of(1, 0);
        for (pattern, groups, text) in [
            (r"(\w+)=(\d+)", &["key", "42"][..], "key=42"),
            (r"\$(\d+)\.(\d\d)", &["12", "34"], "$12.34"),
            (
                r"^(?P<year>\d{4})-(?P<month>\d\d)$",
                &["2024", "05"],
                "2024-05",
            ),
            (r"<(\w+)>x</\1>", &["b"], "<b>x</b>"),
            (r"(?i)(a|b)?(?:c)(?=d)(?<!e)", &["a"], "ac"),
            (r"\bv([0-9]+)\Z", &["7"], "v7"),
        ] {
            let read = Pattern::of(pattern).unwrap_or_else(|| panic!("{pattern}"));
            assert_eq!(read.groups(), groups.len(), "{pattern}");
            let given: Vec<Option<String>> = groups.iter().map(|g| Some((*g).into())).collect();
            assert_eq!(read.text(&given, &mut random), text, "{pattern}");
        }
        let read = Pattern::of(r"[a-c]{2,3}-[^a-z]+\s?x*").unwrap();
        for _ in 0..50 {
            let text = read.text(&[], &mut random);
            let (head, tail) = text.split_once('-').unwrap();
            assert!(head.len() >= 2 && head.len() <= 3, "{text}");
            assert!(head.chars().all(|c| ('a'..='c').contains(&c)), "{text}");
            assert!(
                !tail.starts_with(|c: char| c.is_ascii_lowercase()),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_pattern_is_left_alone() {
        for text in [
            "",
            "plain",
            "(",
            "[a",
            "*x",
            "a{2",
            "\\",
            "(?#",
            "a)",
            &"(".repeat(150),
        ] {
            assert_eq!(Pattern::of(text), None, "{text}");
        }
    }

    #[test]
    fn wanted_texts_are_put_into_groups_in_order_and_divided() {
        let text = |text: &str| Some(text.to_owned());
        let made = fillings(2, &["a".into(), "1".into()]);
        assert!(made.contains(&vec![text("a"), text("1")]));
        assert!(made.contains(&vec![None, text("a")]));
        assert!(fillings(2, &["1234".into()]).contains(&vec![text("12"), text("34")]));
        assert!(fillings(0, &["a".into()]).is_empty());
    }
}
