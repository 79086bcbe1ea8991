//! The GitHub Action's shell, run with what a runner provides.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use camino::Utf8PathBuf;
use ndbg_tests::{ModelServer, Repo, Says, Venv, binary};
use serde_json::{Value as Json, json};

fn action() -> Utf8PathBuf {
    Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

struct Step {
    code: Option<i32>,
    said: String,
    outputs: BTreeMap<String, String>,
    summary: String,
}

/// The steps of `action.yml`, with these inputs.
fn step(repo: &Repo, inputs: &[(&str, &str)]) -> Step {
    let temp = repo.outside("runner");
    fs::create_dir_all(&temp).unwrap();
    let (output, summary) = (temp.join("output"), temp.join("summary"));
    for file in [&output, &summary] {
        fs::write(file, "").unwrap();
    }
    let defaults = [
        ("NDBG_TEST", ""),
        ("NDBG_REPO_PATH", "."),
        ("NDBG_PYTHON", Venv::Plain.python().as_str()),
        ("NDBG_PLANNER", "search"),
        ("NDBG_MODEL", ""),
        ("NDBG_BASE_URL", ""),
        ("NDBG_KEY", ""),
        ("NDBG_MAX_COST", "1"),
        ("NDBG_MAX_TIME", "120"),
        ("NDBG_ALLOW_PATHS", ""),
        ("NDBG_CREATE_REPORT", "true"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let bash = |script: &str, more: &[(&str, &str)]| {
        let mut command = repo.isolated("bash");
        command
            .arg(action().join("action").join(script))
            .current_dir(repo.root())
            .envs(defaults.clone())
            .envs([
                ("NDBG_ACTION_PATH", action().as_str()),
                ("RUNNER_TEMP", temp.as_str()),
                ("GITHUB_OUTPUT", output.as_str()),
                ("GITHUB_STEP_SUMMARY", summary.as_str()),
                ("GITHUB_WORKSPACE", repo.root().as_str()),
            ])
            .envs(inputs.iter().copied())
            .envs(more.iter().copied());
        command.output().unwrap()
    };
    let install = bash(
        "install.sh",
        &[
            ("NDBG_AGENT_BIN", binary::path().as_str()),
            ("NDBG_VERSION", "source"),
        ],
    );
    assert!(install.status.success());
    let bin = read_outputs(&fs::read_to_string(&output).unwrap());
    let done = bash("fix.sh", &[("NDBG_BIN", &bin["bin"])]);
    Step {
        code: done.status.code(),
        said: String::from_utf8_lossy(&done.stdout).into_owned()
            + &String::from_utf8_lossy(&done.stderr),
        outputs: read_outputs(&fs::read_to_string(&output).unwrap()),
        summary: fs::read_to_string(&summary).unwrap(),
    }
}

/// As a runner reads them.
fn read_outputs(text: &str) -> BTreeMap<String, String> {
    let mut outputs = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some((name, mark)) = line.split_once("<<") {
            let value: Vec<&str> = lines.by_ref().take_while(|line| *line != mark).collect();
            outputs.insert(name.to_owned(), value.join("\n"));
        } else if let Some((name, value)) = line.split_once('=') {
            outputs.insert(name.to_owned(), value.to_owned());
        }
    }
    outputs
}

#[test]
fn a_failing_test_becomes_a_patch_outputs_annotations_and_a_summary() {
    let repo = Repo::buggy();
    let step = step(&repo, &[("NDBG_ALLOW_PATHS", "docs/*\n*.py")]);
    assert_eq!(step.code, Some(0), "{}", step.said);
    assert_eq!(step.outputs["outcome"], "fixed");
    assert_eq!(step.outputs["cost"], "0");
    assert_eq!(step.outputs["changed-files"], "calc.py");
    assert!(
        step.said.contains("::notice file=calc.py,line="),
        "{}",
        step.said
    );
    assert!(step.said.contains("::error file=test"), "{}", step.said);
    assert!(step.summary.starts_with("# Fixed"), "{}", step.summary);
    for name in ["patch-file", "report-file", "pr-body-file"] {
        assert!(
            fs::metadata(&step.outputs[name]).unwrap().len() > 0,
            "{name}"
        );
    }
    let patch = fs::read(&step.outputs["patch-file"]).unwrap();
    assert!(repo.tests_pass_with(&patch, Venv::Plain.python(), &[]));
}

/// The official schema, which comes with a crate of its types.
fn sarif_schema() -> Json {
    let done = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--offline"])
        .current_dir(action())
        .output()
        .unwrap();
    let metadata: Json = serde_json::from_slice(&done.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let crate_ = packages
        .iter()
        .find(|p| p["name"] == "serde-sarif")
        .unwrap();
    let manifest = Utf8PathBuf::from(crate_["manifest_path"].as_str().unwrap());
    let path = manifest.parent().unwrap().join("src/schema.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn results_are_sarif_by_its_schema() {
    let mut schema = sarif_schema();
    // A bracket too many makes the pattern of languages no regular expression.
    for definition in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][definition]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern");
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    let fixed = Repo::buggy();
    let unfixed = Repo::new(&[
        ("calc.py", ndbg_tests::BUGGY),
        ("test_calc.py", ndbg_tests::IMPOSSIBLE),
    ]);
    for (repo, limit) in [(&fixed, "60"), (&unfixed, "8")] {
        let out = repo.outside("sarif-run");
        repo.fix().run_dir(&out).args(["--max-time", limit]).run();
        let done = repo
            .isolated(binary::path())
            .args(["report", out.as_str(), "--format", "sarif"])
            .output()
            .unwrap();
        let sarif: Json = serde_json::from_slice(&done.stdout).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&sarif)
            .map(|e| e.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
        assert!(
            !sarif["runs"][0]["results"].as_array().unwrap().is_empty(),
            "{sarif}"
        );
    }
    let mut broken = json!({"version": "2.1.0", "runs": [{}]});
    assert!(!validator.is_valid(&broken), "the schema is looked at");
    broken["runs"] = json!([{"tool": {"driver": {"name": "x"}}}]);
    assert!(validator.is_valid(&broken));
}

#[test]
fn a_patch_outside_of_the_allowed_paths_ends_the_step_and_is_no_output() {
    let repo = Repo::buggy();
    let step = step(&repo, &[("NDBG_ALLOW_PATHS", "src/**")]);
    assert_eq!(step.code, Some(2), "{}", step.said);
    assert!(
        step.said.contains("::error") && step.said.contains("`allow-paths`"),
        "{}",
        step.said
    );
    assert!(!step.said.contains("::notice"), "{}", step.said);
    assert_eq!(step.outputs["outcome"], "not_fixed");
    for name in ["patch-file", "changed-files"] {
        assert_eq!(step.outputs[name], "", "{name}");
    }
    assert!(!step.outputs.contains_key("pr-body-file"));
    assert!(step.outputs["summary"].contains("`allow-paths`"));
    assert!(fs::exists(&step.outputs["report-file"]).unwrap());
    assert!(
        step.summary.starts_with("> **Refused:**"),
        "{}",
        step.summary
    );
}

#[test]
fn a_run_passes_on_nothing_of_another_one_in_the_same_job() {
    let repo = Repo::buggy();
    let first = step(&repo, &[]);
    assert_eq!(first.outputs["outcome"], "fixed", "{}", first.said);
    // Refused before there is a run, and ended without a patch.
    for (inputs, outcome) in [
        (
            [("NDBG_PLANNER", "llm"), ("NDBG_MODEL", "nobody/nothing")],
            "usage",
        ),
        (
            [
                ("NDBG_TEST", "test_calc.py::test_nothing"),
                ("NDBG_KEY", ""),
            ],
            "nothing_to_fix",
        ),
    ] {
        let second = step(&repo, &inputs);
        assert_eq!(second.outputs["outcome"], outcome, "{}", second.said);
        for name in ["patch-file", "pr-body-file", "changed-files"] {
            let value = second.outputs.get(name).map_or("", String::as_str);
            assert_eq!(value, "", "{name}");
        }
        let report = second.outputs.get("report-file");
        assert_ne!(report, Some(&first.outputs["report-file"]));
        assert!(!second.said.contains("calc.py,line="), "{}", second.said);
        assert!(!second.summary.contains("# Fixed"), "{}", second.summary);
    }
    assert!(fs::exists(&first.outputs["patch-file"]).unwrap());
}

#[test]
fn lines_of_inputs_may_have_blanks_around_them() {
    let repo = Repo::buggy();
    let step = step(
        &repo,
        &[
            ("NDBG_TEST", "\r\n  test_calc.py::test_total \r\n \t\r\n"),
            ("NDBG_ALLOW_PATHS", " docs/* \r\n\t*.py \r\n\r\n"),
        ],
    );
    assert_eq!(step.code, Some(0), "{}", step.said);
    assert_eq!(step.outputs["outcome"], "fixed", "{}", step.said);
    assert_eq!(step.outputs["changed-files"], "calc.py");
}

#[test]
fn changed_files_have_the_names_that_they_have_on_disk() {
    let file = "app/st%2C,k \u{e9}.py";
    let test = "import importlib\n\ntotal = importlib.import_module('st%2C,k \u{e9}').total\n\n\n\
                def test_total():\n    assert total([1, 2, 3]) == 6\n";
    let repo = Repo::new(&[(file, ndbg_tests::BUGGY), ("app/test_stock.py", test)]);
    let step = step(
        &repo,
        &[("NDBG_REPO_PATH", "app"), ("NDBG_ALLOW_PATHS", "app/*")],
    );
    assert_eq!(step.outputs["outcome"], "fixed", "{}", step.said);
    assert_eq!(step.outputs["changed-files"], file);
    assert!(repo.path(file).exists());
}

#[test]
fn inputs_that_are_missing_or_wrong_are_named() {
    let repo = Repo::buggy();
    for (input, value, name) in [
        ("NDBG_PLANNER", "llm", "`model` is needed"),
        ("NDBG_PLANNER", "magic", "input `planner`"),
        ("NDBG_MAX_TIME", "soon", "input `max-time`"),
        ("NDBG_MAX_TIME", "0", "input `max-time`"),
        ("NDBG_MAX_TIME", "00", "input `max-time`"),
        ("NDBG_MAX_TIME", "99999999999999999999", "input `max-time`"),
        ("NDBG_MAX_COST", "$(touch evil)", "input `max-cost`"),
        ("NDBG_REPO_PATH", "nowhere", "input `repo-path`"),
    ] {
        let step = step(&repo, &[(input, value)]);
        assert_eq!(step.code, Some(2), "{}", step.said);
        assert!(
            step.said.contains("::error") && step.said.contains(name),
            "{}",
            step.said
        );
        assert_eq!(step.outputs["outcome"], "usage");
        assert!(!repo.path("evil").exists());
    }
}

#[test]
fn a_test_that_is_named_and_a_model_with_a_key_reach_the_program() {
    let answer = json!({ "hypotheses": [{
        "claim": "the sign", "file": "calc.py", "line": 4,
        "prediction": { "file": "calc.py", "line": 4, "condition": "result == 0" },
        "edits": [{ "file": "calc.py", "old": "result -= price", "new": "result += price" }],
    }]});
    let server = ModelServer::start(vec![Says::Text(answer.to_string())]);
    let repo = Repo::buggy();
    let step = step(
        &repo,
        &[
            ("NDBG_PLANNER", "llm"),
            ("NDBG_MODEL", &server.model()),
            ("NDBG_KEY", "a-key-of-a-server-0123456789"),
            ("NDBG_TEST", "\n$(touch evil)\n"),
        ],
    );
    // There is no such test, and nothing of its name was run.
    assert!(!repo.root().join("evil").exists());
    assert_ne!(
        step.outputs.get("outcome").map(String::as_str),
        Some("fixed")
    );
    let step = self::step(
        &Repo::buggy(),
        &[
            ("NDBG_PLANNER", "llm"),
            ("NDBG_MODEL", &server.model()),
            ("NDBG_KEY", "a-key-of-a-server-0123456789"),
        ],
    );
    assert_eq!(step.code, Some(0), "{}", step.said);
    assert_eq!(step.outputs["outcome"], "fixed");
    assert_eq!(server.keys(), ["Bearer a-key-of-a-server-0123456789"]);
    assert!(!step.said.contains("a-key-of-a-server"), "{}", step.said);
}

#[test]
fn only_small_changes_of_plain_unprotected_files_may_be_published() {
    let repo = Repo::new(&[
        ("shop.py", "x = 1\n"),
        ("test_shop.py", "y = 1\n"),
        ("sub/a b.py", "z = 1\n"),
    ]);
    let check = |patch: &str, globs: &str| {
        let path = repo.outside("check.diff");
        fs::write(&path, patch).unwrap();
        let mut command = repo.isolated("bash");
        let command: &mut Command = command
            .arg(action().join("action/check-patch.sh"))
            .args([path.as_str(), globs])
            .current_dir(repo.root());
        let done = command.output().unwrap();
        (
            done.status.success(),
            String::from_utf8_lossy(&done.stdout).into_owned(),
        )
    };
    let patch = |file: &str, old: &str, new: &str| {
        format!(
            "diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-{old}\n+{new}\n"
        )
    };
    assert!(check(&patch("shop.py", "x = 1", "x = 2"), "").0);
    assert!(check(&patch("shop.py", "x = 1", "x = 2"), "src/*\nshop.*").0);
    assert!(check(&patch("sub/a b.py", "z = 1", "z = 2"), "sub/*").0);
    let link = "diff --git a/shop.py b/shop.py\ndeleted file mode 100644\n--- a/shop.py\n+++ /dev/null\n\
                @@ -1 +0,0 @@\n-x = 1\ndiff --git a/shop.py b/shop.py\nnew file mode 120000\n--- /dev/null\n\
                +++ b/shop.py\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n";
    let added = "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n\
                 @@ -0,0 +1 @@\n+x\n";
    let mode = "diff --git a/shop.py b/shop.py\nold mode 100644\nnew mode 100755\n";
    for (text, globs, why) in [
        (patch("test_shop.py", "y = 1", "y = 2"), "", "is protected"),
        (patch("shop.py", "x = 9", "x = 2"), "", "does not apply"),
        (
            patch("shop.py", "x = 1", "x = 2"),
            "src/*",
            "not among the paths",
        ),
        (patch("../outside.py", "x", "y"), "", "does not apply"),
        (link.to_owned(), "", "adds, removes or renames"),
        (added.to_owned(), "", "adds, removes or renames"),
        (mode.to_owned(), "", "adds, removes or renames"),
        (String::new(), "", "is empty"),
        (
            patch("shop.py", "x = 1", &"x".repeat(300_000)),
            "",
            "larger than",
        ),
    ] {
        let (may, said) = check(&text, globs);
        assert!(!may && said.contains(why), "{text:.80}: {said}");
    }
}

#[test]
fn a_patch_is_checked_as_a_whole_in_whatever_folder() {
    let repo = Repo::new(&[
        ("shop.py", "x = 1\n"),
        ("test_shop.py", "y = 1\n"),
        ("sub/deep/a.py", "z = 1\n"),
    ]);
    let patch = |file: &str| {
        format!(
            "diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-{0} = 1\n+{0} = 2\n",
            match file {
                "shop.py" => "x",
                "test_shop.py" => "y",
                _ => "z",
            }
        )
    };
    let inside = patch("sub/deep/a.py");
    for (folder, text, globs, why) in [
        ("sub", patch("shop.py"), "shop.py", None),
        ("sub/deep", inside.clone(), "sub/*", None),
        ("sub", patch("test_shop.py"), "", Some("is protected")),
        ("sub", patch("shop.py"), "sub/*", Some("not among")),
        ("sub/deep", inside.clone(), "a.py", Some("not among")),
        (
            "sub/deep",
            inside + &patch("test_shop.py"),
            "",
            Some("is protected"),
        ),
    ] {
        // Named from where it is called.
        fs::write(repo.path(folder).join("check.diff"), &text).unwrap();
        let done = repo
            .isolated("bash")
            .arg(action().join("action/check-patch.sh"))
            .args(["check.diff", globs])
            .current_dir(repo.path(folder))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(done.status.success(), why.is_none(), "{text}: {said}");
        assert!(said.contains(why.unwrap_or("may be published")), "{said}");
    }
    let elsewhere = Repo::without_git(&[("a.diff", &patch("shop.py"))]);
    let done = elsewhere
        .isolated("bash")
        .arg(action().join("action/check-patch.sh"))
        .arg("a.diff")
        .current_dir(elsewhere.root())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(!done.status.success() && said.contains("no git repository"));
}

#[test]
fn the_action_and_the_workflows_use_no_input_in_a_script() {
    let root = action();
    let mut files = vec![root.join("action.yml")];
    for entry in root.join("examples/workflows").read_dir_utf8().unwrap() {
        files.push(entry.unwrap().into_path());
    }
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let mut in_script = false;
        for line in text.lines() {
            let indented = line.len() - line.trim_start().len();
            if line.trim_start().starts_with("run:") {
                in_script = true;
                assert!(!line.contains("${{"), "{file}: {line}");
            } else if in_script && indented < 10 && !line.trim().is_empty() {
                in_script = false;
            }
            assert!(!in_script || !line.contains("${{"), "{file}: {line}");
            assert!(!line.contains("pull_request_target"), "{file}");
        }
    }
}
