"""Import hook that loads chosen files from bytes in memory instead of from the disk.

PYTEST_DONT_REWRITE: this is no test code.
"""

import base64
import importlib.machinery
import importlib.util
import os
import sys


def install(files):
    """Serve `files` (real path -> bytes) to every later import. Returns the finder."""
    finder = OverlayFinder(files)
    sys.meta_path.insert(0, finder)
    importlib.invalidate_caches()
    return finder


def install_encoded(files):
    """The same for the configuration's {path: base64}."""
    return install({os.path.realpath(path): base64.b64decode(text) for path, text in files.items()})


class OverlayFinder:
    """Asks the finders behind it where a module lies and replaces the loader if it is patched."""

    def __init__(self, files):
        self._files = files
        # Cheap test before any second search: the last part of the module's name is the file's
        # stem, or the folder's for a package.
        self._names = set()
        for path in files:
            folder, base = os.path.split(path)
            stem = os.path.splitext(base)[0]
            self._names.add(os.path.basename(folder) if stem == "__init__" else stem)
            if stem == "__init__":
                # pytest's importlib mode names packages by their file now and then.
                self._names.add(stem)

    def find_spec(self, name, path=None, target=None):
        if name.rpartition(".")[2] not in self._names:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec = find(name, path, target)
            if spec is not None:
                return self._replace(name, spec)
        return None

    def _replace(self, name, spec):
        origin = spec.origin
        if not origin or not spec.has_location:
            return None
        data = self._files.get(os.path.realpath(origin))
        if data is None:
            return None
        rewriter = spec.loader if hasattr(spec.loader, "_should_rewrite") else None
        loader = OverlayLoader(name, origin, data, rewriter)
        return importlib.util.spec_from_file_location(
            name,
            origin,
            loader=loader,
            submodule_search_locations=spec.submodule_search_locations,
        )


class OverlayLoader(importlib.machinery.SourceFileLoader):
    """Compiles from memory; neither reads nor writes a .pyc file."""

    def __init__(self, name, path, data, rewriter=None):
        super().__init__(name, path)
        self._data = data
        self._rewriter = rewriter

    def get_data(self, path):
        if os.path.realpath(path) == os.path.realpath(self.path):
            return self._data
        return super().get_data(path)

    def get_code(self, fullname):
        return self.source_to_code(self._data, self.path)

    def source_to_code(self, data, path, *, _optimize=-1):
        if self._rewriter is not None:
            # Test modules keep pytest's detailed assertions.
            import ast

            from _pytest.assertion.rewrite import rewrite_asserts

            tree = ast.parse(data, filename=path)
            rewrite_asserts(tree, data, path, self._rewriter.config)
            return compile(tree, path, "exec", dont_inherit=True)
        return super().source_to_code(data, path, _optimize=_optimize)
