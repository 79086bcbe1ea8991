import pytest

from diffstat import parse_diff, summary


def diff(old, new, minus=0, plus=0):
    head = f"--- {old}\n+++ {new}\n@@ -1,{minus} +1,{plus} @@\n"
    return head + "-gone\n" * minus + "+here\n" * plus


@pytest.mark.parametrize(
    "name, path",
    [
        ("a/main.py", "main.py"),
        ("a/deep/er/file.txt", "deep/er/file.txt"),
        ("plain.txt", "plain.txt"),
        ("a/with space.md", "with space.md"),
        ("a/dated.md\t2020-02-02", "dated.md"),
    ],
)
def test_deleted_file(name, path):
    (change,) = parse_diff(diff(name, "/dev/null", minus=4))
    assert (change.path, change.status) == (path, "deleted")
    assert (change.insertions, change.deletions) == (0, 4)
    assert summary([change]) == f"D {path} +0 -4\n1 file, +0 -4"


def test_several_deleted_files():
    text = diff("a/z", "/dev/null", 1) + diff("a/y", "/dev/null", 2)
    assert summary(parse_diff(text)) == "D y +0 -2\nD z +0 -1\n2 files, +0 -3"


def test_deleted_between_others():
    text = (
        diff("a/one", "b/one", 1, 2)
        + diff("a/two", "/dev/null", 3)
        + diff("/dev/null", "b/three", 0, 4)
        + diff("a/four", "b/five", 1, 1)
    )
    changes = parse_diff(text)
    assert [(c.path, c.status) for c in changes] == [
        ("one", "modified"),
        ("two", "deleted"),
        ("three", "added"),
        ("five", "renamed"),
    ]
    assert [(c.insertions, c.deletions) for c in changes] == [
        (2, 1),
        (0, 3),
        (4, 0),
        (1, 1),
    ]


def test_deleted_file_without_lines():
    (change,) = parse_diff("--- a/empty\n+++ /dev/null\n")
    assert (change.path, change.status, change.deletions) == ("empty", "deleted", 0)


@pytest.mark.parametrize(
    "old, new, path, status",
    [
        ("/dev/null", "b/x", "x", "added"),
        ("a/x", "b/x", "x", "modified"),
        ("a/x", "b/y", "y", "renamed"),
        ("x", "x", "x", "modified"),
        ("a/dev/null", "b/dev/null", "dev/null", "modified"),
        ("a/old.cfg", "b/old.cfg", "old.cfg", "modified"),
    ],
)
def test_other_statuses(old, new, path, status):
    (change,) = parse_diff(diff(old, new, 1, 1))
    assert (change.path, change.status) == (path, status)
