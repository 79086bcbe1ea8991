"""Which files belong to the project, and the one spelling of their names that records use.

PYTEST_DONT_REWRITE: this is no test code.
"""

import os

# Folders inside a checkout that hold other people's code.
FOREIGN_FOLDERS = frozenset(
    ["site-packages", "dist-packages", "node_modules", ".tox", ".nox", "__pypackages__"]
)


def absolute(name):
    """Absolute form of a code object's file name; names like `<string>` stay as they are."""
    if name.startswith("<"):
        return name
    return os.path.normpath(os.path.join(_START, name))


# Relative file names were relative to the folder in which the process began; tests may chdir.
try:
    _START = os.getcwd()
except OSError:
    _START = os.sep


def lies_below(path, folder):
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


class Roots:
    """The folders whose code is recorded."""

    def __init__(self, folders):
        self._folders = [(os.path.realpath(folder), os.path.normpath(folder)) for folder in folders]
        self._names = {}
        self._venvs = {}

    def folders(self):
        return [folder for _, folder in self._folders]

    def locate(self, name):
        """The absolute path of a project file, or None for everything else. Cached by name."""
        try:
            return self._names[name]
        except KeyError:
            found = self._names[name] = self._locate(name)
            return found

    def name(self, name):
        """The path as records write it: below a root in the root's own spelling."""
        return self._below_root(name)[0] or absolute(name)

    def contains(self, path):
        return self._below_root(path)[0] is not None

    def _below_root(self, name):
        if name.startswith("<"):
            return None, None
        real = os.path.realpath(absolute(name))
        for real_folder, folder in self._folders:
            if lies_below(real, real_folder):
                rest = os.path.relpath(real, real_folder)
                return os.path.normpath(os.path.join(folder, rest)), (real_folder, rest)
        return None, None

    def _locate(self, name):
        path, below = self._below_root(name)
        # Generated code claims all kinds of file names.
        if path is None or not os.path.isfile(path):
            return None
        real_folder, rest = below
        parts = rest.split(os.sep)[:-1]
        folder = real_folder
        for part in parts:
            folder = os.path.join(folder, part)
            if part in FOREIGN_FOLDERS or self._is_venv(folder):
                return None
        return path

    def _is_venv(self, folder):
        if folder not in self._venvs:
            self._venvs[folder] = os.path.exists(os.path.join(folder, "pyvenv.cfg"))
        return self._venvs[folder]
