"""The module of a user's function, loaded from its file: as it is, or with its conditions measured.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast
import builtins
import importlib
import importlib.util
import os
import sys
import tokenize

import ndbg_execute_branches as branches
import ndbg_execute_lines as lines
from ndbg_execute_clock import TooLong
from ndbg_execute_guard import CHANGING, NETWORK, PROCESSES, WRITING
from ndbg_execute_problem import Problem


def parse(path):
    """The syntax tree of a file."""
    try:
        with tokenize.open(path) as file:
            source = file.read()
        return ast.parse(source, path)
    except OSError as error:
        raise Problem("file", f"`{path}` cannot be read: {error.strerror}") from None
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise Problem("syntax", f"`{path}` does not parse: {where}{error.msg}") from None
    except (RecursionError, MemoryError):
        raise Problem("syntax", f"`{path}` does not parse: it is nested too deeply") from None
    except ValueError as error:
        raise Problem("syntax", f"`{path}` does not parse: {error}") from None


# What Python holds before it runs a file: no other is imported under these names.
_AT_START = frozenset([*sys.builtin_module_names, *(
    "abc", "codecs", "encodings", "genericpath", "io", "ntpath", "os", "posixpath", "stat",
    "zipimport",
)])  # fmt: skip
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


def load(path, root, tree, names, guard):
    """The module of a tree, with `names` in its namespace from the start."""
    name = _module_name(path, root)
    if root and root not in sys.path:
        sys.path.insert(0, root)
    parent = name.rpartition(".")[0]
    guard.reset()
    forgotten = _without_namesakes(path, root, tree) if root else {}
    try:
        if parent:
            importlib.import_module(parent)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        vars(module).update(names)
        sys.modules[name] = module
        exec(compile(tree, path, "exec", dont_inherit=True), vars(module))
    except TooLong:
        raise
    except BaseException as error:
        guard.judge(error)
        if guard.refused is not None:
            raise Problem(
                "refused", f"importing `{path}` {_does(guard)}, which is refused"
            ) from None
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise Problem("import", f"`{path}` cannot be imported: {text.splitlines()[0]}") from None
    finally:
        # The rest of the standard library goes on with its own.
        sys.modules.update(forgotten)
    return module


def _does(guard):
    return {
        WRITING: f"writes a file (`{guard.what}`)",
        CHANGING: f"changes files (`{guard.what}`)",
        NETWORK: "uses the network",
        PROCESSES: "starts or signals other processes",
    }.get(guard.refused, f"wants {guard.refused} (`{guard.what}`)")


def _without_namesakes(path, root, tree):
    """A file beside the user's hides one of the standard library from who imports it, as when the
    user's runs by itself. Returns what was forgotten, for who needs it afterwards."""
    forgotten = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            named = [node.module or ""]
        else:
            continue
        for name in named:
            first = name.partition(".")[0]
            file = os.path.join(root, first + ".py")
            if first in _AT_START or file == path or not os.path.isfile(file):
                continue
            for known in [one for one in sys.modules if one.partition(".")[0] == first]:
                forgotten[known] = sys.modules.pop(known)
    return forgotten


def _module_name(path, root):
    if root:
        relative = os.path.relpath(path, root)
        if not relative.startswith(os.pardir):
            name = os.path.splitext(relative)[0].replace(os.sep, ".")
            if name.endswith(".__init__"):
                name = name[: -len(".__init__")]
            taken = _is_standard(name.partition(".")[0])
            if all(part.isidentifier() for part in name.split(".")) and not taken:
                return name
    return "ndbg_subject"


def _is_standard(name):
    """Whether the standard library, which we run on ourselves, has a module of this name."""
    known = getattr(sys, "stdlib_module_names", None)
    if known is not None:
        return name in known
    folder = os.path.dirname(os.__file__)
    return name in sys.builtin_module_names or any(
        os.path.exists(os.path.join(folder, name + end)) for end in (".py", os.sep + "__init__.py")
    )


def named(module, path, name):
    """What a dotted name is to a module, which may be qualified by the module's own name."""
    held = vars(builtins).get(name)
    if held is not None:
        return held
    own = {module.__name__, module.__name__.rpartition(".")[2]}
    own.add(os.path.splitext(os.path.basename(path))[0])
    within = [name[len(one) + 1 :] for one in own if name.startswith(one + ".")]
    for text in [name, *within]:
        held = _attribute(module, text)
        if held is not None:
            return held
    first, _, rest = name.rpartition(".")
    return _attribute(sys.modules.get(first), rest)


def _attribute(held, name):
    for part in name.split("."):
        held = getattr(held, part, None)
    return held


def prepared(path, goal):
    """`(tree, ways)` for a goal: instrumented where it needs to be."""
    tree = parse(path)
    kind, wanted = goal["kind"], None
    if kind in ("Reaches", "Where"):
        wanted = lines.statement_at(tree, goal["line"], path)
        condition = lines.condition_of(goal["predicate"]) if kind == "Where" else None
        made = branches.Branches(lambda node: "" if node is wanted else None, condition)
    elif kind == "Raises":
        made = branches.Branches(branches.raised_by)
    else:
        made = branches.Branches(lambda node: None)
    tree.body = made.block(tree.body)
    return ast.fix_missing_locations(tree), made
