//! Names made from contents.

use sha2::{Digest as _, Sha256};

/// The first 16 hex digits of the hash of `parts`; where one part ends and the next begins counts.
pub fn hex(parts: &[&str]) -> String {
    hex_of(parts.iter().map(|part| part.as_bytes()))
}

/// The same of bytes.
pub fn hex_of<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut out = String::new();
    for byte in hash.finalize().iter().take(8) {
        use std::fmt::Write as _;
        let _ = write!(out, "{byte:02x}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn parts_are_told_apart() {
        assert_eq!(hex(&["a", "b"]), hex(&["a", "b"]));
        assert_ne!(hex(&["a", "b"]), hex(&["ab", ""]));
        assert_eq!(hex(&[]).len(), 16);
    }
}
