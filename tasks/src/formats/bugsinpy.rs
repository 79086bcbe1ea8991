//! A checkout of BugsInPy: real bugs of Python projects, `projects/<name>/bugs/<number>/`.
//!
//! `bug.info` names the commits, the version of Python and the test files, which are taken from the
//! fixed commit; `run_test.sh` names the tests; `requirements.txt` may be UTF-16; `setup.sh` is optional.

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::{FormatError, Read};
use crate::instance::{Instance, Setup, Source, TestFile, TestFileSource};
use crate::test_command;

/// Reads all bugs.
pub fn read(path: &Utf8Path) -> Result<Read, FormatError> {
    let mut out = Read::default();
    for project in folders(&path.join("projects"))? {
        let info = project.join("project.info");
        if !info.is_file() {
            continue;
        }
        let facts = assignments(&text(&info)?);
        let mut bugs = folders(&project.join("bugs"))?;
        bugs.sort_by_key(|bug| {
            let number = bug.file_name().and_then(|name| name.parse::<u32>().ok());
            (number.unwrap_or(u32::MAX), bug.clone())
        });
        for bug in bugs {
            let name = project.file_name().unwrap_or_default();
            let id = format!("{name}-{}", bug.file_name().unwrap_or_default());
            match instance(&id, name, &facts, &bug)? {
                Ok(instance) => out.instances.push(instance),
                Err(reason) => out.unsupported.push((id, reason)),
            }
        }
    }
    Ok(out)
}

fn instance(
    id: &str,
    project: &str,
    facts: &BTreeMap<String, String>,
    bug: &Utf8Path,
) -> Result<Result<Instance, String>, FormatError> {
    if facts.get("status").is_some_and(|status| status != "OK") {
        return Ok(Err("the project's status is not OK".into()));
    }
    let Some(url) = facts.get("github_url") else {
        return Ok(Err("project.info has no github_url".into()));
    };
    let (info, run) = (bug.join("bug.info"), bug.join("run_test.sh"));
    if !info.is_file() || !run.is_file() {
        return Ok(Err("has no bug.info or no run_test.sh".into()));
    }
    let known = assignments(&text(&info)?);
    let (Some(buggy), Some(fixed)) = (known.get("buggy_commit_id"), known.get("fixed_commit_id"))
    else {
        return Ok(Err("bug.info names no commits".into()));
    };
    let commands = match test_command::parse_script(&text(&run)?) {
        Ok(commands) => commands,
        Err(reason) => return Ok(Err(format!("run_test.sh: {reason}"))),
    };
    let mut fail_to_pass = Vec::new();
    let mut pytest_args = Vec::new();
    let mut env = Vec::new();
    for command in commands {
        fail_to_pass.extend(command.names);
        pytest_args.extend(command.args);
        env.extend(command.env);
    }
    if fail_to_pass.is_empty() {
        return Ok(Err("run_test.sh names no test".into()));
    }
    let listed = |name: &str| {
        let all = known.get(name).map(String::as_str).unwrap_or_default();
        let parts = all
            .split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect::<Vec<_>>()
    };
    let paths = listed("pythonpath");
    if !paths.is_empty() {
        env.push(("PYTHONPATH".into(), paths.join(":")));
    }
    let requirements = bug.join("requirements.txt");
    let requirements = if requirements.is_file() {
        own_left_out(&text(&requirements)?, url)
    } else {
        String::new()
    };
    let setup = bug.join("setup.sh");
    let commands = if setup.is_file() {
        vec![text(&setup)?]
    } else {
        Vec::new()
    };
    let reference = bug.join("bug_patch.txt");
    let reference = reference
        .is_file()
        .then(|| fs::read(&reference).map_err(FormatError::io(&reference)))
        .transpose()?;
    let tests = listed("test_file");
    Ok(Ok(Instance {
        id: id.to_owned(),
        repository: project.to_owned(),
        source: Source::Git {
            name: project.to_owned(),
            url: url.trim_end_matches('/').to_owned(),
            commit: buggy.clone(),
        },
        test_files: tests
            .into_iter()
            .map(|to| TestFile {
                to: to.into(),
                from: TestFileSource::Commit(fixed.clone()),
            })
            .collect(),
        fail_to_pass,
        setup: Setup::Requirements {
            text: requirements,
            commands,
        },
        python: known.get("python_version").cloned(),
        pytest_args,
        env,
        reference,
        ..Instance::default()
    }))
}

