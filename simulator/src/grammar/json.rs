//! The JSON of states: strings and flat objects of strings, written as Python's `json.dumps` writes
//! them with `ensure_ascii=False`.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Appends a JSON string.
pub(super) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            // Writing to a string cannot fail.
            _ => drop(write!(out, "\\u{byte:04x}")),
        }
    }
    out.push_str(&text[from..]);
    out.push('"');
}

/// Appends an object member, with the comma that separates it from those before.
pub(super) fn write_member(first: &mut bool, name: &str, value: &str, out: &mut String) {
    if !std::mem::replace(first, false) {
        out.push_str(", ");
    }
    write_string(name, out);
    out.push_str(": ");
    write_string(value, out);
}

/// What is wrong, and at which byte.
pub(super) type Wrong = (usize, &'static str);

/// A member of an object: name and value.
pub(super) type Member = (Cow<'static, str>, Cow<'static, str>);

/// Reads text that is one JSON string.
pub(super) fn read_string(text: &str) -> Result<String, Wrong> {
    let mut reader = Reader { text, at: 0 };
    reader.blanks();
    let string = reader.string()?;
    reader.end()?;
    Ok(string)
}

/// Reads text that is one object of strings, each name once.
pub(super) fn read_object(text: &str) -> Result<Vec<Member>, Wrong> {
    let mut reader = Reader { text, at: 0 };
    let mut members: Vec<Member> = Vec::new();
    reader.blanks();
    reader.expect(b'{', "expected `{`")?;
    reader.blanks();
    if reader.peek() == Some(b'}') {
        reader.at += 1;
        reader.end()?;
        return Ok(members);
    }
    loop {
        reader.blanks();
        let at = reader.at;
        let name = reader.string()?;
        if members.iter().any(|member| member.0 == name) {
            return Err((at, "a name stands twice"));
        }
        reader.blanks();
        reader.expect(b':', "expected `:`")?;
        reader.blanks();
        let value = reader.string()?;
        members.push((name.into(), value.into()));
        reader.blanks();
        match reader.peek() {
            Some(b',') => reader.at += 1,
            Some(b'}') => {
                reader.at += 1;
                reader.end()?;
                return Ok(members);
            }
            _ => return Err((reader.at, "expected `,` or `}`")),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8, wrong: &'static str) -> Result<(), Wrong> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err((self.at, wrong))
        }
    }

    fn end(&mut self) -> Result<(), Wrong> {
        self.blanks();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err((self.at, "text after the end of the value")),
        }
    }

    fn string(&mut self) -> Result<String, Wrong> {
        self.expect(b'"', "expected a string")?;
        let mut out = String::new();
        loop {
            let from = self.at;
            while self
                .peek()
                .is_some_and(|b| b >= 0x20 && b != b'"' && b != b'\\')
            {
                self.at += 1;
            }
            out.push_str(&self.text[from..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return Err((self.at, "a control character in a string")),
                None => return Err((self.at, "a string without an end")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Wrong> {
        let at = self.at;
        self.at += 1;
        let letter = self.peek();
        self.at += 1;
        Ok(match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => return self.unicode(at),
            _ => return Err((at, "an unknown escape")),
        })
    }

    fn unicode(&mut self, at: usize) -> Result<char, Wrong> {
        let wrong = (at, "a bad `\\u` escape");
        let high = self.hex().ok_or(wrong)?;
        let code = if (0xd800..0xdc00).contains(&high) {
            let low = self.text.get(self.at..self.at + 2) == Some("\\u");
            self.at += 2;
            let low = low.then(|| self.hex()).flatten().ok_or(wrong)?;
            if !(0xdc00..0xe000).contains(&low) {
                return Err(wrong);
            }
            0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)
        } else {
            high
        };
        char::from_u32(code).ok_or(wrong)
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
        plain.then(|| u32::from_str_radix(digits, 16).ok())?
    }
}

#[cfg(test)]
mod tests {
    use super::{read_object, read_string, write_string};

    #[test]
    fn strings_are_written_as_python_writes_them() {
        // json.dumps("'a\\n\"\x01é\t'", ensure_ascii=False)
        let mut out = String::new();
        write_string("'a\\n\"\u{1}é\t'", &mut out);
        assert_eq!(out, r#""'a\\n\"\u0001é\t'""#);
    }

    #[test]
    fn every_valid_escape_is_read() {
        let text = r#""\u00e9\ud83d\ude00\/\b\f\n\r\t\\\"""#;
        assert_eq!(read_string(text).unwrap(), "é😀/\u{8}\u{c}\n\r\t\\\"");
    }

    #[test]
    fn malformed_text_is_refused_at_its_byte() {
        for (text, at) in [
            ("", 0),
            ("{", 1),
            ("{\"a\"}", 4),
            ("{\"a\": 1}", 6),
            ("{\"a\": \"b\",}", 10),
            ("{\"a\": \"b\"} x", 11),
            ("{\"a\": \"\\ud800x\"}", 7),
            ("{\"a\": \"b\", \"a\": \"\"}", 11),
            ("{\"é\": \"\\x\"}", 8),
            ("{\"a\": \"b", 8),
        ] {
            assert_eq!(read_object(text).unwrap_err().0, at, "{text}");
        }
    }
}
