"""Check the bundled tasks.

For every task, in a temporary copy of its folder:

* before the fix, exactly the tests listed in ``fail_to_pass`` fail and all
  other tests pass, and the hidden tests fail;
* the bug lines exist, hold code, lie inside the named function and are
  touched by the reference patch;
* after the reference patch, all visible and hidden tests pass.

Prints one line for each task and a last line with the totals. Needs Python
3.11 or newer, pytest, and ``git`` or ``patch``.

    python tasks/hidden/check.py              # every task
    python tasks/hidden/check.py text-wrap    # only the named ones
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

HIDDEN = Path(__file__).resolve().parent
EXAMPLES = HIDDEN.parent / "examples"
DIFFICULTIES = ("easy", "middle", "hard")
MIN_VISIBLE_TESTS = 5
MIN_HIDDEN_TESTS = 6
MAX_SECONDS = 5.0

# Tells pytest to write the node ids and outcomes down in a plain form.
RECORDER = """\
import os


def pytest_runtest_logreport(report):
    if report.when == "call" or report.failed or report.skipped:
        with open(os.environ["TASK_OUTCOMES"], "a", encoding="utf-8") as out:
            out.write(f"{report.outcome} {report.nodeid}\\n")


def pytest_collectreport(report):
    if report.failed:
        with open(os.environ["TASK_OUTCOMES"], "a", encoding="utf-8") as out:
            out.write(f"failed {report.nodeid}\\n")
