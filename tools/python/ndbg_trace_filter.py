"""Which code objects are recorded.

PYTEST_DONT_REWRITE: this is no test code.
"""

import fnmatch
import os


class Filter:
    """Asked once a code object; true for what is to be recorded.

    roots: the project (ndbg_paths.Roots). files: globs of absolute paths, of paths relative to a
    root or of file names; None for all. functions: plain or qualified names; None for all.
    modules: whether bodies of modules are recorded; they are huge, and run once.
    """

    def __init__(self, roots, files=None, functions=None, modules=False):
        self._roots = roots
        self._files = files
        self._functions = None if functions is None else frozenset(functions)
        self._modules = modules
        self._known = {}

    def __call__(self, code):
        if code.co_name == "<module>" and not self._modules:
            return False
        if self._functions is not None:
            qualname = getattr(code, "co_qualname", code.co_name)
            if not (code.co_name in self._functions or qualname in self._functions):
                return False
        name = code.co_filename
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._is_wanted(name)
        return found

    def _is_wanted(self, name):
        if name.startswith("<"):
            # Methods of dataclasses and the like; the tracer keeps those that wanted code calls.
            return self._files is None and not name.startswith("<frozen ")
        path = self._roots.locate(name)
        if path is None:
            return False
        if self._files is None:
            return True
        spellings = {path, os.path.basename(path)}
        spellings.update(os.path.relpath(path, folder) for folder in self._roots.folders())
        return any(fnmatch.fnmatch(one, glob) for one in spellings for glob in self._files)
