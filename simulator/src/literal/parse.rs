//! Reads literals.

use num_bigint::BigInt;
use thiserror::Error;

use super::Literal;

/// Nesting that is followed; deeper text is no literal to us.
const MAX_DEPTH: usize = 60;

/// Why a text is no literal.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason} at offset {offset}")]
pub struct NotLiteral {
    /// Byte offset.
    pub offset: usize,
    /// What was expected or found.
    pub reason: &'static str,
}

/// Reads a text that is one literal from end to end.
pub fn parse(text: &str) -> Result<Literal, NotLiteral> {
    let (value, length) = parse_prefix(text)?;
    let rest = text[length..].trim_start();
    if rest.is_empty() {
        Ok(value)
    } else {
        Err(NotLiteral {
            offset: text.len() - rest.len(),
            reason: "more text after the literal",
        })
    }
}

/// Reads a literal at the start of a text: the value and its length in bytes.
pub fn parse_prefix(text: &str) -> Result<(Literal, usize), NotLiteral> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
    };
    let value = reader.value()?;
    Ok((value, reader.at))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blank(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn fail<T>(&self, reason: &'static str) -> Result<T, NotLiteral> {
        Err(NotLiteral {
            offset: self.at,
            reason,
        })
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn word(&self) -> &'a str {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        &rest[..end]
    }

    fn value(&mut self) -> Result<Literal, NotLiteral> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail("nested too deeply");
        }
        let value = self.inner();
        self.depth -= 1;
        value
    }

    fn inner(&mut self) -> Result<Literal, NotLiteral> {
        self.blank();
        let Some(first) = self.rest().chars().next() else {
            return self.fail("a value is missing");
        };
        match first {
            '[' => Ok(Literal::List(self.items('[', ']')?.0)),
            '(' => self.parenthesis(),
            '{' => self.braces(),
            '\'' | '"' => self.string().map(Literal::Str),
            '.' if self.take("...") => Ok(Literal::Ellipsis),
            '-' | '+' | '.' | '0'..='9' => self.number(),
            _ => self.named(),
        }
    }

    fn named(&mut self) -> Result<Literal, NotLiteral> {
        let word = self.word();
        let start = self.at;
        self.at += word.len();
        match word {
            "None" => Ok(Literal::None),
            "True" => Ok(Literal::Bool(true)),
            "False" => Ok(Literal::Bool(false)),
            "Ellipsis" => Ok(Literal::Ellipsis),
            "b" if self.rest().starts_with(['\'', '"']) => self.bytes().map(Literal::Bytes),
            "set" if self.take("()") => Ok(Literal::Set(Vec::new())),
            "frozenset" if self.take("()") => Ok(Literal::FrozenSet(Vec::new())),
            "frozenset" if self.rest().starts_with('(') => match self.argument()? {
                Literal::Set(items) | Literal::List(items) => Ok(Literal::FrozenSet(items)),
                _ => self.fail("frozenset takes a set"),
            },
            "bytearray" if self.rest().starts_with('(') => match self.argument()? {
                Literal::Bytes(bytes) => Ok(Literal::ByteArray(bytes)),
                _ => self.fail("bytearray takes bytes"),
            },
            "float" if self.rest().starts_with('(') => match self.argument()? {
                Literal::Str(text) => match text.as_str() {
                    "nan" => Ok(Literal::Float(f64::NAN)),
                    "inf" => Ok(Literal::Float(f64::INFINITY)),
                    "-inf" => Ok(Literal::Float(f64::NEG_INFINITY)),
                    _ => self.fail("no such float"),
                },
                _ => self.fail("float takes a string"),
            },
            "range" if self.rest().starts_with('(') => {
                let (items, _) = self.items('(', ')')?;
                let mut numbers = Vec::new();
                for item in items {
                    match item {
                        Literal::Int(number) => numbers.push(number),
                        _ => return self.fail("range takes integers"),
                    }
                }
                let one = BigInt::from(1);
                let mut numbers = numbers.into_iter();
                let parts = (
                    numbers.next(),
                    numbers.next(),
                    numbers.next(),
                    numbers.next(),
                );
                match parts {
                    (Some(end), None, ..) => Ok(Literal::Range(BigInt::ZERO, end, one)),
                    (Some(start), Some(end), None, _) => Ok(Literal::Range(start, end, one)),
                    (Some(start), Some(end), Some(by), None) if by != BigInt::ZERO => {
                        Ok(Literal::Range(start, end, by))
                    }
                    _ => self.fail("no such range"),
                }
            }
            _ => {
                self.at = start;
                self.fail("not a literal")
            }
        }
    }

    fn argument(&mut self) -> Result<Literal, NotLiteral> {
        self.take("(");
        let value = self.value()?;
        self.blank();
        if self.take(")") {
            Ok(value)
        } else {
            self.fail("`)` is missing")
        }
    }

    /// Items between brackets, and whether the last has a comma behind it.
    fn items(&mut self, open: char, close: char) -> Result<(Vec<Literal>, bool), NotLiteral> {
        self.at += open.len_utf8();
        let mut items = Vec::new();
        let mut comma = false;
        loop {
            self.blank();
            if self.rest().starts_with(close) {
                self.at += close.len_utf8();
                return Ok((items, comma));
            }
            if !items.is_empty() && !comma {
                return self.fail("a comma or the closing bracket is missing");
            }
            items.push(self.value()?);
            self.blank();
            comma = self.take(",");
        }
    }

    fn parenthesis(&mut self) -> Result<Literal, NotLiteral> {
        let (mut items, comma) = self.items('(', ')')?;
        if items.len() == 1 && !comma {
            // `(1+2j)` is one number, `(1)` is the number itself.
            return Ok(items.remove(0));
        }
        Ok(Literal::Tuple(items))
    }

    fn braces(&mut self) -> Result<Literal, NotLiteral> {
        self.at += 1;
        self.blank();
        if self.take("}") {
            return Ok(Literal::Dict(Vec::new()));
        }
        let first = self.value()?;
        self.blank();
        if self.take(":") {
            let mut pairs = vec![(first, self.value()?)];
            loop {
                self.blank();
                let comma = self.take(",");
                self.blank();
                if self.take("}") {
                    return Ok(Literal::Dict(pairs));
                }
                if !comma {
                    return self.fail("a comma or `}` is missing");
                }
                let key = self.value()?;
                self.blank();
                if !self.take(":") {
                    return self.fail("`:` is missing");
                }
                pairs.push((key, self.value()?));
            }
        }
        let mut items = vec![first];
        loop {
            self.blank();
            let comma = self.take(",");
            self.blank();
            if self.take("}") {
                return Ok(Literal::Set(items));
            }
            if !comma {
                return self.fail("a comma or `}` is missing");
            }
            items.push(self.value()?);
        }
    }

    fn number(&mut self) -> Result<Literal, NotLiteral> {
        let (text, imaginary) = self.digits()?;
        if imaginary {
            return Ok(Literal::Complex(0.0, self.float(text)?));
        }
        // `1+2j`, inside parentheses as Python writes it.
        if self.rest().starts_with(['+', '-']) {
            let back = self.at;
            if let Ok((second, true)) = self.digits() {
                return Ok(Literal::Complex(self.float(text)?, self.float(second)?));
            }
            self.at = back;
        }
        let plain = text.trim_start_matches('+');
        if plain.contains(['.', 'e', 'E']) || plain.ends_with("inf") || plain.ends_with("nan") {
            return Ok(Literal::Float(self.float(text)?));
        }
        match plain.replace('_', "").parse() {
            Ok(number) => Ok(Literal::Int(number)),
            Err(_) => self.fail("not a number"),
        }
    }

    /// Text of a number without its `j`, and whether it has one.
    fn digits(&mut self) -> Result<(&'a str, bool), NotLiteral> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
        let digits_from = end;
        for special in ["inf", "nan"] {
            if rest[end..].starts_with(special) {
                end += special.len();
                let imaginary = rest[end..].starts_with('j');
                self.at += end + usize::from(imaginary);
                return Ok((&rest[..end], imaginary));
            }
        }
        while let Some(&byte) = bytes.get(end) {
            let sign = matches!(byte, b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E');
            let exponent = matches!(byte, b'e' | b'E') && end > digits_from;
            if byte.is_ascii_digit() || byte == b'.' || byte == b'_' || exponent || sign {
                end += 1;
            } else {
                break;
            }
        }
        if !bytes[digits_from..end].iter().any(u8::is_ascii_digit) {
            return self.fail("not a number");
        }
        let imaginary = matches!(bytes.get(end), Some(b'j' | b'J'));
        self.at += end + usize::from(imaginary);
        if self.word().is_empty() {
            Ok((&rest[..end], imaginary))
        } else {
            self.fail("not a number")
        }
    }

    fn float(&self, text: &str) -> Result<f64, NotLiteral> {
        match text.replace('_', "").parse() {
            Ok(number) => Ok(number),
            Err(_) => self.fail("not a number"),
        }
    }

    fn string(&mut self) -> Result<String, NotLiteral> {
        let mut text = String::new();
        self.quoted(false, &mut |code| {
            text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        })?;
        Ok(text)
    }

    fn bytes(&mut self) -> Result<Vec<u8>, NotLiteral> {
        let mut bytes = Vec::new();
        self.quoted(true, &mut |code| bytes.push(code as u8))?;
        Ok(bytes)
    }

    /// Hands the code points between quotes to `push`.
    fn quoted(&mut self, bytes: bool, push: &mut dyn FnMut(u32)) -> Result<(), NotLiteral> {
        let mut chars = self.rest().char_indices();
        let Some((_, quote)) = chars.next() else {
            return self.fail("a string is missing");
        };
        while let Some((offset, c)) = chars.next() {
            if c == quote {
                self.at += offset + 1;
                return Ok(());
            }
            if bytes && !c.is_ascii() {
                self.at += offset;
                return self.fail("bytes hold ASCII only");
            }
            if c != '\\' {
                push(c as u32);
                continue;
            }
            let Some((_, escaped)) = chars.next() else {
                break;
            };
            let digits = match escaped {
                'x' => 2,
                'u' if !bytes => 4,
                'U' if !bytes => 8,
                _ => 0,
            };
            if digits > 0 {
                let mut code = 0;
                for _ in 0..digits {
                    let Some(digit) = chars.next().and_then(|(_, c)| c.to_digit(16)) else {
                        self.at += offset;
                        return self.fail("an escape is not complete");
                    };
                    code = code << 4 | digit;
                }
                push(code);
                continue;
            }
            match escaped {
                'n' => push(10),
                'r' => push(13),
                't' => push(9),
                '0' => push(0),
                'a' => push(7),
                'b' => push(8),
                'f' => push(12),
                'v' => push(11),
                '\\' | '\'' | '"' => push(escaped as u32),
                other => {
                    push('\\' as u32);
                    push(other as u32);
                }
            }
        }
        self.fail("the string has no end")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_writes_reads_back() {
        for text in [
            "None",
            "True",
            "-17",
            "123456789012345678901234567890",
            "0.1",
            "1e+16",
            "1e-05",
            "-0.0",
            "3j",
            "(1+2j)",
            "(-0.5-1j)",
            "'it\\'s \"x\"'",
            "\"it's\"",
            "'\\x00\\n\\t\\\\'",
            "b'a\\xff'",
            "bytearray(b'x')",
            "[]",
            "[1, [2, 3]]",
            "()",
            "(1,)",
            "(1, 2)",
            "{}",
            "{'a': 1, 2: [3]}",
            "{1, 2}",
            "set()",
            "frozenset()",
            "frozenset({1})",
            "range(0, 3)",
            "range(3, 0, -1)",
            "'é😀'",
            "Ellipsis",
            "1.5e+300",
            "100000.0",
        ] {
            let value = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(value.to_string(), text);
        }
    }

    #[test]
    fn what_is_not_seen_is_escaped_and_reads_back() {
        for (text, written) in [
            ("'a\u{202e}b'", r"'a\u202eb'"),
            ("'\u{feff}'", r"'\ufeff'"),
            ("'\u{2028}\u{a0}\u{3000}'", r"'\u2028\xa0\u3000'"),
            ("'\u{e000}\u{378}'", r"'\ue000\u0378'"),
            ("'\u{e0001}\u{10ffff}'", r"'\U000e0001\U0010ffff'"),
            ("'\u{7f}\u{85}\u{ad}'", r"'\x7f\x85\xad'"),
            ("'e\u{301} é 日 😀 ñ'", "'e\u{301} é 日 😀 ñ'"),
        ] {
            let value = parse(text).unwrap();
            assert_eq!(value.to_string(), written);
            assert_eq!(parse(written).unwrap(), value);
        }
    }

    #[test]
    fn other_spellings_are_read_too() {
        for (text, written) in [
            ("[1,2,]", "[1, 2]"),
            (" ( 3 ) ", "3"),
            ("float('inf')", "inf"),
            ("range(4)", "range(0, 4)"),
            ("\"a\"", "'a'"),
            ("+5", "5"),
            (".5", "0.5"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), written, "{text}");
        }
    }

    #[test]
    fn what_is_no_literal_is_refused() {
        for text in [
            "",
            "x",
            "<A x=1>",
            "[1",
            "[1 2]",
            "{1: }",
            "'a",
            "1 2",
            "f(1)",
            "[1, …+3, 5]",
            "1x",
            "{1, 2: 3}",
            "-",
            "'\\x1'",
            "range()",
            "range(1, 2, 3, 4)",
            "range(1, 2, 0)",
            "--1",
        ] {
            assert!(parse(text).is_err(), "{text} was read as {:?}", parse(text));
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
