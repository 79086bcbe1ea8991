"""A source file as it is on disk: byte edits, top-level statements, and their compilation.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast
import io
import re
import tokenize
from bisect import bisect_right

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


class Invalid(Exception):
    """The patched source is not a Python program."""


class MalformedEdit(Exception):
    """Ranges that overlap or lie outside the file."""


def apply_edits(data, edits):
    """Replace byte ranges. `edits` is a list of (start, end, new bytes)."""
    parts = []
    position = 0
    for start, end, new in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        if not position <= start <= end <= len(data):
            raise MalformedEdit(f"range {start}..{end} overlaps another or exceeds {len(data)}")
        parts.append(data[position:start])
        parts.append(new)
        position = end
    parts.append(data[position:])
    return b"".join(parts)


def syntax_error(data, path):
    """Text of the first syntax error of a whole file, or None."""
    try:
        compile(data, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        return describe_error(error)
    return None


def describe_error(error):
    line = getattr(error, "lineno", None)
    message = getattr(error, "msg", None) or str(error)
    where = f" (line {line})" if line else ""
    return f"{type(error).__name__}: {message}{where}"


class Region:
    """Whole lines that hold one or more top-level statements."""

    def __init__(self, first, last, start, end):
        self.first = first
        self.last = last
        self.start = start
        self.end = end


class SourceFile:
    """Parsed once in the server; candidates only parse the statements that they change."""

    def __init__(self, path, data):
        self.path = path
        self.data = data
        self.tree = ast.parse(data, filename=path)
        self.encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        starts = [len(_BOM) if data.startswith(_BOM) else 0]
        starts.extend(match.end() for match in _LINE_END.finditer(data))
        self._starts = starts
        self.flags = self._future_flags()
        self._imports = _module_imports(self.tree.body)
        self._groups = self._group_statements()
        self._compiled = {}

    def _future_flags(self):
        import __future__

        flags = 0
        for statement in self.tree.body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                for alias in statement.names:
                    flags |= getattr(__future__, alias.name).compiler_flag
        return flags

    def _group_statements(self):
        """Lists of top-level statements; those that share a line (`a = 1; b = 2`) stay together."""
        groups = []
        last_line = 0
        for node in self.tree.body:
            decorators = [one.lineno for one in getattr(node, "decorator_list", ())]
            first = min([node.lineno, *decorators])
            if groups and first <= last_line:
                groups[-1][1].append(node)
            else:
                groups.append((first, [node]))
            last_line = max(last_line, node.end_lineno)
        return groups

    def region(self, edits):
        """The smallest region that all edits lie in, or None when one is before all statements."""
        if not self._groups:
            return None
        begins = [self._starts[first - 1] for first, _ in self._groups]
        touched = set()
        for start, end, _ in edits:
            index = bisect_right(begins, start) - 1
            if index < 0:
                return None
            # Text put in front of a statement may belong to the end of the one before it.
            if start == begins[index] and index > 0:
                touched.add(index - 1)
            touched.add(index)
            touched.add(max(index, bisect_right(begins, max(start, end - 1)) - 1))
        first, last = min(touched), max(touched)
        end = begins[last + 1] if last + 1 < len(begins) else len(self.data)
        return Region(first, last, begins[first], end)

    def old_statements(self, region):
        return [node for _, nodes in self._groups[region.first : region.last + 1] for node in nodes]

    def old_code(self, region):
        """The compiled statements of a region, cached: the server asks once per statement."""
        key = (region.first, region.last)
        if key not in self._compiled:
            self._compiled[key] = self._compile(self.old_statements(region))
        return self._compiled[key]

    def _compile(self, statements):
        # Since 3.11 a method call on a name compiles differently when the module imports that
        # name, so its imports belong to the unit.
        module = ast.Module(body=self._imports + statements, type_ignores=[])
        return compile(module, self.path, "exec", self.flags, dont_inherit=True)

    def new_region(self, region, edits):
        """(statements, code) of the region after the edits. Raises Invalid; None if unclear."""
        relative = [(start - region.start, end - region.start, new) for start, end, new in edits]
        data = apply_edits(self.data[region.start : region.end], relative)
        # Blank lines in front give every node the line number that it has in the file.
        first_line = self._groups[region.first][0]
        try:
            text = "\n" * (first_line - 1) + data.decode(self.encoding)
            flags = self.flags | ast.PyCF_ONLY_AST
            tree = compile(text, self.path, "exec", flags, dont_inherit=True)
            code = self._compile(tree.body)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            # Alone it does not parse; as a part of the whole file it could, in theory.
            if syntax_error(apply_edits(self.data, edits), self.path) is None:
                return None
            raise Invalid(describe_error(error)) from None
        return tree.body, code


def _module_imports(statements):
    """Import statements of the module's own scope, those inside `try` and `if` included."""
    found = []
    for node in statements:
        if isinstance(node, ast.Import) or (
            isinstance(node, ast.ImportFrom) and node.module != "__future__"
        ):
            found.append(node)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                found.extend(_module_imports(getattr(node, field, None) or []))
    return found
