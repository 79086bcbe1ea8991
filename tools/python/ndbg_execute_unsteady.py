"""Names of sources that differ from process to process, by the syntax tree: chance, clocks, ids,
hashes, the order of sets.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast

from ndbg_execute_describe import reached

# Everything of these modules, or what is named.
_MODULES = {
    "random": None,
    "secrets": None,
    "uuid": None,
    "tempfile": None,
    "threading": None,
    "multiprocessing": None,
    "concurrent": None,
    "gc": None,
    "weakref": None,
    "psutil": None,
    "numpy.random": None,
    "time": {
        "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
        "process_time", "process_time_ns", "thread_time", "thread_time_ns", "clock_gettime",
        "clock_gettime_ns", "localtime", "gmtime", "ctime", "asctime", "strftime",
    },
    "datetime": {"now", "utcnow", "today"},
    "os": {
        "urandom", "getrandom", "getpid", "getppid", "times", "getloadavg", "listdir", "scandir",
        "walk", "stat", "getcwd",
    },
    "glob": None,
    "resource": {"getrusage"},
}  # fmt: skip
_BUILTINS = ("hash", "id")
# What says nothing of the order of a set.
_ORDERLESS = ("sorted", "len", "sum", "min", "max", "any", "all", "set", "frozenset", "bool")
_SET_METHODS = (
    "union", "intersection", "difference", "symmetric_difference", "copy",
)  # fmt: skip


def unsteady(tree, function):
    """Names as the source has them, `order of a set` among them."""
    imported = _imported(tree)
    bound = {
        node.name
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    found = []
    # An object of its class is made before a method is called.
    around = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    around = [node for node in around if function in node.body]
    nodes = [one for start in [function, *around] for one in reached(tree, start, assigned=True)]
    for node in dict.fromkeys(nodes):
        local = _local(node)
        for part in ast.walk(node):
            if isinstance(part, (ast.Name, ast.Attribute)):
                text = _dotted(part)
                if text is None or text.partition(".")[0] in local:
                    continue
                if _is_source(text, imported, bound):
                    found.append(text)
        if _order_matters(node):
            found.append("order of a set")
    # `random.choice` says more than `random`, which stands within it.
    named = list(dict.fromkeys(found))
    return [one for one in named if not any(other.startswith(one + ".") for other in named)]


def _local(node):
    """Names that mean something else in a function."""
    return {
        part.arg if isinstance(part, ast.arg) else part.id
        for part in ast.walk(node)
        if isinstance(part, ast.arg)
        or (isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
    }


def _imported(tree):
    """What names of imports stand for: `{name: dotted}`."""
    imported = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                imported[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                if alias.name == "*":
                    for name in _MODULES.get(node.module) or ():
                        imported[name] = node.module + "." + name
                else:
                    imported[alias.asname or alias.name] = node.module + "." + alias.name
    return imported


def _dotted(node):
    if isinstance(node, ast.Attribute):
        inner = _dotted(node.value)
        return None if inner is None else inner + "." + node.attr
    return node.id if isinstance(node, ast.Name) else None


def _is_source(text, imported, bound):
    first, _, rest = text.partition(".")
    if first in imported:
        full = imported[first] + ("." + rest if rest else "")
    else:
        return text in _BUILTINS and text not in bound
    for module, names in _MODULES.items():
        if full == module or full.startswith(module + "."):
            within = full[len(module) + 1 :]
            if names is None or within.rpartition(".")[2] in names:
                return True
    return False


def _order_matters(function):
    """Whether it goes through a set, or makes a list or a text of one."""
    held = set()
    for _ in range(2):
        for node in ast.walk(function):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if _is_set(node.value, held):
                    held.update(one.id for one in targets if isinstance(one, ast.Name))
            elif isinstance(node, ast.arg) and _says_set(node.annotation):
                held.add(node.arg)
    free = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in _ORDERLESS:
            for argument in node.args:
                if isinstance(argument, (ast.GeneratorExp, ast.ListComp, ast.SetComp)):
                    free.update(id(one) for one in argument.generators)
        elif isinstance(node, (ast.SetComp, ast.DictComp)):
            free.update(id(one) for one in node.generators)
    for node in ast.walk(function):
        if isinstance(node, (ast.For, ast.AsyncFor)) and _is_set(node.iter, held):
            return True
        through = isinstance(node, ast.comprehension) and id(node) not in free
        if through and _is_set(node.iter, held):
            return True
        if isinstance(node, ast.Starred) and _is_set(node.value, held):
            return True
        if isinstance(node, ast.FormattedValue) and _is_set(node.value, held):
            return True
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", None)
            method = getattr(node.func, "attr", None)
            if method == "pop" and not node.args and _is_set(node.func.value, held):
                return True
            taking = name is not None and name not in _ORDERLESS and name != "isinstance"
            taking = taking or method in ("join", "extend", "fromkeys")
            if taking and any(_is_set(argument, held) for argument in node.args):
                return True
    return False


def _says_set(annotation):
    bare = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return bare is not None and _dotted(bare) in ("set", "frozenset", "Set", "FrozenSet")


def _is_set(node, held):
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    if isinstance(node, ast.Name):
        return node.id in held
    if isinstance(node, ast.BinOp):
        return _is_set(node.left, held) or _is_set(node.right, held)
    if isinstance(node, ast.Call):
        if getattr(node.func, "id", None) in ("set", "frozenset"):
            return True
        if getattr(node.func, "attr", None) in _SET_METHODS:
            return _is_set(node.func.value, held)
        if getattr(node.func, "id", None) in ("list", "tuple", "iter", "enumerate"):
            return any(_is_set(argument, held) for argument in node.args)
    return False
