"""The module of a user's function, loaded from its file: as it is, or with its conditions measured.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast
import difflib
import importlib
import importlib.util
import inspect
import os
import sys
import tokenize

import ndbg_execute_branches as branches


class Problem(Exception):
    """What a user did wrong: `kind`, a text, and what may have been meant."""

    def __init__(self, kind, text, near=()):
        super().__init__(text)
        self.kind = kind
        self.near = [str(name) for name in near]


def parse(path):
    """The syntax tree of a file."""
    try:
        with tokenize.open(path) as file:
            source = file.read()
        return ast.parse(source, path)
    except OSError as error:
        raise Problem("file", f"`{path}` cannot be read: {error.strerror}") from None
    except SyntaxError as error:
        raise Problem(
            "syntax", f"`{path}` does not parse: line {error.lineno}: {error.msg}"
        ) from None
    except (ValueError, RecursionError, UnicodeDecodeError) as error:
        raise Problem("syntax", f"`{path}` does not parse: {error}") from None


def definition(tree, name):
    """The statement that defines `f`, `C.m` or `C.D.m`."""
    body, node = tree.body, None
    for part in name.split("."):
        node = _find(body, part)
        if node is None:
            known = _names(tree)
            near = difflib.get_close_matches(name, known, 3, 0.5) or sorted(known)[:5]
            raise Problem("function", f"there is no function `{name}`", near)
        body = node.body
    if isinstance(node, ast.ClassDef):
        methods = [f"{name}.{one}" for one in _names(node)]
        raise Problem("function", f"`{name}` is a class", methods[:5])
    return node


def _find(body, name):
    found = None
    for node in body:
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            within = []
            for field in ("body", "orelse", "handlers", "finalbody"):
                for part in getattr(node, field, []):
                    within.extend(part.body if isinstance(part, ast.ExceptHandler) else [part])
            found = _find(within, name) or found
        elif getattr(node, "name", None) == name:
            found = node
    return found


def _names(node, prefix=""):
    names = []
    for part in node.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names.append(prefix + part.name)
        elif isinstance(part, ast.ClassDef):
            names.extend(_names(part, prefix + part.name + "."))
    return names


_SITE_NAMES = frozenset(["exit", "quit", "help", "copyright", "credits", "license"])


def needs_site(path, root, tree):
    """Whether a module may notice that `site` did not run, which takes as long as all else here.

    It does not if it imports nothing but the standard library and uses no name that `site` defines.
    """
    known = getattr(sys, "stdlib_module_names", None)
    if known is None or "." in _module_name(path, root):
        return True
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            named = [node.module or "."] if node.level == 0 else ["."]
        elif isinstance(node, ast.Name):
            if node.id in _SITE_NAMES or node.id == "__import__":
                return True
            continue
        else:
            continue
        # What imports by name, and what looks for packages, is not followed.
        indirect = ("importlib", "pkgutil", "site", "sysconfig", "runpy", "ctypes")
        for name in named:
            first = name.partition(".")[0]
            if first not in known or first in indirect:
                return True
            if root and os.path.exists(os.path.join(root, first + ".py")):
                return True
    return False


def load(path, root, tree, names):
    """The module of a tree, with `names` in its namespace from the start."""
    name = _module_name(path, root)
    if root and root not in sys.path:
        sys.path.insert(0, root)
    parent = name.rpartition(".")[0]
    try:
        if parent:
            importlib.import_module(parent)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        vars(module).update(names)
        sys.modules[name] = module
        exec(compile(tree, path, "exec", dont_inherit=True), vars(module))
    except BaseException as error:
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise Problem("import", f"`{path}` cannot be imported: {text.splitlines()[0]}") from None
    return module


def _module_name(path, root):
    if root:
        relative = os.path.relpath(path, root)
        if not relative.startswith(os.pardir):
            name = os.path.splitext(relative)[0].replace(os.sep, ".")
            if name.endswith(".__init__"):
                name = name[: -len(".__init__")]
            if all(part.isidentifier() for part in name.split(".")):
                return name
    return "ndbg_subject"


def function_of(module, name):
    """`(callable, name of the class that an object is needed of)`."""
    parts = name.split(".")
    holder, held = None, module
    for part in parts:
        holder, raw = held, inspect.getattr_static(held, part, None)
        held = getattr(held, part, None)
        if held is None:
            raise Problem("function", f"`{name}` is not there after the import")
    if isinstance(holder, type) and not isinstance(raw, (staticmethod, classmethod)):
        if isinstance(raw, property):
            return raw.fget, ".".join(parts[:-1])
        return raw, ".".join(parts[:-1])
    if not callable(held):
        raise Problem("function", f"`{name}` is no function")
    return held, None


def prepared(path, goal):
    """`(tree, ways)` for a goal: instrumented where it needs to be."""
    tree = parse(path)
    kind = goal["kind"]
    if kind in ("Reaches", "Where"):
        try:
            wanted = branches.statement_at(tree, goal["line"])
        except branches.NoCode as error:
            text = f"no code of a function stands at line {goal['line']} of `{path}`"
            raise Problem("line", text, [f"line {line}" for line in error.near]) from None
        condition = None
        if kind == "Where":
            condition = goal["predicate"].strip()
            try:
                ast.parse(condition, mode="eval")
            except (SyntaxError, ValueError) as error:
                reason = getattr(error, "msg", str(error))
                raise Problem("goal", f"`{condition}` is no expression: {reason}") from None
        made = branches.Branches(lambda node: "" if node is wanted else None, condition)
    elif kind == "Raises":
        made = branches.Branches(branches.raised_by)
    else:
        made = branches.Branches(lambda node: None)
    tree.body = made.block(tree.body)
    return ast.fix_missing_locations(tree), made
