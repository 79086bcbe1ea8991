//! The texts of a JSON schema, as an automaton over bytes.
//!
//! It knows what answers are made of: objects whose properties all come, in the order in which they are required,
//! strings, whole numbers without a sign, arrays. There is one spelling: a blank after `:` and `,`, and no other one.
//! So the names of properties are never up to a model, and most of the text needs none.

use serde_json::Value as Json;

/// Digits of a number: any fits into 32 bits.
const DIGITS: u8 = 9;

/// A schema that can be held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grammar(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// These bytes.
    Literal(Vec<u8>),
    /// The inside of a string with the quote that ends it.
    Text,
    /// Digits.
    Whole,
    /// Items with commas between them, and the bracket that ends them.
    Items(Vec<Part>),
}

impl Grammar {
    /// The grammar of a schema; none for one that says more than this knows.
    pub fn new(schema: &Json) -> Option<Self> {
        let mut parts = Vec::new();
        compile(schema, &mut parts)?;
        Some(Self(parts))
    }

    /// Where a text begins.
    pub fn begin(&self) -> Place<'_> {
        Place {
            frames: vec![Frame {
                parts: &self.0,
                at: 0,
                within: Within::begin(self.0.first()),
            }],
        }
    }
}

fn compile(schema: &Json, parts: &mut Vec<Part>) -> Option<()> {
    match schema.get("type")?.as_str()? {
        "string" if only(schema, &[]) => {
            literal(parts, "\"");
            parts.push(Part::Text);
        }
        "integer" if only(schema, &[]) => parts.push(Part::Whole),
        "array" if only(schema, &["items"]) => {
            let mut item = Vec::new();
            compile(schema.get("items")?, &mut item)?;
            literal(parts, "[");
            parts.push(Part::Items(item));
        }
        "object" if only(schema, &["properties", "required", "additionalProperties"]) => {
            let properties = schema.get("properties")?.as_object()?;
            let required = schema.get("required")?.as_array()?;
            if required.len() != properties.len() {
                return None;
            }
            literal(parts, "{");
            for (number, name) in required.iter().enumerate() {
                let between = if number > 0 { ", " } else { "" };
                literal(parts, &format!("{between}{name}: "));
                compile(properties.get(name.as_str()?)?, parts)?;
            }
            literal(parts, "}");
        }
        _ => return None,
    }
    Some(())
}

/// Whether a schema says nothing but its type and these.
fn only(schema: &Json, known: &[&str]) -> bool {
    let words = ["type", "description", "title"];
    schema.as_object().is_some_and(|object| {
        let mut keys = object.keys().map(String::as_str);
        keys.all(|key| words.contains(&key) || known.contains(&key))
    })
}

fn literal(parts: &mut Vec<Part>, text: &str) {
    if let Some(Part::Literal(bytes)) = parts.last_mut() {
        bytes.extend_from_slice(text.as_bytes());
    } else {
        parts.push(Part::Literal(text.as_bytes().to_vec()));
    }
}

/// A place in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place<'g> {
    /// Outermost first; none when the text is complete.
    frames: Vec<Frame<'g>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Frame<'g> {
    parts: &'g [Part],
    at: usize,
    within: Within,
}

/// Where in a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    /// Bytes of a literal that are there.
    Literal(usize),
    /// In a string.
    Plain,
    /// After a backslash.
    Escape,
    /// So many hexadecimal digits are to come; after a first `d` the next one makes no surrogate.
    Hex(u8, bool),
    /// So many bytes of a character are to come, the next one within bounds.
    Character(u8, u8, u8),
    /// Digits that are there, and whether a first 0 ends the number.
    Digits(u8, bool),
    /// After the bracket that begins items.
    Opened,
    /// After an item.
    Between,
    /// After a comma.
    Comma,
}

/// What a byte does within a part.
enum Step {
    Stays(Within),
    /// The part ends with it.
    Ends,
    /// The part ended before it.
    Ended,
    /// It begins an item.
    Item,
    Refused,
}

