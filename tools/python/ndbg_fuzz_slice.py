"""The part of a module that a function needs, or why it must not run."""

import ast
import builtins
import sys

# Modules that compute and do nothing else.
HARMLESS = frozenset(
    [
        "abc",
        "bisect",
        "calendar",
        "cmath",
        "collections",
        "colorsys",
        "contextlib",
        "copy",
        "dataclasses",
        "decimal",
        "difflib",
        "enum",
        "fractions",
        "functools",
        "heapq",
        "itertools",
        "keyword",
        "math",
        "numbers",
        "operator",
        "re",
        "statistics",
        "string",
        "struct",
        "textwrap",
        "types",
        "typing",
        "unicodedata",
        "base64",
        "binascii",
        "hashlib",
        "html",
        "json",
        "zlib",
        "quopri",
        "stringprep",
        "token",
        "array",
        "datetime",
        "ipaddress",
        "fnmatch",
        "posixpath",
        "ntpath",
        "shlex",
        "graphlib",
    ]
)

# Builtins through which code reaches what its text does not show.
DANGEROUS = frozenset(
    [
        "open",
        "input",
        "eval",
        "exec",
        "compile",
        "__import__",
        "breakpoint",
        "exit",
        "quit",
        "globals",
        "locals",
        "vars",
        "memoryview",
        "help",
        "getattr",
        "setattr",
        "delattr",
    ]
)

# Modules that harmless ones have as attributes: `shlex.os.system(...)`.
HIDDEN = frozenset(
    [
        "os",
        "sys",
        "io",
        "builtins",
        "subprocess",
        "socket",
        "shutil",
        "pathlib",
        "importlib",
        "ctypes",
        "nt",
        "posix",
    ]
)

# `datetime.now()` and the like: another answer every time.
CHANGING = frozenset(
    ["now", "today", "utcnow", "time", "monotonic", "perf_counter", "urandom", "getpid"]
)


class Refused(Exception):
    """Why a function is left alone."""


def functions_in(tree):
    """Names of the functions at the top level, in order; the last definition of a name counts."""
    names = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names[node.name] = None
    return list(names)


def _bound(node):
    """Names that a top-level statement binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(one.asname or one.name).split(".")[0] for one in node.names]
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [
            one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)
        ]
    return []


def _without_annotations(function):
    """The parts of a definition that run: annotations are dropped, they need not."""
    function.returns = None
    arguments = function.args
    for one in [
        *getattr(arguments, "posonlyargs", []),
        *arguments.args,
        *arguments.kwonlyargs,
        *[extra for extra in (arguments.vararg, arguments.kwarg) if extra],
    ]:
        one.annotation = None
    return function


def _needs(node):
    """Names that a statement reads and does not bind in itself: too many at worst."""
    read = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
            read.add(one.id)
    return read


def _check_import(node):
    if isinstance(node, ast.ImportFrom):
        if node.level or (node.module or "").split(".")[0] not in HARMLESS:
            raise Refused("needs a module that is not known to be harmless")
        if any(one.name == "*" or one.name in CHANGING for one in node.names):
            raise Refused("its imports do not say what they bring")
        return
    for one in node.names:
        if one.name.split(".")[0] not in HARMLESS:
            raise Refused("needs a module that is not known to be harmless")


def _check(node):
    """Raises when a statement could reach out of its process."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and one.id in DANGEROUS:
            raise Refused(f"uses `{one.id}`")
        if isinstance(one, ast.Name) and one.id.startswith("__") and one.id != "__name__":
            raise Refused(f"uses `{one.id}`")
        if isinstance(one, ast.Attribute):
            if one.attr.startswith("__") and one.attr not in ("__name__", "__class__", "__init__"):
                raise Refused(f"uses `{one.attr}`")
            if one.attr in HIDDEN:
                raise Refused(f"reaches for `{one.attr}`")
            if one.attr in CHANGING:
                raise Refused("depends on the time or the machine")
        if isinstance(one, (ast.Import, ast.ImportFrom)):
            _check_import(one)
        if isinstance(one, (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)):
            raise Refused("is asynchronous")
        if isinstance(one, ast.Global):
            raise Refused("changes globals")


def _segment(text, node):
    """The lines of a top-level statement, decorators included."""
    first = min([node.lineno, *[one.lineno for one in getattr(node, "decorator_list", [])]])
    lines = text.splitlines()[first - 1 : node.end_lineno]
    return "\n".join(lines)


def slice_of(text, tree, name):
    """Source of the function and of what it uses from its module, in the module's order."""
    holders, order = {}, {}
    for place, node in enumerate(tree.body):
        for bound in _bound(node):
            holders[bound] = node
        order[id(node)] = place
    function = holders.get(name)
    if not isinstance(function, ast.FunctionDef):
        raise Refused("is not bound to its definition in the end")
    if function.decorator_list:
        raise Refused("is decorated")
    if any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in _own(function)):
        raise Refused("is a generator")
    wanted, todo = {}, [function]
    while todo:
        node = todo.pop()
        if id(node) in wanted:
            continue
        wanted[id(node)] = node
        _check(node)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        for read in sorted(_needs(node)):
            holder = holders.get(read)
            if holder is not None:
                todo.append(holder)
            elif not hasattr(builtins, read) and not _bound_inside(node, read):
                raise Refused(f"`{read}` is not bound by a plain statement of its module")
    statements = sorted(wanted.values(), key=lambda node: order[id(node)])
    if len(statements) > 40:
        raise Refused("needs too much of its module")
    parts = []
    future = [
        node
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    for node in future + statements:
        parts.append(_segment(text, node))
    source = "\n".join(parts) + "\n"
    try:
        ast.parse(source)
    except SyntaxError:
        raise Refused("its module does not keep to one statement a line") from None
    return source


def _own(function):
    """The nodes of a function without those of functions and classes within."""
    todo = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))


def _bound_inside(node, name):
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and one.id == name and not isinstance(one.ctx, ast.Load):
            return True
        if isinstance(one, ast.arg) and one.arg == name:
            return True
        if isinstance(one, (ast.FunctionDef, ast.ClassDef)) and one.name == name:
            return True
        if isinstance(one, ast.ExceptHandler) and one.name == name:
            return True
        if isinstance(one, (ast.Import, ast.ImportFrom)) and name in _bound(one):
            return True
        if sys.version_info >= (3, 10) and type(one).__name__ in ("MatchAs", "MatchStar"):
            if one.name == name:
                return True
    return False
