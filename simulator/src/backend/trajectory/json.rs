//! The JSON of states, byte by byte: what may come next.

/// A place in an object of strings, or in one string, as the grammars write them.
#[derive(Debug, Clone)]
pub struct Json<'a> {
    /// Names that may be keys, each once.
    names: &'a [String],
    used: Vec<usize>,
    /// Whether `..` may be the first key.
    elides: bool,
    place: Place,
    /// What must come next, before anything else.
    forced: &'static [u8],
    /// The key so far, or where in the text one is.
    key: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before `{`.
    Open,
    /// Before the first key, or `}`.
    First,
    Key,
    /// In a string that is the value of a key, or all there is.
    Text {
        alone: bool,
        inside: Inside,
    },
    /// Behind a value: `,` or `}`.
    Behind,
    Over,
}

/// In a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Plain,
    /// Behind a backslash.
    Escape,
    /// Before so many digits of a number.
    Digits(u8),
    /// Before so many bytes of a character.
    Character(u8),
}

const ELIDED: &str = "..";

impl<'a> Json<'a> {
    /// An object whose keys are names.
    pub fn object(names: &'a [String], elides: bool) -> Self {
        Self {
            names,
            used: Vec::new(),
            elides,
            place: Place::Open,
            forced: b"",
            key: Vec::new(),
        }
    }

    /// One string.
    pub fn string() -> Self {
        let place = Place::Text {
            alone: true,
            inside: Inside::Plain,
        };
        Self {
            names: &[],
            used: Vec::new(),
            elides: false,
            place,
            forced: b"\"",
            key: Vec::new(),
        }
    }

    /// Whether it may end here, and must.
    pub fn is_over(&self) -> bool {
        self.place == Place::Over && self.forced.is_empty()
    }

    /// Whether a byte may come next.
    pub fn allows(&self, byte: u8) -> bool {
        if let Some(&forced) = self.forced.first() {
            return byte == forced;
        }
        match self.place {
            Place::Open => byte == b'{',
            Place::First => byte == b'}' || (byte == b'"' && self.has_key()),
            Place::Key => self.key_allows(byte),
            Place::Text { inside, .. } => match inside {
                Inside::Plain => matches!(byte, b' '..=0x7f | 0xc2..=0xf4),
                Inside::Escape => b"\"\\/bfnrtu".contains(&byte),
                Inside::Digits(_) => byte.is_ascii_hexdigit(),
                Inside::Character(_) => matches!(byte, 0x80..=0xbf),
            },
            Place::Behind => byte == b'}' || (byte == b',' && self.has_key()),
            Place::Over => false,
        }
    }

    /// Goes on with a byte that was allowed.
    pub fn advance(&mut self, byte: u8) {
        if let Some((_, rest)) = self.forced.split_first() {
            self.forced = rest;
            return;
        }
        self.place = match self.place {
            Place::Open => Place::First,
            Place::First | Place::Behind if byte == b'}' => Place::Over,
            Place::First => self.begin_key(),
            Place::Key if byte == b'"' => self.end_key(),
            Place::Key => {
                self.key.push(byte);
                Place::Key
            }
            Place::Behind => {
                self.elides = false;
                self.forced = b" \"";
                self.begin_key()
            }
            Place::Text { alone, inside } => match (inside, byte) {
                (Inside::Plain, b'"') if alone => Place::Over,
                (Inside::Plain, b'"') => Place::Behind,
                _ => Place::Text {
                    alone,
                    inside: within(inside, byte),
                },
            },
            Place::Over => Place::Over,
        };
    }

    fn begin_key(&mut self) -> Place {
        self.key.clear();
        Place::Key
    }

    /// Names that are not used and go on with what is said.
    fn candidates(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let names = self.names.iter().enumerate();
        let unused = names.filter(|(at, _)| !self.used.contains(at));
        let elided = self.elides.then_some((usize::MAX, ELIDED.as_bytes()));
        let all = unused.map(|(at, name)| (at, name.as_bytes())).chain(elided);
        all.filter(|(_, name)| name.starts_with(&self.key))
    }

    fn has_key(&self) -> bool {
        self.used.len() < self.names.len() || (self.elides && self.place == Place::First)
    }

    fn key_allows(&self, byte: u8) -> bool {
        let at = self.key.len();
        self.candidates().any(|(_, name)| match name.get(at) {
            Some(&next) => next == byte,
            None => byte == b'"',
        })
    }

    fn end_key(&mut self) -> Place {
        let place = self
            .candidates()
            .find(|(_, name)| name.len() == self.key.len());
        match place.map(|(at, _)| at) {
            Some(usize::MAX) => {
                self.forced = b": \"..\"";
                self.elides = false;
                Place::Behind
            }
            at => {
                self.used.extend(at);
                self.forced = b": \"";
                Place::Text {
                    alone: false,
                    inside: Inside::Plain,
                }
            }
        }
    }
}

fn within(inside: Inside, byte: u8) -> Inside {
    match (inside, byte) {
        (Inside::Plain, b'\\') => Inside::Escape,
        (Inside::Plain, 0xc2..=0xdf) => Inside::Character(1),
        (Inside::Plain, 0xe0..=0xef) => Inside::Character(2),
        (Inside::Plain, 0xf0..=0xf4) => Inside::Character(3),
        (Inside::Escape, b'u') => Inside::Digits(4),
        (Inside::Digits(left), _) if left > 1 => Inside::Digits(left - 1),
        (Inside::Character(left), _) if left > 1 => Inside::Character(left - 1),
        _ => Inside::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(mut json: Json<'_>, text: &str) -> bool {
        for byte in text.bytes() {
            if !json.allows(byte) {
                return false;
            }
            json.advance(byte);
        }
        json.is_over()
    }

    #[test]
    fn objects_of_known_names_pass() {
        let names = ["n".to_owned(), "name".to_owned(), ".0".to_owned()];
        for (text, passed) in [
            ("{}", true),
            ("{\"n\": \"1\"}", true),
            ("{\"..\": \"..\"}", true),
            (
                "{\"..\": \"..\", \"name\": \"'é\\n\\u0001'\", \"n\": \"\"}",
                true,
            ),
            ("{\".0\": \"..\"}", true),
            ("{\"n\": \"1\", \"n\": \"2\"}", false),
            ("{\"n\": \"1\", \"..\": \"..\"}", false),
            ("{\"..\": \"x\"}", false),
            ("{\"na\": \"1\"}", false),
            ("{\"m\": \"1\"}", false),
            ("{\"n\":\"1\"}", false),
            ("{\"n\": \"\n\"}", false),
            ("{\"n\": 1}", false),
            ("{\"n\": \"1\"", false),
            ("{\"n\": \"\\x\"}", false),
        ] {
            assert_eq!(passes(Json::object(&names, true), text), passed, "{text}");
        }
        assert!(!passes(Json::object(&names, false), "{\"..\": \"..\"}"));
        assert!(passes(Json::object(&names, false), "{\".0\": \"1\"}"));
    }

    #[test]
    fn strings_pass() {
        for (text, passed) in [
            ("\"\"", true),
            ("\"a\\\"b\"", true),
            ("\"", false),
            ("x", false),
            ("\"\"x", false),
        ] {
            assert_eq!(passes(Json::string(), text), passed, "{text}");
        }
    }
}