impl Within {
    fn begin(part: Option<&Part>) -> Self {
        match part {
            Some(Part::Literal(_)) | None => Self::Literal(0),
            Some(Part::Text) => Self::Plain,
            Some(Part::Whole) => Self::Digits(0, false),
            Some(Part::Items(_)) => Self::Opened,
        }
    }

    fn step(self, part: &Part, byte: u8) -> Step {
        match (self, part, byte) {
            (Self::Literal(there), Part::Literal(bytes), _) => match bytes.get(there) {
                Some(&wanted) if wanted == byte && there + 1 == bytes.len() => Step::Ends,
                Some(&wanted) if wanted == byte => Step::Stays(Self::Literal(there + 1)),
                _ => Step::Refused,
            },
            (Self::Plain, _, b'"') => Step::Ends,
            (Self::Plain, _, b'\\') => Step::Stays(Self::Escape),
            (Self::Plain, _, 0x20..=0x7f) => Step::Stays(Self::Plain),
            // Well-formed UTF-8: table 3-7 of the Unicode standard.
            (Self::Plain, _, 0xc2..=0xdf) => Step::Stays(Self::Character(1, 0x80, 0xbf)),
            (Self::Plain, _, 0xe0) => Step::Stays(Self::Character(2, 0xa0, 0xbf)),
            (Self::Plain, _, 0xed) => Step::Stays(Self::Character(2, 0x80, 0x9f)),
            (Self::Plain, _, 0xe1..=0xef) => Step::Stays(Self::Character(2, 0x80, 0xbf)),
            (Self::Plain, _, 0xf0) => Step::Stays(Self::Character(3, 0x90, 0xbf)),
            (Self::Plain, _, 0xf4) => Step::Stays(Self::Character(3, 0x80, 0x8f)),
            (Self::Plain, _, 0xf1..=0xf3) => Step::Stays(Self::Character(3, 0x80, 0xbf)),
            (Self::Character(1, low, high), ..) if (low..=high).contains(&byte) => {
                Step::Stays(Self::Plain)
            }
            (Self::Character(more, low, high), ..) if (low..=high).contains(&byte) => {
                Step::Stays(Self::Character(more - 1, 0x80, 0xbf))
            }
            (Self::Escape, _, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                Step::Stays(Self::Plain)
            }
            (Self::Escape, _, b'u') => Step::Stays(Self::Hex(4, false)),
            // D800 to DFFF are halves of characters: those have to be written as they are.
            (Self::Hex(_, true), _, b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => Step::Refused,
            (Self::Hex(1, _), ..) if byte.is_ascii_hexdigit() => Step::Stays(Self::Plain),
            (Self::Hex(more, _), ..) if byte.is_ascii_hexdigit() => {
                let half = more == 4 && matches!(byte, b'd' | b'D');
                Step::Stays(Self::Hex(more - 1, half))
            }
            (Self::Digits(0, _), _, b'0') => Step::Stays(Self::Digits(1, true)),
            (Self::Digits(there, false), _, b'0'..=b'9') if there < DIGITS => {
                Step::Stays(Self::Digits(there + 1, false))
            }
            (Self::Digits(1.., _), ..) if !byte.is_ascii_digit() => Step::Ended,
            (Self::Opened | Self::Between, _, b']') => Step::Ends,
            (Self::Between, _, b',') => Step::Stays(Self::Comma),
            (Self::Comma, _, b' ') => Step::Item,
            (Self::Opened, ..) => Step::Item,
            _ => Step::Refused,
        }
    }

    /// Bytes that this part needs at least.
    fn least(self, part: &Part) -> usize {
        match (self, part) {
            (Self::Literal(there), Part::Literal(bytes)) => bytes.len() - there,
            (Self::Escape, _) => 2,
            (Self::Hex(more, _) | Self::Character(more, ..), _) => usize::from(more) + 1,
            (Self::Digits(1.., _), _) => 0,
            (Self::Comma, Part::Items(item)) => 2 + least(item),
            _ => 1,
        }
    }
}

/// Bytes that parts need at least.
fn least(parts: &[Part]) -> usize {
    let each = parts
        .iter()
        .map(|part| Within::begin(Some(part)).least(part));
    each.sum()
}

impl Place<'_> {
    /// Whether the text is complete.
    pub fn is_complete(&self) -> bool {
        self.frames.is_empty()
    }

