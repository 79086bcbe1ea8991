from diffstat import parse_diff, summary

MODIFIED = """\
--- a/src/app.py\t2024-01-01
+++ b/src/app.py\t2024-01-02
@@ -1,3 +1,4 @@
 import os
-print(1)
+print(2)
+print(3)
 exit()
"""

ADDED = """\
--- /dev/null
+++ b/notes.txt
@@ -0,0 +1,2 @@
+first
+second
"""

DELETED = """\
--- a/old.cfg
+++ /dev/null
@@ -1,3 +0,0 @@
-a=1
-b=2
-c=3
"""

RENAMED = """\
--- a/lib/one.py
+++ b/lib/two.py
@@ -5 +5 @@
-x = 1
+x = 2
"""


def test_modified_file():
    (change,) = parse_diff(MODIFIED)
    assert (change.path, change.status) == ("src/app.py", "modified")
    assert (change.insertions, change.deletions) == (2, 1)


def test_added_file():
    (change,) = parse_diff(ADDED)
    assert (change.path, change.status) == ("notes.txt", "added")
    assert (change.insertions, change.deletions) == (2, 0)


def test_renamed_file():
    (change,) = parse_diff(RENAMED)
    assert (change.path, change.status) == ("lib/two.py", "renamed")


def test_removed_dashes_are_not_a_file():
    text = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,1 @@\n--- comment\n select 1\n"
    (change,) = parse_diff(text)
    assert (change.insertions, change.deletions) == (0, 1)


def test_summary_of_several_files():
    text = summary(parse_diff("Patch 12\n" + MODIFIED + ADDED + DELETED))
    assert text.splitlines() == [
        "A notes.txt +2 -0",
        "D old.cfg +0 -3",
        "M src/app.py +2 -1",
        "3 files, +4 -4",
    ]


def test_summary_of_one_file():
    assert summary(parse_diff(RENAMED)) == "R lib/two.py +1 -1\n1 file, +1 -1"


def test_empty_diff():
    assert summary(parse_diff("")) == "0 files, +0 -0"
