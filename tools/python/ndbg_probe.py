"""Describes a Python interpreter as one JSON object: `python ndbg_probe.py ROOT`.

Parses on every Python since 2.7, so that an old interpreter can at least say what it is. Reads
metadata files itself: importing pytest, or importlib.metadata, costs more than all of this.
"""

import json
import os
import sys


def main(arguments):
    found = {"version": list(sys.version_info[:3]), "executable": sys.executable}
    if sys.version_info >= (3, 6):
        root = os.path.realpath(arguments[0]) if arguments else os.getcwd()
        # The first entry is this script's folder, unless PYTHONSAFEPATH is set.
        own = os.path.dirname(os.path.abspath(globals().get("__file__", "")))
        path = sys.path[1:] if sys.path[:1] == [own] else list(sys.path)
        found.update(describe(root, path))
    print(json.dumps(found, sort_keys=True))


def describe(root, path):
    import platform

    folders = [folder for folder in path if os.path.isdir(folder)]
    names = {folder: _listing(folder) for folder in folders}
    return {
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
        "pytest": pytest_version(names),
        "plugins": pytest_plugins(names),
        "sys_path": path,
        "editable": editable_installs(names, root),
        "platform": sys.platform,
        "fork": hasattr(os, "fork"),
        "implementation": platform.python_implementation(),
    }


def _listing(folder):
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _read(*parts):
    try:
        with open(os.path.join(*parts), "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def pytest_version(names):
    for folder, entries in names.items():
        for entry in entries:
            if entry.startswith("pytest-") and entry.endswith((".dist-info", ".egg-info")):
                version = entry.rpartition(".")[0].split("-")[1]
                # A folder that an interrupted uninstallation left behind has no metadata.
                if any(_read(folder, entry, name) for name in ("METADATA", "PKG-INFO")):
                    return version
    return None


def pytest_plugins(names):
    """Names of the pytest11 entry points, which pytest loads on its own."""
    found = set()
    for folder, entries in names.items():
        for entry in entries:
            if not entry.endswith((".dist-info", ".egg-info")):
                continue
            inside = False
            for line in _read(folder, entry, "entry_points.txt").splitlines():
                line = line.strip()
                if line.startswith("["):
                    inside = line == "[pytest11]"
                elif inside and "=" in line and not line.startswith("#"):
                    found.add(line.partition("=")[0].strip())
    return sorted(found)


def editable_installs(names, root):
    """Installations that import from below `root`: plain .pth files and setuptools' finders."""
    found = {}
    for folder, entries in names.items():
        for entry in entries:
            if entry.endswith(".pth"):
                paths = _pth_paths(folder, _read(folder, entry))
            elif entry.startswith("__editable__") and entry.endswith("_finder.py"):
                paths = _finder_paths(_read(folder, entry))
            else:
                continue
            below = [path for path in paths if _lies_below(path, root)]
            if below:
                kept = found.setdefault(_project_name(entry), [])
                kept.extend(path for path in below if path not in kept)
    return [{"name": name, "paths": found[name]} for name in sorted(found)]


def _pth_paths(folder, text):
    paths = []
    for line in text.splitlines():
        line = line.strip()
        if line and not line.startswith(("#", "import ", "import\t")):
            paths.append(os.path.normpath(os.path.join(folder, line)))
    return paths


def _finder_paths(text):
    """Values of `MAPPING` and `NAMESPACES` in a generated finder, without running it."""
    import ast

    paths = []
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return paths
    for node in tree.body:
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        if getattr(targets[0], "id", None) not in ("MAPPING", "NAMESPACES"):
            continue
        try:
            mapping = ast.literal_eval(node.value)
        except (ValueError, TypeError):
            continue
        if not isinstance(mapping, dict):
            continue
        for value in mapping.values():
            paths.extend(value if isinstance(value, list) else [value])
    return [os.path.normpath(path) for path in paths]


def _project_name(entry):
    """`__editable__.demo-1.0.pth`, `__editable___demo_1_0_finder.py`, `_demo.pth`: all `demo`."""
    import re

    name = entry.rpartition(".")[0]
    name = name[: -len("_finder")] if name.endswith("_finder") else name
    for prefix in ("__editable___", "__editable__.", "__editable__", "_"):
        if name.startswith(prefix):
            name = name[len(prefix) :]
            break
    return re.sub(r"[-_]\d+([._]\w+)*$", "", name)


def _lies_below(path, root):
    real = os.path.realpath(path)
    return real == root or real.startswith(root + os.sep)


if __name__ == "__main__":
    main(sys.argv[1:])
