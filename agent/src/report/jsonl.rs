//! Events as JSON, one a line: the stable form for programs, and the recording of a run.

use std::io::{self, Write};

use camino::Utf8Path;

use crate::report::ReportError;
use crate::report::event::{Event, FORMAT, Stamped};

/// An event as a line, with its line feed.
pub fn line(stamped: &Stamped) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(stamped)?;
    line.push(b'\n');
    Ok(line)
}

/// Where lines go. Each is handed to the system at once, so that the file of a killed run is
/// readable up to its last event.
pub struct Sink {
    out: Box<dyn Write + Send>,
    /// Whether the last line was cut short by an error.
    torn: bool,
}

impl Sink {
    /// A sink on an unbuffered or line-buffered writer.
    pub fn new(out: Box<dyn Write + Send>) -> Self {
        Self { out, torn: false }
    }

    /// Writes a line. After an error the next one starts afresh, so that at most one is unreadable.
    pub fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if self.torn {
            self.out.write_all(b"\n")?;
            self.torn = false;
        }
        let written = self.out.write_all(line).and_then(|()| self.out.flush());
        self.torn = written.is_err();
        written
    }
}

/// The events of a file.
#[derive(Debug, Default)]
pub struct Recording {
    /// Events, in order.
    pub events: Vec<Stamped>,
    /// Lines that are no event: cut short by a kill or a full disk.
    pub unreadable: usize,
}

/// Reads the recording of a run, however it ended.
pub fn read_events(path: &Utf8Path) -> Result<Recording, ReportError> {
    let bytes = fs_err(path, std::fs::read(path))?;
    let mut recording = Recording::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        // Half a line may end inside a character, so lines are bytes until they parse.
        match serde_json::from_slice::<Stamped>(line) {
            Ok(stamped) => {
                if let Event::RunStarted { format, .. } = stamped.event
                    && format > FORMAT
                {
                    return Err(ReportError::TooNew {
                        path: path.to_owned(),
                        format,
                    });
                }
                recording.events.push(stamped);
            }
            Err(_) => recording.unreadable += 1,
        }
    }
    Ok(recording)
}

fn fs_err<T>(path: &Utf8Path, result: io::Result<T>) -> Result<T, ReportError> {
    result.map_err(|source| ReportError::Read {
        path: path.to_owned(),
        source,
    })
}
