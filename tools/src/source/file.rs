//! A Python source file: the bytes on disk, the text they decode to, and a way between the two.
//!
//! Syntax trees and edits work on the decoded text. Bytes outside an edit are never re-encoded, so
//! that line endings, byte order marks, odd encodings and stray control characters survive.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

/// How the bytes of a source file become text (PEP 263).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark; the mark is not part of the text.
    Utf8,
    /// ISO 8859-1: every byte is the code point of the same number.
    Latin1,
    /// Any other encoding that a cookie can name.
    Other(&'static encoding_rs::Encoding),
}

/// Why a file cannot be treated as Python source.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The cookie on line one or two names an encoding that is not supported.
    #[error("{path}: unknown source encoding `{name}` in the coding cookie")]
    UnknownEncoding {
        /// File, relative to the project.
        path: Utf8PathBuf,
        /// The name as written.
        name: String,
    },
    /// The bytes are not valid in the declared encoding.
    #[error("{path}: bytes at offset {offset} are not valid {encoding}")]
    Undecodable {
        /// File, relative to the project.
        path: Utf8PathBuf,
        /// Byte offset of the first bad sequence where it is known, else 0.
        offset: usize,
        /// Name of the encoding.
        encoding: String,
    },
}

/// A decoded source file. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SourceFile {
    path: Utf8PathBuf,
    bytes: Arc<[u8]>,
    text: Arc<str>,
    encoding: Encoding,
    bom: bool,
    lines: Arc<[usize]>,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

impl SourceFile {
    /// Decodes `bytes` as the file `path` (relative to the project root).
    pub fn decode(
        path: impl Into<Utf8PathBuf>,
        bytes: impl Into<Arc<[u8]>>,
    ) -> Result<Self, SourceError> {
        let (path, bytes) = (path.into(), bytes.into());
        let bom = bytes.starts_with(BOM);
        let body = if bom { &bytes[BOM.len()..] } else { &bytes[..] };
        let encoding = detect_encoding(&path, body, bom)?;
        let undecodable = |offset: usize, name: &str| SourceError::Undecodable {
            path: path.clone(),
            offset,
            encoding: name.to_owned(),
        };
        let text: String = match encoding {
            Encoding::Utf8 => std::str::from_utf8(body)
                .map_err(|e| {
                    undecodable(e.valid_up_to() + if bom { BOM.len() } else { 0 }, "UTF-8")
                })?
                .to_owned(),
            Encoding::Latin1 => body.iter().map(|&b| char::from(b)).collect(),
            Encoding::Other(codec) => {
                let text = codec
                    .decode_without_bom_handling_and_without_replacement(body)
                    .ok_or_else(|| undecodable(0, codec.name()))?
                    .into_owned();
                // Offsets are mapped by encoding prefixes, which needs a lossless round trip.
                if codec.encode(&text).0.as_ref() != body {
                    return Err(undecodable(0, codec.name()));
                }
                text
            }
        };
        let lines = line_starts(&text);
        Ok(Self {
            path,
            bytes,
            text: text.into(),
            encoding,
            bom,
            lines: lines.into(),
        })
    }

    /// Path relative to the project root.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The bytes as they are on disk.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// The decoded text, without a byte order mark. All edit offsets refer to this text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The encoding found.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Number of lines as Python counts them.
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// One-based line of a text offset, counted as Python's tokenizer does: `\n`, `\r\n` and a lone
    /// `\r` each end a line.
    pub fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|&start| start <= offset).max(1)
    }

    /// Text offset at which the one-based `line` starts, or the length of the text when past the end.
    pub fn line_start(&self, line: usize) -> usize {
        self.lines
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(self.text.len())
    }

    /// The text of the one-based `line` without its line ending.
    pub fn line_text(&self, line: usize) -> &str {
        let start = self.line_start(line);
        self.text[start..self.line_start(line + 1)].trim_end_matches(['\r', '\n'])
    }

    /// Offset in [`Self::bytes`] of an offset in [`Self::text`].
    pub fn byte_offset(&self, text_offset: usize) -> usize {
        let head = if self.bom { BOM.len() } else { 0 };
        head + match self.encoding {
            Encoding::Utf8 => text_offset,
            Encoding::Latin1 => self.text[..text_offset].chars().count(),
            Encoding::Other(codec) => codec.encode(&self.text[..text_offset]).0.len(),
        }
    }

    /// Encodes `text` in the file's encoding; `None` when it has characters the encoding lacks.
    pub fn encode(&self, text: &str) -> Option<Vec<u8>> {
        match self.encoding {
            Encoding::Utf8 => Some(text.as_bytes().to_vec()),
            Encoding::Latin1 => text
                .chars()
                .map(|c| u8::try_from(u32::from(c)).ok())
                .collect(),
            Encoding::Other(codec) => {
                let (bytes, _, unmappable) = codec.encode(text);
                (!unmappable).then(|| bytes.into_owned())
            }
        }
    }

    /// The line ending that the file uses most, `"\n"` for a file without any.
    pub fn line_ending(&self) -> &'static str {
        let crlf = self.text.matches("\r\n").count();
        let lf = self.text.matches('\n').count() - crlf;
        let cr = self.text.matches('\r').count() - crlf;
        if crlf > lf && crlf >= cr {
            "\r\n"
        } else if cr > lf {
            "\r"
        } else {
            "\n"
        }
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for (i, &b) in bytes.iter().enumerate() {
        let ends = b == b'\n' || (b == b'\r' && bytes.get(i + 1) != Some(&b'\n'));
        if ends && i + 1 < bytes.len() {
            starts.push(i + 1);
        }
    }
    starts
}

