//! Streams of events: server-sent events, and JSON a line, which the same rules read.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// The data, lines joined by newlines.
    pub data: String,
}

/// Cuts bytes as they come into events. A line that begins with a brace is an event of its own: that
/// is how Ollama streams, and how some servers report an error in the middle of a stream.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    bytes: Vec<u8>,
    data: Option<String>,
}

impl Decoder {
    /// Takes more bytes and gives the events that are complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.bytes.extend_from_slice(bytes);
        let Some(end) = self.bytes.iter().rposition(|&byte| byte == b'\n') else {
            return Vec::new();
        };
        // A line break is never part of another character, so whole lines are whole text.
        let lines: Vec<u8> = self.bytes.drain(..=end).collect();
        let text = String::from_utf8_lossy(&lines);
        text.lines().filter_map(|line| self.line(line)).collect()
    }

    /// The last event, whose end the stream's end stands for.
    pub fn finish(&mut self) -> Vec<Event> {
        let rest = std::mem::take(&mut self.bytes);
        let text = String::from_utf8_lossy(&rest).into_owned();
        let mut events: Vec<Event> = text.lines().filter_map(|line| self.line(line)).collect();
        events.extend(self.data.take().map(|data| Event { data }));
        events
    }

    fn line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            return self.data.take().map(|data| Event { data });
        }
        if line.starts_with('{') {
            return Some(Event {
                data: line.to_owned(),
            });
        }
        if let Some(value) = line.strip_prefix("data:") {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        // Names of events repeat what the data says, and comments only keep the connection open.
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        for piece in pieces {
            events.extend(decoder.push(piece));
        }
        events.extend(decoder.finish());
        events.into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        let text = ": hello\r\nevent: a\ndata: {\"t\":\"é\"}\n\ndata:one\ndata: two\r\n\r\n{\"x\":1}\ndata: end";
        let whole = all(&[text.as_bytes()]);
        assert_eq!(whole, ["{\"t\":\"é\"}", "one\ntwo", "{\"x\":1}", "end"]);
        for size in 1..text.len() {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            assert_eq!(all(&pieces), whole, "pieces of {size}");
        }
    }

    #[test]
    fn comments_and_blank_lines_are_no_events() {
        assert!(all(&[b": ping\n\n\n\nevent: x\n\n"]).is_empty());
    }
}
