"""The statement of a line, and the names that a condition there may use.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast
import builtins

from ndbg_execute_problem import Problem, near

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFERRED = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def statement_at(tree, line, path):
    """The first statement of a function that begins at a line, or the innermost that holds it."""
    lines, best = set(), None
    for function in ast.walk(tree):
        if not isinstance(function, _FUNCTIONS):
            continue
        for node in ast.walk(function):
            if not isinstance(node, ast.stmt) or node is function or not _has_code(node):
                continue
            if node is function.body[0] and ast.get_docstring(function, clean=False) is not None:
                continue
            lines.add(node.lineno)
            held = node.lineno <= line <= max(node.lineno, _last_of_header(node))
            # Of several at one line, the first one runs before the others.
            if held and (best is None or node.lineno > best.lineno):
                best = node
    if best is None:
        closest = sorted(lines, key=lambda other: (abs(other - line), other))[:3]
        text = f"no code of a function stands at line {line} of `{path}`"
        raise Problem("line", text, [f"line {one}" for one in closest])
    if best.lineno != line and _is_deferred(best, line):
        text = f"line {line} stands within an expression, and lines are looked at before statements"
        raise Problem("line", text + " begin", [f"line {best.lineno}"])
    return best


def _has_code(node):
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return False
    return not (isinstance(node, ast.AnnAssign) and node.value is None)


def _last_of_header(node):
    body = getattr(node, "body", None)
    return body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno


def _is_deferred(statement, line):
    """Whether a line runs at another time, or more often, than the statement that holds it."""
    return any(
        isinstance(node, _DEFERRED) and node.lineno <= line <= node.end_lineno
        for node in ast.walk(statement)
    )


def condition_of(text):
    """The text of a condition, once it is one."""
    text = text.strip()
    try:
        parsed = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError) as error:
        reason = getattr(error, "msg", str(error))
        raise Problem("goal", f"`{text}` is no expression: {reason}") from None
    except (RecursionError, MemoryError):
        raise Problem("goal", f"`{text[:60]}…` is nested too deeply") from None
    for node in ast.walk(parsed):
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom)):
            raise Problem("goal", f"`{text}` would suspend the function")
    return text


def check_names(condition, tree, statement, module):
    """`Problem` where a condition has a name that nothing binds at its statement."""
    known = set(vars(builtins)) | set(vars(module)) | _declared_global(tree)
    for function in _around(tree, statement):
        known |= _bound_by(function)
    for name in _free(condition):
        if name not in known:
            text = f"`{name}` is no name at line {statement.lineno}"
            public = [one for one in known if not one.startswith("_")]
            raise Problem("goal", text, near(name, public, likeness=0.6))


def _free(condition):
    """Names that an expression does not bind itself, in the order of the text."""
    import symtable

    found, waiting = set(), [symtable.symtable(condition, "condition", "eval")]
    while waiting:
        table = waiting.pop()
        waiting.extend(table.get_children())
        for symbol in table.get_symbols():
            inner = table.get_type() == "function" and not symbol.is_global()
            if symbol.is_referenced() and not symbol.is_assigned() and not inner:
                found.add(symbol.get_name())
    named = [node.id for node in ast.walk(ast.parse(condition)) if isinstance(node, ast.Name)]
    return [name for name in dict.fromkeys(named) if name in found]


def _around(tree, statement):
    """The functions and classes that a statement stands in."""
    found = []

    def look(node, around):
        if node is statement:
            found.extend(around)
            return
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            around = [*around, node]
        for child in ast.iter_child_nodes(node):
            look(child, around)

    look(tree, [])
    return found


def _bound_by(scope):
    """Names that a function or class binds in its own scope."""
    names = set()

    def look(node):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        elif type(node).__name__ in ("MatchAs", "MatchStar", "MatchMapping"):
            names.add(getattr(node, "name", None) or getattr(node, "rest", None) or "_")
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            names.add(node.name)
            return
        if isinstance(node, ast.Lambda):
            return
        for child in ast.iter_child_nodes(node):
            look(child)

    for child in ast.iter_child_nodes(scope):
        look(child)
    if isinstance(scope, ast.ClassDef):
        names.add("__class__")
    return names


def _declared_global(tree):
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