fn detect_encoding(path: &Utf8Path, body: &[u8], bom: bool) -> Result<Encoding, SourceError> {
    let Some(name) = cookie(body) else {
        return Ok(Encoding::Utf8);
    };
    let normal = name.to_ascii_lowercase().replace('_', "-");
    match normal.as_str() {
        "utf-8" | "utf8" | "ascii" | "us-ascii" | "utf-8-sig" | "utf8-sig" => Ok(Encoding::Utf8),
        "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" | "l1" if !bom => Ok(Encoding::Latin1),
        _ => encoding_rs::Encoding::for_label(normal.as_bytes())
            .filter(|codec| !bom && codec.is_ascii_compatible())
            .map(Encoding::Other)
            .ok_or(SourceError::UnknownEncoding {
                path: path.to_owned(),
                name,
            }),
    }
}

/// The coding cookie of PEP 263: a comment on the first or second line, the second only when the
/// first is blank or a comment.
fn cookie(body: &[u8]) -> Option<String> {
    for line in body.split(|&b| b == b'\n').take(2) {
        let line = String::from_utf8_lossy(&line[..line.len().min(400)]);
        let trimmed = line.trim_start_matches([' ', '\t', '\x0c']).trim_end();
        if let Some(comment) = trimmed.strip_prefix('#') {
            if let Some(at) = comment.find("coding") {
                let rest = &comment[at + "coding".len()..];
                if let Some(rest) = rest.strip_prefix([':', '=']) {
                    let name: String = rest
                        .trim_start_matches([' ', '\t'])
                        .chars()
                        .take_while(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
                        .collect();
                    if !name.is_empty() {
                        return Some(name);
                    }
                }
            }
        } else if !trimmed.is_empty() {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_python_counts_them() {
        let file = SourceFile::decode("a.py", &b"a = 1\r\nb = 2\rc = 3\n\x0cd = 4\n"[..]).unwrap();
        assert_eq!(file.line_count(), 4);
        assert_eq!(file.line_text(3), "c = 3");
        assert_eq!(file.line_of(file.text().find("d =").unwrap()), 4);
    }

    #[test]
    fn a_cookie_decides_and_offsets_map_back_to_bytes() {
        let bytes = b"# -*- coding: latin-1 -*-\nname = '\xe9t\xe9'\nx = 1\n";
        let file = SourceFile::decode("a.py", &bytes[..]).unwrap();
        assert_eq!(file.encoding(), Encoding::Latin1);
        let offset = file.text().find("x = 1").unwrap();
        assert_eq!(&bytes[file.byte_offset(offset)..], b"x = 1\n");
        assert_eq!(file.encode("é").unwrap(), b"\xe9");
        assert!(file.encode("€").is_none());
    }

    #[test]
    fn a_multibyte_encoding_maps_by_prefix() {
        let (sjis, _, _) =
            encoding_rs::SHIFT_JIS.encode("# coding: shift_jis\ns = '日本'\nx = 1\n");
        let file = SourceFile::decode("a.py", sjis.to_vec()).unwrap();
        let offset = file.text().find("x = 1").unwrap();
        assert_eq!(&sjis[file.byte_offset(offset)..], b"x = 1\n");
    }

    #[test]
    fn bad_bytes_are_named_with_their_offset() {
        let error = SourceFile::decode("a.py", &b"x = '\xff'\n"[..]).unwrap_err();
        assert!(error.to_string().contains("offset 5"), "{error}");
        let error = SourceFile::decode("a.py", &b"# coding: klingon\n"[..]).unwrap_err();
        assert!(error.to_string().contains("klingon"), "{error}");
    }
}
