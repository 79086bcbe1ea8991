//! Files that a patch must not touch: tests and what configures them.

use camino::Utf8Path;

/// Whether `path` (relative to the project) is a test, a test's data or test configuration.
pub fn is_protected(path: &Utf8Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    if matches!(
        name,
        "conftest.py"
            | "pytest.ini"
            | ".pytest.ini"
            | "pytest.toml"
            | ".pytest.toml"
            | "tox.ini"
            | "setup.cfg"
            | "pyproject.toml"
            | "noxfile.py"
            | "setup.py"
            | "sitecustomize.py"
            | "usercustomize.py"
            | ".coveragerc"
    ) || is_test_name(name)
        || path.extension() == Some("pth")
    {
        return true;
    }
    path.parent()
        .into_iter()
        .flat_map(Utf8Path::components)
        .any(|part| {
            matches!(
                part.as_str(),
                "tests" | "test" | "testing" | "site-packages" | ".git" | ".github"
            ) || is_metadata(part.as_str())
        })
}

/// Whether a folder describes an installed package, whose entry points pytest loads as plugins.
fn is_metadata(name: &str) -> bool {
    matches!(
        Utf8Path::new(name).extension(),
        Some("dist-info" | "egg-info")
    )
}

/// Whether a file name is pytest's default for tests.
pub fn is_test_name(name: &str) -> bool {
    let is_python = Utf8Path::new(name).extension() == Some("py");
    is_python && (name.starts_with("test_") || name.ends_with("_test.py") || name == "tests.py")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_their_configuration_are_protected() {
        for path in [
            "tests/data.py",
            "test_x.py",
            "pkg/tests/x.py",
            "a/conftest.py",
            "pyproject.toml",
            "x_test.py",
            "pytest.toml",
            "zz-1.dist-info/entry_points.txt",
            "src/zz.egg-info/entry_points.txt",
            "zz.pth",
        ] {
            assert!(is_protected(Utf8Path::new(path)), "{path}");
        }
        for path in [
            "pkg/testimony.py",
            "src/contest.py",
            "attest.py",
            "latest/x.py",
        ] {
            assert!(!is_protected(Utf8Path::new(path)), "{path}");
        }
    }
}