"""


class CheckError(Exception):
    """A task does not keep what it promises."""


def require(condition, message):
    if not condition:
        raise CheckError(message)


def run_tests(folder, scratch, *arguments):
    """Run pytest in a folder and return the outcome of each test."""
    (scratch / "outcome_recorder.py").write_text(RECORDER, encoding="utf-8")
    outcomes = scratch / "outcomes.txt"
    outcomes.write_text("", encoding="utf-8")
    environment = dict(os.environ)
    environment["PYTHONPATH"] = str(scratch)
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    environment["TASK_OUTCOMES"] = str(outcomes)
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "outcome_recorder", *arguments]
    finished = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    require(finished.returncode in (0, 1), f"pytest broke:\n{finished.stdout}")
    result = {}
    for line in outcomes.read_text(encoding="utf-8").splitlines():
        outcome, _, node = line.partition(" ")
        if result.get(node) != "failed":
            result[node] = outcome
    return result


def failing(outcomes):
    return sorted(node for node, outcome in outcomes.items() if outcome != "passed")


def find_definition(tree, qualified):
    """Return the class or function node with a dotted name, or None."""
    node = tree
    for name in qualified.split("."):
        for child in ast.walk(node):
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            if child is not node and isinstance(child, kinds) and child.name == name:
                node = child
                break
        else:
            return None
    return node


def patched_lines(patch, file):
    """Return the lines of the old file that a patch changes or inserts next to."""
    touched = set()
    current = None
    old_line = 0
    for line in patch.splitlines():
        if line.startswith("--- "):
            current = line[4:].split("\t")[0].removeprefix("a/")
        elif line.startswith("+++ "):
            continue
        elif found := re.match(r"@@ -(\d+)", line):
            old_line = int(found[1])
        elif current == file:
            if line.startswith("-"):
                touched.add(old_line)
                old_line += 1
            elif line.startswith("+"):
                touched.update((old_line - 1, old_line))
            else:
                old_line += 1
    return touched


def check_description(task, folder, hidden):
    for key in ("name", "summary", "kind", "difficulty", "test", "fail_to_pass"):
        require(task.get(key), f"task.toml lacks {key}")
    require(task["name"] == folder.name, "name differs from the folder")
    require(task["difficulty"] in DIFFICULTIES, "unknown difficulty")
    for test in task["test"]:
        require((folder / test).is_file(), f"no test file {test}")
    for name in ("test_hidden.py", "reference.patch"):
        require((hidden / name).is_file(), f"no {name}")

    bug = task["bug"]
    source = (folder / bug["file"]).read_text(encoding="utf-8")
    node = find_definition(ast.parse(source), bug["function"])
    require(node is not None, f"no {bug['function']} in {bug['file']}")
    lines = source.splitlines()
    touched = patched_lines(
        (hidden / "reference.patch").read_text("utf-8"), bug["file"]
    )
    require(bug["lines"], "no bug lines")
    for number in bug["lines"]:
        require(1 <= number <= len(lines), f"bug line {number} is outside the file")
        require(lines[number - 1].strip(), f"bug line {number} is blank")
        inside = node.lineno <= number <= node.end_lineno
        require(inside, f"bug line {number} is outside {bug['function']}")
        require(number in touched, f"bug line {number} is not touched by the patch")


def apply_patch(folder, patch):
    if shutil.which("git"):
        command = ["git", "apply", str(patch)]
    else:
        command = ["patch", "-p1", "-i", str(patch)]
    # Keep git from looking for a repository above the temporary folder.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    subprocess.run(command, cwd=folder, env=environment, check=True)


def check_task(folder):
    """Check one task and return a short note about it."""
    hidden = HIDDEN / folder.name
    task = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
    check_description(task, folder, hidden)
    with tempfile.TemporaryDirectory(prefix="task-") as name:
        scratch = Path(name)
        copy = scratch / folder.name
        skip = shutil.ignore_patterns("__pycache__", ".pytest_cache")
        shutil.copytree(folder, copy, ignore=skip)

        started = time.monotonic()
        before = run_tests(copy, scratch)
        seconds = time.monotonic() - started
        require(len(before) >= MIN_VISIBLE_TESTS, f"only {len(before)} tests")
        expected = sorted(task["fail_to_pass"])
        require(failing(before) == expected, f"failing before: {failing(before)}")
        require(seconds < MAX_SECONDS, f"the tests take {seconds:.1f} s")

        # What a single failing test shows must not depend on the others.
        for node in expected:
            alone = run_tests(copy, scratch, node)
            require(failing(alone) == [node], f"{node} does not fail on its own")
        given = run_tests(copy, scratch, *task["test"])
        require(failing(given) == expected, "other failures in the given test files")

        shutil.copy(hidden / "test_hidden.py", copy / "tests")
        unseen = run_tests(copy, scratch, "tests/test_hidden.py")
        require(len(unseen) >= MIN_HIDDEN_TESTS, f"only {len(unseen)} hidden tests")
        missed = failing(unseen)
        require(missed, "the hidden tests pass before the fix")

        apply_patch(copy, hidden / "reference.patch")
        after = run_tests(copy, scratch)
        require(not failing(after), f"failing after the fix: {failing(after)}")
        unseen = run_tests(copy, scratch, "tests/test_hidden.py")
        require(not failing(unseen), f"hidden tests fail: {failing(unseen)}")
    visible = f"{len(expected)}/{len(before)} visible"
    return f"{visible}, {len(missed)}/{len(unseen)} hidden fail before, {seconds:.1f} s"


def main(names):
    folders = sorted(path.parent for path in EXAMPLES.glob("*/task.toml"))
    if names:
        known = {folder.name for folder in folders}
        unknown = [name for name in names if name not in known]
        if unknown:
            print("unknown tasks: " + ", ".join(unknown), file=sys.stderr)
            return 2
        folders = [folder for folder in folders if folder.name in names]
    passed = failed = 0
    for folder in folders:
        try:
            note = check_task(folder)
        except (
            CheckError,
            OSError,
            ValueError,
            KeyError,
            subprocess.SubprocessError,
        ) as e:
            failed += 1
            print(f"FAIL {folder.name}: {e}", flush=True)
        else:
            passed += 1
            print(f"ok   {folder.name} ({note})", flush=True)
    strays = {path.parent.name for path in HIDDEN.glob("*/reference.patch")}
    strays -= {path.parent.name for path in EXAMPLES.glob("*/task.toml")}
    for name in sorted(strays):
        failed += 1
        print(f"FAIL {name}: hidden tests without a task", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
