//! Byte-range edits against known file contents.

use std::ops::Range;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::SourceFile;

/// Replaces a range of a file's decoded text; an empty range inserts.
///
/// Offsets are bytes of [`SourceFile::text`] (UTF-8), half open. `text` must use the line endings
/// that the file uses; [`apply_edits`] takes it as it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Edit {
    /// File, relative to the project root.
    pub file: Utf8PathBuf,
    /// First byte replaced.
    pub start: usize,
    /// One past the last byte replaced.
    pub end: usize,
    /// What stands there afterwards.
    pub text: String,
}

impl Edit {
    /// An edit of `file` that replaces `range` by `text`.
    pub fn replace(
        file: impl Into<Utf8PathBuf>,
        range: Range<usize>,
        text: impl Into<String>,
    ) -> Self {
        Self {
            file: file.into(),
            start: range.start,
            end: range.end,
            text: text.into(),
        }
    }
}

/// Why edits cannot be applied.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum EditError {
    /// The range is reversed, past the end, or cuts a character.
    #[error("edit {start}..{end} lies outside {file} or cuts a character")]
    OutOfRange {
        /// File of the edit.
        file: Utf8PathBuf,
        /// First byte.
        start: usize,
        /// One past the last byte.
        end: usize,
    },
    /// Two edits overlap, or two insertions stand at the same place.
    #[error("edits of {file} overlap at offset {offset}")]
    Overlap {
        /// File of the edits.
        file: Utf8PathBuf,
        /// Where the second one starts.
        offset: usize,
    },
    /// The new text has characters that the file's encoding lacks.
    #[error("{file}: the new text cannot be written in the file's encoding")]
    Unencodable {
        /// File of the edit.
        file: Utf8PathBuf,
    },
}

/// The bytes of `file` after `edits`; edits of other files are ignored. Everything outside the
/// edited ranges is copied byte for byte.
pub fn apply_edits(file: &SourceFile, edits: &[Edit]) -> Result<Vec<u8>, EditError> {
    let mut own: Vec<&Edit> = edits.iter().filter(|e| e.file == file.path()).collect();
    own.sort_by_key(|e| (e.start, e.end));
    let bytes = file.bytes();
    let mut out = Vec::with_capacity(bytes.len() + 64);
    let (mut copied, mut text_end) = (0, 0);
    let mut last_insert = None;
    for edit in own {
        let text = file.text();
        if edit.start > edit.end
            || edit.end > text.len()
            || !text.is_char_boundary(edit.start)
            || !text.is_char_boundary(edit.end)
        {
            return Err(EditError::OutOfRange {
                file: edit.file.clone(),
                start: edit.start,
                end: edit.end,
            });
        }
        if edit.start < text_end || last_insert == Some(edit.start) {
            return Err(EditError::Overlap {
                file: edit.file.clone(),
                offset: edit.start,
            });
        }
        let new = file
            .encode(&edit.text)
            .ok_or_else(|| EditError::Unencodable {
                file: edit.file.clone(),
            })?;
        out.extend_from_slice(&bytes[copied..file.byte_offset(edit.start)]);
        out.extend_from_slice(&new);
        copied = file.byte_offset(edit.end);
        text_end = edit.end;
        last_insert = (edit.start == edit.end).then_some(edit.start);
    }
    out.extend_from_slice(&bytes[copied..]);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: usize, end: usize, text: &str) -> Edit {
        Edit::replace("a.py", start..end, text)
    }

    #[test]
    fn bytes_outside_an_edit_survive() {
        let source = b"\xef\xbb\xbfx = 1\r\n\x0cy = 2\rz = 3";
        let file = SourceFile::decode("a.py", &source[..]).unwrap();
        let at = file.text().find('2').unwrap();
        let out = apply_edits(&file, &[edit(at, at + 1, "22")]).unwrap();
        assert_eq!(out, b"\xef\xbb\xbfx = 1\r\n\x0cy = 22\rz = 3");
    }

    #[test]
    fn edits_of_one_file_apply_together_in_any_order() {
        let file = SourceFile::decode("a.py", &b"abcdef"[..]).unwrap();
        let out = apply_edits(&file, &[edit(4, 5, "E"), edit(0, 1, "A"), edit(2, 2, "-")]).unwrap();
        assert_eq!(out, b"Ab-cdEf");
    }

    #[test]
    fn overlapping_or_outlying_edits_are_refused() {
        let file = SourceFile::decode("a.py", "aé".as_bytes()).unwrap();
        assert!(apply_edits(&file, &[edit(0, 3, ""), edit(1, 3, "")]).is_err());
        assert!(apply_edits(&file, &[edit(1, 1, "x"), edit(1, 1, "y")]).is_err());
        assert!(apply_edits(&file, &[edit(2, 3, "")]).is_err());
        assert!(apply_edits(&file, &[edit(0, 9, "")]).is_err());
    }
}
