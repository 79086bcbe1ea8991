//! Work trees of every kind: dirty, nested, without git, with submodules, with hooks.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tests::{BUGGY, FIXED, IMPOSSIBLE, Repo, TEST, Venv};

#[test]
fn uncommitted_changes_are_part_of_the_base() {
    // The commit passes; the bug is in the work tree, the test is untracked, a stash exists.
    let repo = Repo::new(&[
        ("calc.py", FIXED),
        ("notes.txt", "a\n"),
        (".gitignore", "*.log\n"),
    ]);
    repo.write("notes.txt", "stashed\n");
    repo.git(&["stash", "-q"]);
    repo.write("calc.py", BUGGY);
    repo.write("test_calc.py", TEST);
    repo.write("noise.log", "ignored\n");
    let run = repo.fix().test("test_calc.py").run();
    run.is_fixed();
    let tree = run.event("tree");
    assert_eq!(tree["changed"], 1);
    assert_eq!(tree["untracked"], serde_json::json!(["test_calc.py"]));
    // The diff is against the work tree, not against the commit.
    std::fs::write(repo.outside("patch"), &run.stdout).unwrap();
    repo.git(&["apply", repo.outside("patch").as_str()]);
    assert_eq!(repo.read("calc.py"), FIXED.as_bytes());
    assert_eq!(repo.git(&["stash", "list"]).lines().count(), 1);
}

#[test]
fn a_change_in_the_second_of_the_last_commit_is_seen() {
    let repo = Repo::new(&[("test_calc.py", TEST)]);
    // Only size and seconds tell git whether a file changed, as on many file systems.
    repo.git(&["config", "core.trustctime", "false"]);
    let then = std::time::SystemTime::now() - std::time::Duration::from_mins(1);
    let date = |path: &str| {
        let file = std::fs::File::options().append(true).open(repo.path(path));
        file.unwrap().set_modified(then).unwrap();
    };
    repo.write("calc.py", FIXED);
    date("calc.py");
    repo.commit();
    date(".git/index");
    repo.write("calc.py", BUGGY);
    date("calc.py");
    let run = repo.fix().run();
    run.is_fixed();
    assert_eq!(run.event("tree")["changed"], 1);
}

#[test]
fn staged_changes_are_part_of_the_base_and_stay_staged() {
    let repo = Repo::new(&[("calc.py", FIXED)]);
    repo.write("calc.py", BUGGY);
    repo.write("test_calc.py", TEST);
    repo.git(&["add", "calc.py", "test_calc.py"]);
    let run = repo.fix().run();
    run.is_fixed();
    let staged = repo.git(&["diff", "--cached", "--name-only"]);
    assert_eq!(staged, "calc.py\ntest_calc.py\n");
}

#[test]
fn a_deleted_file_stays_deleted() {
    let shadow = "raise RuntimeError('deleted in the work tree')\n";
    let repo = Repo::new(&[
        ("calc.py", BUGGY),
        ("test_calc.py", TEST),
        ("conftest.py", shadow),
    ]);
    std::fs::remove_file(repo.path("conftest.py")).unwrap();
    repo.fix().run().is_fixed();
}

#[test]
fn a_folder_without_git_is_copied() {
    let repo = Repo::without_git(&[("calc.py", BUGGY), ("test_calc.py", TEST)]);
    let run = repo.fix().run();
    run.is_fixed();
    assert_eq!(run.event("tree")["how"], "copy");
    let run = repo.fix().args(["--apply"]).run_changing(&["calc.py"]);
    run.is_fixed();
    assert_eq!(repo.read("calc.py"), FIXED.as_bytes());
}

#[test]
fn a_project_deep_in_a_monorepo_gets_a_diff_from_the_root() {
    let repo = Repo::new(&[
        ("services/cart/calc.py", BUGGY),
        ("services/cart/tests/test_calc.py", TEST),
        ("services/cart/conftest.py", ""),
        (
            "services/other/test_other.py",
            "def test_other():\n    assert False\n",
        ),
        ("README", "all of it\n"),
    ]);
    let run = repo
        .fix()
        .folder("services/cart")
        .test("tests/test_calc.py")
        .run();
    run.is_fixed();
    assert!(run.diff().contains("+++ b/services/cart/calc.py\n"));
    assert!(repo.tests_pass_with(&run.stdout, Venv::Plain.python(), &["services/cart"]));
    // Without a target, what lies beside the project is not looked at.
    let run = repo.fix().folder("services/cart").args(["--apply"]);
    let run = run.run_changing(&["services/cart/calc.py"]);
    run.is_fixed();
}

#[test]
fn a_submodule_is_there_and_is_not_touched() {
    let library = Repo::new(&[("money.py", "def cents(amount):\n    return amount * 100\n")]);
    let test = "\
import sys

sys.path.insert(0, 'vendor/money')

from money import cents
from calc import total


def test_total():
    assert cents(total([1, 2])) == 300
";
    let repo = Repo::new(&[("calc.py", BUGGY), ("test_calc.py", test)]);
    let url = library.root();
    repo.git(&["submodule", "add", "-q", url.as_str(), "vendor/money"]);
    repo.commit();
    let run = repo.fix().run();
    run.is_fixed();
    assert!(run.diff().contains("+++ b/calc.py"), "{}", run.diff());
}