/// Requirements without an editable install of the project itself at some commit: the checkout is it.
fn own_left_out(text: &str, url: &str) -> String {
    let name = url.trim_end_matches('/').rsplit('/').next().unwrap_or(url);
    let own = |line: &str| {
        let line = line.trim();
        line.starts_with("-e ")
            && (line.contains(&format!("/{name}.git")) || line.contains(&format!("/{name}@")))
    };
    let lines: Vec<&str> = text.lines().filter(|line| !own(line)).collect();
    lines.join("\n")
}

/// `name="value"` a line, with blanks around the sign or not.
fn assignments(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter_map(|line| line.split_once('='));
    lines
        .map(|(name, value)| {
            let value = value.trim().trim_matches('"').trim();
            (name.trim().to_owned(), value.to_owned())
        })
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

/// A text file in UTF-8 or, by its byte order mark, in UTF-16.
fn text(path: &Utf8Path) -> Result<String, FormatError> {
    let bytes = fs::read(path).map_err(FormatError::io(path))?;
    let units = |read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..]
            .chunks_exact(2)
            .map(|pair| read([pair[0], pair[1]]))
            .collect();
        String::from_utf16_lossy(&units)
    };
    Ok(match bytes.as_slice() {
        [0xff, 0xfe, ..] => units(u16::from_le_bytes),
        [0xfe, 0xff, ..] => units(u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => String::from_utf8_lossy(&bytes).into_owned(),
    })
}

fn folders(path: &Utf8Path) -> Result<Vec<Utf8PathBuf>, FormatError> {
    let mut folders: Vec<Utf8PathBuf> = path
        .read_dir_utf8()
        .map_err(FormatError::io(path))?
        .flatten()
        .map(|entry| entry.path().to_owned())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::write_file;

    #[test]
    fn a_bug_is_read_with_utf_16_requirements_and_several_commands() {
        let guard = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(guard.path()).unwrap();
        let project = root.join("projects/shop");
        let write = |name: &str, bytes: &[u8]| write_file(&project.join(name), bytes).unwrap();
        write(
            "project.info",
            b"github_url=\"https://example.org/o/shop/\"\nstatus=\"OK\"\n",
        );
        write(
            "bugs/2/bug.info",
            b"python_version=\"3.8.3\"\nbuggy_commit_id=\"aaaaaaa\"\nfixed_commit_id =\"bbbbbbb\"\n\
              test_file=\"test/a.py;test/b.py\"\npythonpath=\"\"\n",
        );
        write(
            "bugs/2/run_test.sh",
            b"python -m unittest -q test.a.C.test_x\npytest test/b.py::test_y\n",
        );
        let utf16: Vec<u8> = "\u{feff}six==1.0\n-e git+https://example.org/o/shop@abc#egg=shop\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        write("bugs/2/requirements.txt", &utf16);
        write(
            "bugs/10/bug.info",
            b"buggy_commit_id=\"aaaaaaa\"\nfixed_commit_id=\"bbbbbbb\"\n",
        );
        write("bugs/10/run_test.sh", b"tox -e py3\n");
        let read = super::super::read(root).unwrap();
        let [bug] = read.instances.as_slice() else {
            panic!("{read:?}")
        };
        assert_eq!(bug.id, "shop-2");
        assert_eq!(bug.fail_to_pass, ["test.a.C.test_x", "test/b.py::test_y"]);
        assert_eq!(bug.test_files.len(), 2);
        assert_eq!(
            bug.test_files[0].from,
            TestFileSource::Commit("bbbbbbb".into())
        );
        let Setup::Requirements { text, .. } = &bug.setup else {
            panic!()
        };
        assert_eq!(text, "six==1.0");
        assert_eq!(bug.python.as_deref(), Some("3.8.3"));
        assert_eq!(read.unsupported[0].0, "shop-10");
        assert!(
            read.unsupported[0].1.contains("tox"),
            "{:?}",
            read.unsupported
        );
    }
}
