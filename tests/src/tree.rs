//! Snapshots of a user's tree, to show that a run changed nothing in it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};

/// A file of a tree.
#[derive(Clone, PartialEq, Eq)]
pub enum Entry {
    /// Mode bits and contents.
    File(u32, Vec<u8>),
    /// Where a link points.
    Link(String),
    /// Mode bits.
    Folder(u32),
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(mode, bytes) => {
                write!(f, "{mode:o} {:?}", String::from_utf8_lossy(bytes))
            }
            Self::Link(to) => write!(f, "-> {to}"),
            Self::Folder(mode) => write!(f, "folder {mode:o}"),
        }
    }
}

/// Everything below a folder but the inside of `.git`, by relative path.
pub type Tree = BTreeMap<Utf8PathBuf, Entry>;

/// Reads a tree.
pub fn read(top: &Utf8Path) -> Tree {
    let mut tree = Tree::new();
    add(top, top, &mut tree);
    tree
}

fn add(top: &Utf8Path, folder: &Utf8Path, tree: &mut Tree) {
    for entry in folder.read_dir_utf8().unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        let relative = path.strip_prefix(top).unwrap().to_owned();
        let kind = entry.file_type().unwrap();
        let mode = || fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        if kind.is_symlink() {
            let to = fs::read_link(path).unwrap();
            tree.insert(relative, Entry::Link(to.to_string_lossy().into_owned()));
        } else if kind.is_dir() {
            if entry.file_name() != ".git" {
                tree.insert(relative, Entry::Folder(mode()));
                add(top, path, tree);
            }
        } else {
            let bytes = fs::read(path).unwrap_or_default();
            tree.insert(relative, Entry::File(mode(), bytes));
        }
    }
}

/// Paths that differ.
pub fn differences(before: &Tree, after: &Tree) -> Vec<Utf8PathBuf> {
    let mut paths: Vec<&Utf8PathBuf> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path))
        .cloned()
        .collect()
}