#[test]
fn hooks_of_the_repository_are_not_run() {
    let repo = Repo::buggy();
    let marker = repo.outside("hooked");
    for hook in [
        "post-checkout",
        "pre-commit",
        "post-index-change",
        "reference-transaction",
    ] {
        let path = repo.path(".git/hooks").join(hook);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\ntouch {marker}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    // Also with something to commit.
    repo.write("notes.txt", "untracked\n");
    let run = repo.fix();
    let run = run.start().wait();
    assert!(!marker.exists(), "a hook ran");
    run.is_fixed();
}

#[test]
fn trees_that_cannot_be_worked_on_are_said_so() {
    let repo = Repo::without_git(&[("calc.py", BUGGY), ("test_calc.py", TEST)]);
    repo.git(&["init", "-q"]);
    repo.fix()
        .run()
        .ends_with(4)
        .says("no commits")
        .says("hint");

    let repo = Repo::buggy();
    let run = repo.fix().folder("nowhere").run();
    run.ends_with(2).says("not a folder");

    let repo = Repo::buggy();
    repo.git(&["checkout", "-q", "-b", "other"]);
    repo.write("calc.py", FIXED);
    repo.commit();
    repo.git(&["checkout", "-q", "main"]);
    repo.write("calc.py", IMPOSSIBLE);
    repo.commit();
    let merge = repo
        .isolated("git")
        .current_dir(repo.root())
        .args(["merge", "other"])
        .output();
    assert!(!merge.unwrap().status.success());
    repo.fix().run().ends_with(4).says("unmerged");
}

#[test]
fn an_editable_install_of_a_src_layout_is_verified_in_the_worktree() {
    let project = "\
[build-system]
requires = ['setuptools']
build-backend = 'setuptools.build_meta'

[project]
name = 'shop'
version = '1.0'

[tool.setuptools.packages.find]
where = ['src']
";
    let test = TEST.replace("from calc", "from shop.calc");
    let files = [
        ("pyproject.toml", project),
        ("src/shop/__init__.py", ""),
        ("src/shop/calc.py", BUGGY),
        ("tests/test_calc.py", test.as_str()),
    ];
    // As a path that is put on `sys.path`, and as a finder that maps the package.
    for mode in ["compat", "strict"] {
        let repo = Repo::new(&files);
        repo.write(".gitignore", "*.egg-info/\nbuild/\n");
        repo.commit();
        let python = editable_install(&repo, mode);
        let run = repo.fix().python(&python).test("tests/test_calc.py").run();
        run.is_fixed();
        assert!(
            run.diff().contains("+++ b/src/shop/calc.py"),
            "{mode}: {}",
            run.diff()
        );
    }
}

#[test]
fn an_editable_install_that_maps_a_package_is_verified_in_the_worktree() {
    let project = "\
[build-system]
requires = ['setuptools']
build-backend = 'setuptools.build_meta'

[project]
name = 'shop'
version = '1.0'

[tool.setuptools]
packages = ['shop']

[tool.setuptools.package-dir]
shop = 'lib/impl'
";
    let test = TEST.replace("from calc", "from shop.calc");
    let repo = Repo::new(&[
        ("pyproject.toml", project),
        ("lib/impl/__init__.py", ""),
        ("lib/impl/calc.py", BUGGY),
        ("tests/test_calc.py", test.as_str()),
    ]);
    repo.write(".gitignore", "*.egg-info/\nbuild/\n");
    repo.commit();
    let python = editable_install(&repo, "lenient");
    let run = repo.fix().python(&python).test("tests/test_calc.py").run();
    // No folder is called `shop`: the worktree's copy cannot be put first. Then the run must not
    // claim anything.
    if run.code == Some(0) {
        run.is_fixed();
    } else {
        run.ends_with(4).says("from your checkout");
    }
}

/// A virtual environment with pytest and an editable install of the repository.
fn editable_install(repo: &Repo, mode: &str) -> Utf8PathBuf {
    let folder = repo.outside("venv");
    let python = folder.join("bin/python");
    must(Command::new(ndbg_tests::python::base()).args([
        "-m",
        "venv",
        "--without-pip",
        folder.as_str(),
    ]));
    let site = ask(
        &python,
        "import sysconfig; print(sysconfig.get_path('purelib'))",
    );
    let shared = |venv: Venv| {
        ask(
            venv.python(),
            "import sysconfig; print(sysconfig.get_path('purelib'))",
        )
    };
    let paths = format!("{}\n{}\n", shared(Venv::Plain), shared(Venv::Build));
    std::fs::write(format!("{site}/shared.pth"), paths).unwrap();
    let mut install = Command::new(&python);
    install
        .args([
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--no-build-isolation",
        ])
        .args(["--disable-pip-version-check", "--config-settings"])
        .arg(format!("editable_mode={mode}"))
        .args(["-e", repo.root().as_str()])
        .env("PIP_NO_INDEX", "1");
    must(&mut install);
    python
}

fn ask(python: &Utf8Path, script: &str) -> String {
    let done = Command::new(python).args(["-c", script]).output().unwrap();
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

fn must(command: &mut Command) {
    let done = command.output().unwrap();
    assert!(
        done.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
}
