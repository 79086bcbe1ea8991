//! Task folders of SWE-bench 5: `tasks/<instance_id>/` with `task.yaml`, `tests.json`, `gold.patch`,
//! `test.patch`, `problem_statement.md` and `test_assets/`.
//!
//! `Dockerfile` and `eval.sh` are for containers and are not used: environments are made here, from the
//! project's declaration or from `setup` in `task.yaml`, a key of our own.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value};

use super::{FormatError, Read, rows};
use crate::instance::{TestFile, TestFileSource};

/// Name of the description in a task's folder.
pub const DESCRIPTION: &str = "task.yaml";

/// Reads all tasks of a task repository, or of a folder of tasks.
pub fn read(path: &Utf8Path) -> Result<Read, FormatError> {
    let below = path.join("tasks");
    let root = if below.is_dir() {
        below
    } else {
        path.to_owned()
    };
    let mut folders: Vec<Utf8PathBuf> = root
        .read_dir_utf8()
        .map_err(FormatError::io(&root))?
        .flatten()
        .map(|entry| entry.path().to_owned())
        .filter(|folder| folder.join(DESCRIPTION).is_file())
        .collect();
    folders.sort();
    let mut out = Read::default();
    for folder in folders {
        let row = row(&folder)?;
        let place = folder.join(DESCRIPTION);
        let wrong = |message| FormatError::Row {
            place: place.to_string(),
            message,
        };
        match rows::instance(&row).map_err(wrong)? {
            Ok(mut instance) => {
                if Some(instance.id.as_str()) != folder.file_name() {
                    return Err(wrong(
                        "field `instance_id` is not the name of the folder".into(),
                    ));
                }
                let assets = folder.join("test_assets");
                let mut files = Vec::new();
                walk(&assets, &mut files);
                for from in files {
                    let to = from.strip_prefix(&assets).unwrap_or(&from).to_owned();
                    instance.test_files.push(TestFile {
                        to,
                        from: TestFileSource::File(from),
                    });
                }
                out.instances.push(instance);
            }
            Err(unsupported) => out.unsupported.push(unsupported),
        }
    }
    Ok(out)
}

/// The folder as a row.
fn row(folder: &Utf8Path) -> Result<Map<String, Value>, FormatError> {
    let text = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).map_err(FormatError::io(path))
    };
    let wrong = |name: &str, message: String| FormatError::Row {
        place: folder.join(name).to_string(),
        message,
    };
    let mut row: Map<String, Value> = serde_saphyr::from_str(&text(DESCRIPTION)?)
        .map_err(|error| wrong(DESCRIPTION, format!("is no YAML: {error}")))?;
    let tests: Map<String, Value> = serde_json::from_str(&text("tests.json")?)
        .map_err(|error| wrong("tests.json", format!("is no JSON: {error}")))?;
    row.extend(tests);
    for (field, name) in [
        ("test_patch", "test.patch"),
        ("patch", "gold.patch"),
        ("problem_statement", "problem_statement.md"),
    ] {
        if name == "problem_statement.md" && !folder.join(name).exists() {
            continue;
        }
        row.insert(field.into(), Value::String(text(name)?));
    }
    Ok(row)
}

fn walk(folder: &Utf8Path, files: &mut Vec<Utf8PathBuf>) {
    for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
        // Links may lead anywhere.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(entry.path(), files),
            Ok(kind) if kind.is_file() => files.push(entry.path().to_owned()),
            _ => {}
        }
    }
    files.sort();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::write_file;

    #[test]
    fn a_folder_is_a_row() {
        let guard = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(guard.path()).unwrap();
        let folder = root.join("tasks/o__r-1");
        let write =
            |name: &str, text: &str| write_file(&folder.join(name), text.as_bytes()).unwrap();
        write(
            "task.yaml",
            "instance_id: o__r-1\nrepo: o/r\nbase_commit: '1234567'\nversion: 1.0\nsplit: test\ndatasets:\n- X\n",
        );
        write(
            "tests.json",
            "{\"FAIL_TO_PASS\": [\"t.py::a\"], \"PASS_TO_PASS\": []}",
        );
        for name in ["gold.patch", "test.patch", "problem_statement.md"] {
            write(name, "x\r\n");
        }
        write("test_assets/tests/a.bin", "b");
        let read = super::super::read(root).unwrap();
        let instance = &read.instances[0];
        assert_eq!(instance.id, "o__r-1");
        assert_eq!(instance.test_patch, b"x\r\n");
        assert_eq!(instance.test_files[0].to, "tests/a.bin");
        fs::remove_file(folder.join("tests.json")).unwrap();
        let error = super::super::read(root).unwrap_err().to_string();
        assert!(error.contains("tests.json"), "{error}");
    }
}
