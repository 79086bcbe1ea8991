//! Our own tasks: bundled ones, written by hand, and seeded ones.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::{FormatError, Read};
use crate::instance::{HiddenTests, Instance, Required, Setup, Source};
use crate::task::{DESCRIPTION, Origin, Task, TaskError};

/// Reads all tasks of a folder.
pub fn read(path: &Utf8Path) -> Result<Read, FormatError> {
    let mut out = Read::default();
    for task in Task::list(path, None)? {
        out.instances.push(instance(task)?);
    }
    Ok(out)
}

fn instance(task: Task) -> Result<Instance, FormatError> {
    let bytes = |path: Utf8PathBuf| fs::read(&path).map_err(FormatError::io(path));
    let reference = task.hidden.join("reference.patch");
    let mut instance = Instance {
        reference: reference.is_file().then(|| bytes(reference)).transpose()?,
        problem: task.summary.clone(),
        targets: task.test.clone(),
        fail_to_pass: task.fail_to_pass.clone(),
        required: Required::PassingBefore,
        setup: Setup::AsIs,
        kind: task.kind.clone(),
        difficulty: task.difficulty.map(|level| level.word().to_owned()),
        bug: Some(task.bug.clone()),
        ..Instance::default()
    };
    match &task.origin {
        Origin::Bundled => {
            instance.repository = "bundled".into();
            instance.source = Source::Folder {
                path: task.folder.clone(),
                left_out: vec![DESCRIPTION.into()],
            };
            instance.hidden.files = hidden_files(&task)?;
        }
        Origin::Seeded {
            repository, seeded, ..
        } => {
            instance.repository.clone_from(&seeded.repository);
            instance.source = Source::Folder {
                path: repository.clone(),
                left_out: Vec::new(),
            };
            for patch in &seeded.patches {
                instance.patches.push(bytes(task.folder.join(patch))?);
            }
            instance.paths.clone_from(&seeded.paths);
            let hidden = task.hidden_tests()?;
            instance.hidden = HiddenTests {
                files: hidden
                    .files
                    .iter()
                    .map(|file| (file.clone(), repository.join(file)))
                    .collect(),
                tests: hidden.tests,
                args: seeded.pytest_args.clone(),
            };
        }
    }
    instance.id = task.name;
    Ok(instance)
}

/// Hidden test files, and where they go: next to the visible tests, where they find the same modules.
fn hidden_files(task: &Task) -> Result<Vec<(Utf8PathBuf, Utf8PathBuf)>, FormatError> {
    let visible = Utf8Path::new(task.test.first().map_or("", String::as_str));
    let beside = visible.parent().unwrap_or(Utf8Path::new(""));
    let mut files = Vec::new();
    let entries = task
        .hidden
        .read_dir_utf8()
        .map_err(TaskError::io(&task.hidden))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.starts_with("test_") && entry.path().extension() == Some("py") {
            files.push((beside.join(name), entry.path().to_owned()));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_bundled_task_is_an_instance_with_hidden_tests() {
        let root = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
        let read = super::super::read(&root.join("examples")).unwrap();
        assert!(read.instances.len() >= 18);
        for instance in read.instances {
            assert!(!instance.hidden.files.is_empty(), "{}", instance.id);
            assert!(instance.reference.is_some());
        }
    }
}