    /// The place after these bytes; none if they are not allowed.
    pub fn after(&self, bytes: &[u8]) -> Option<Self> {
        let mut place = self.clone();
        bytes.iter().all(|&byte| place.step(byte)).then_some(place)
    }

    fn step(&mut self, byte: u8) -> bool {
        loop {
            let Some(frame) = self.frames.last_mut() else {
                return false;
            };
            let part = &frame.parts[frame.at];
            match frame.within.step(part, byte) {
                Step::Stays(within) => {
                    frame.within = within;
                    return true;
                }
                Step::Ends => {
                    self.advance();
                    return true;
                }
                Step::Ended => self.advance(),
                Step::Item => {
                    let Part::Items(item) = part else {
                        return false;
                    };
                    let is_blank = frame.within == Within::Comma;
                    frame.within = Within::Between;
                    self.frames.push(Frame {
                        parts: item,
                        at: 0,
                        within: Within::begin(item.first()),
                    });
                    if is_blank {
                        return true;
                    }
                }
                Step::Refused => return false,
            }
        }
    }

    /// To the next part, out of frames that have none.
    fn advance(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at += 1;
            frame.within = Within::begin(frame.parts.get(frame.at));
            if frame.at == frame.parts.len() {
                self.frames.pop();
            }
        }
    }

    /// The bytes that must come next, whatever is said.
    pub fn forced(&self) -> Vec<u8> {
        let mut place = self.clone();
        let mut bytes = Vec::new();
        while let Some(byte) = place.only() {
            bytes.push(byte);
            place.step(byte);
        }
        bytes
    }

    fn only(&self) -> Option<u8> {
        let frame = self.frames.last()?;
        match (frame.within, frame.parts.get(frame.at)?) {
            (Within::Literal(there), Part::Literal(bytes)) => bytes.get(there).copied(),
            (Within::Comma, _) => Some(b' '),
            _ => None,
        }
    }

    /// Bytes with which the text can be completed at the soonest.
    pub fn least(&self) -> usize {
        let each = self.frames.iter().map(|frame| {
            let rest = least(frame.parts.get(frame.at + 1..).unwrap_or_default());
            let part = frame.parts.get(frame.at);
            part.map_or(0, |part| frame.within.least(part)) + rest
        });
        each.sum()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn grammar() -> Grammar {
        let edit = json!({"type": "object", "properties": {"old": {"type": "string"}, "new": {"type": "string"}},
            "required": ["old", "new"], "additionalProperties": false});
        let schema = json!({"type": "object", "properties":
            {"claim": {"type": "string"}, "line": {"type": "integer"},
             "edits": {"type": "array", "items": edit}},
            "required": ["line", "claim", "edits"], "additionalProperties": false});
        Grammar::new(&schema).unwrap()
    }

    fn takes(text: &str) -> bool {
        let grammar = grammar();
        let place = grammar.begin().after(text.as_bytes());
        place.is_some_and(|place| place.is_complete())
    }

    #[test]
    fn texts_of_the_schema_are_taken_and_no_others() {
        for text in [
            r#"{"line": 0, "claim": "", "edits": []}"#,
            r#"{"line": 120, "claim": "a \"b\" \u00e9 é 𝄞 \\", "edits": []}"#,
            r#"{"line": 7, "claim": "x", "edits": [{"old": "a\n", "new": "b"}, {"old": "", "new": ""}]}"#,
        ] {
            assert!(takes(text), "{text}");
            serde_json::from_str::<Json>(text).unwrap();
        }
        for text in [
            r#"{"line": -1, "claim": "", "edits": []}"#,
            r#"{"line": 01, "claim": "", "edits": []}"#,
            r#"{"line": 1.5, "claim": "", "edits": []}"#,
            r#"{"line": 1234567890, "claim": "", "edits": []}"#,
            r#"{"line": 1,"claim": "", "edits": []}"#,
            r#"{"claim": "", "line": 1, "edits": []}"#,
            r#"{"line": 1, "claim": "\x", "edits": []}"#,
            r#"{"line": 1, "claim": "\ud83d", "edits": []}"#,
            "{\"line\": 1, \"claim\": \"\n\", \"edits\": []}",
            r#"{"line": 1, "claim": "", "edits": [,]}"#,
            r#"{"line": 1, "claim": "", "edits": [{"old": "", "new": ""},]}"#,
            r#"{"line": 1, "claim": "", "edits": []} "#,
            r#"{"line": 1, "claim": "", "edits": []"#,
        ] {
            assert!(!takes(text), "{text}");
        }
    }

    #[test]
    fn strings_are_well_formed_utf_8() {
        let grammar = grammar();
        let place = grammar.begin().after(br#"{"line": 1, "claim": ""#).unwrap();
        for bytes in [
            &b"\xff"[..],
            b"\xc0\x80",
            b"\xed\xa0\x80",
            b"\xf5",
            b"\xe2\x82\"",
        ] {
            assert!(place.after(bytes).is_none(), "{bytes:?}");
        }
        assert!(place.after("€\"".as_bytes()).is_some());
        // Half a character may be followed by its other half.
        assert!(place.after(b"\xe2\x82").unwrap().after(b"\xac").is_some());
    }

    #[test]
    fn what_must_come_is_known_and_the_shortest_end_is_counted() {
        let grammar = grammar();
        let begin = grammar.begin();
        assert_eq!(begin.forced(), br#"{"line": "#);
        assert_eq!(
            begin.least(),
            r#"{"line": 0, "claim": "", "edits": []}"#.len()
        );
        let place = begin.after(br#"{"line": 3"#).unwrap();
        assert_eq!(place.forced(), b"", "another digit may come");
        let place = begin.after(br#"{"line": 3,"#).unwrap();
        assert_eq!(place.forced(), br#" "claim": ""#);
        let place = begin
            .after(br#"{"line": 3, "claim": "", "edits": [{"old": "\u0"#)
            .unwrap();
        assert_eq!(place.least(), r#"000", "new": ""}]}"#.len());
        let place = begin
            .after(br#"{"line": 3, "claim": "", "edits": [{"old": "", "new": ""},"#)
            .unwrap();
        assert_eq!(place.forced(), br#" {"old": ""#);
        assert_eq!(place.least(), r#" {"old": "", "new": ""}]}"#.len());
        let end = begin
            .after(br#"{"line": 3, "claim": "", "edits": []}"#)
            .unwrap();
        assert_eq!((end.least(), end.forced()), (0, Vec::new()));
    }

    #[test]
    fn every_text_can_be_completed_in_as_many_bytes_as_were_said() {
        let grammar = grammar();
        let mut place = grammar.begin();
        let mut text = Vec::new();
        // The first byte that brings the end nearer, after a beginning of any kind.
        for byte in br#"{"line": 4, "claim": "ab"#.iter().copied() {
            place = place.after(&[byte]).unwrap();
            text.push(byte);
        }
        while !place.is_complete() {
            let (byte, next) = (0..=255u8)
                .filter_map(|byte| Some((byte, place.after(&[byte])?)))
                .find(|(_, next)| next.least() < place.least())
                .unwrap();
            assert_eq!(next.least() + 1, place.least());
            text.push(byte);
            place = next;
        }
        serde_json::from_slice::<Json>(&text).unwrap();
    }

    #[test]
    fn the_schema_of_answers_is_held_to_and_others_are_not() {
        assert!(Grammar::new(&crate::plan::llm::schema().schema).is_some());
        for schema in [
            json!({"type": "number"}),
            json!({"type": "string", "pattern": "a"}),
            json!({"anyOf": []}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": []}),
        ] {
            assert_eq!(Grammar::new(&schema), None, "{schema}");
        }
    }
}
