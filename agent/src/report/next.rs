//! The command that a reader would type next.

use camino::{Utf8Path, Utf8PathBuf};

use crate::outcome::Outcome;
use crate::report::story::Story;

/// The command after a run, typed in `cwd`.
pub fn command(story: &Story, cwd: &Utf8Path) -> Option<String> {
    let start = story.start.as_ref()?;
    let run_dir = cwd.join(&start.run_dir);
    let repo = cwd.join(&start.repo);
    let outcome = match story.end.as_ref()?.outcome {
        Outcome::Fixed if story.is_explanation() => Outcome::NotFixed,
        outcome => outcome,
    };
    match outcome {
        Outcome::Fixed if !story.applied.is_empty() && same(&repo, cwd) => {
            Some("git diff".to_owned())
        }
        Outcome::Fixed if !story.applied.is_empty() => {
            Some(format!("git -C {} diff", quoted(repo.as_str())))
        }
        Outcome::Fixed => Some(apply(&repo, &run_dir, cwd)),
        Outcome::NotFixed | Outcome::Flaky | Outcome::Budget => {
            let opener = match std::env::consts::OS {
                "macos" => "open",
                "windows" => "start",
                _ => "xdg-open",
            };
            let report = shown(&run_dir.join("report.html"), cwd);
            Some(format!("{opener} {}", quoted(report.as_str())))
        }
        Outcome::Usage | Outcome::NothingToFix | Outcome::Environment | Outcome::Interrupted => {
            None
        }
    }
}

/// The command that applies the patch, typed in the project folder: for documents, which do not
/// know where their reader is.
pub fn apply_in_project(story: &Story) -> Option<String> {
    let start = story.start.as_ref()?;
    if story.diff().is_empty() {
        return None;
    }
    let run_dir = start.repo.join(&start.run_dir);
    Some(apply(&start.repo, &run_dir, &start.repo))
}

/// `path` as seen from `cwd`: relative when it is below.
pub fn shown(path: &Utf8Path, cwd: &Utf8Path) -> Utf8PathBuf {
    path.strip_prefix(cwd).unwrap_or(path).to_owned()
}

fn apply(repo: &Utf8Path, run_dir: &Utf8Path, cwd: &Utf8Path) -> String {
    let patch = run_dir.join("patch.diff");
    if same(repo, cwd) {
        format!("git apply {}", quoted(shown(&patch, cwd).as_str()))
    } else {
        // git changes the folder before it opens the patch, so that its path has to be absolute.
        format!(
            "git -C {} apply {}",
            quoted(repo.as_str()),
            quoted(patch.as_str())
        )
    }
}

fn same(one: &Utf8Path, other: &Utf8Path) -> bool {
    // Comparing components forgives a trailing `/` or `/.`.
    one == other
        || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// `text` as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "/._-+:@%,=~".contains(character);
    if !text.is_empty() && text.chars().all(plain) && !text.starts_with('~') {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_short_where_they_can_be_and_absolute_where_they_must() {
        let check =
            |repo: &str, run_dir: &str, cwd: &str| apply(repo.into(), run_dir.into(), cwd.into());
        assert_eq!(
            check("/p/shop", "/p/shop/.ndbg-agent/1", "/p/shop"),
            "git apply .ndbg-agent/1/patch.diff"
        );
        assert_eq!(
            check("/p/shop/.", "/tmp/run", "/p/shop"),
            "git apply /tmp/run/patch.diff"
        );
        assert_eq!(
            check("/p/my shop", "/p/my shop/run", "/p"),
            "git -C '/p/my shop' apply '/p/my shop/run/patch.diff'"
        );
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
