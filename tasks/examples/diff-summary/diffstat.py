"""Summarise unified diffs: which files changed, and by how many lines."""

import re

DEV_NULL = "/dev/null"
HUNK = re.compile(r"@@ -\d+(?:,(?P<old>\d+))? \+\d+(?:,(?P<new>\d+))? @@")
MARKS = {"added": "A", "deleted": "D", "renamed": "R", "modified": "M"}


class FileChange:
    """The changes of one file.

    ``status`` is "added", "deleted", "renamed" or "modified". ``path`` is
    where the file is after the change, or where it was if it was deleted.
    """

    def __init__(self, path, status):
        self.path = path
        self.status = status
        self.insertions = 0
        self.deletions = 0

    def __repr__(self):
        return (
            f"FileChange({self.path!r}, {self.status!r}, "
            f"+{self.insertions} -{self.deletions})"
        )


def parse_diff(text):
    """Return the list of file changes in a unified diff.

    Text before the first file and between files is ignored.
    """
    changes = []
    old_path = None
    old_left = new_left = 0
    for line in text.splitlines():
        if old_left > 0 or new_left > 0:
            if line.startswith("+"):
                changes[-1].insertions += 1
                new_left -= 1
            elif line.startswith("-"):
                changes[-1].deletions += 1
                old_left -= 1
            elif not line.startswith("\\"):
                old_left -= 1
                new_left -= 1
            continue
        hunk = HUNK.match(line)
        if hunk and changes:
            old_left = int(hunk["old"] or 1)
            new_left = int(hunk["new"] or 1)
        elif line.startswith("--- "):
            old_path = _file_name(line)
        elif line.startswith("+++ ") and old_path is not None:
            changes.append(_new_change(old_path, _file_name(line)))
            old_path = None
    return changes


def summary(changes):
    """Return one line per file and a last line with the totals.

    Files are listed in alphabetical order.
    """
    lines = []
    for change in sorted(changes, key=lambda c: c.path):
        mark = MARKS[change.status]
        lines.append(f"{mark} {change.path} +{change.insertions} -{change.deletions}")
    insertions = sum(c.insertions for c in changes)
    deletions = sum(c.deletions for c in changes)
    noun = "file" if len(changes) == 1 else "files"
    lines.append(f"{len(changes)} {noun}, +{insertions} -{deletions}")
    return "\n".join(lines)


def _new_change(old_path, new_path):
    if old_path == DEV_NULL:
        return FileChange(new_path, "added")
    if old_path != new_path:
        return FileChange(new_path, "renamed")
    return FileChange(new_path, "modified")


def _file_name(line):
    name = line[4:].split("\t")[0].strip()
    if name.startswith(("a/", "b/")):
        return name[2:]
    return name
