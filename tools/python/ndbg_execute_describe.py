"""What a search has to know of a function: parameters, classes that it may need, literals.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast
import enum
import inspect
import operator

import ndbg_literal_text

MOST_LITERALS = 300
MOST_CLASSES = 24
_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "PositionalOnly",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "Positional",
    inspect.Parameter.KEYWORD_ONLY: "Keyword",
    inspect.Parameter.VAR_POSITIONAL: "Star",
    inspect.Parameter.VAR_KEYWORD: "StarStar",
}


def parameters(function, without_first=False):
    """Parameters of anything that can be called; none where Python does not say."""
    try:
        listed = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    return [_parameter(one) for one in listed[1 if without_first else 0 :]]


def _parameter(parameter):
    default = None
    if parameter.default is not inspect.Parameter.empty:
        try:
            default = ndbg_literal_text.text(parameter.default)
        except Exception:
            default = None
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty:
        annotation = None
    elif isinstance(annotation, type):
        annotation = annotation.__name__
    elif not isinstance(annotation, str):
        annotation = str(annotation).replace("typing.", "")
    return {
        "name": parameter.name,
        "kind": _KINDS[parameter.kind],
        "default": default,
        "required": parameter.default is inspect.Parameter.empty,
        "annotation": annotation,
    }


def classes(module, owner=None):
    """Classes under the names of a module that a caller may have to build objects of.

    Exceptions hardly are, but for the one that has the method which is called: `owner`.
    """
    described = []
    held_by = list(vars(module).items())
    if owner is not None and "." in owner:
        held_by.insert(0, (owner, operator.attrgetter(owner)(module)))
    for name, held in held_by:
        if not isinstance(held, type) or name.startswith("__"):
            continue
        if issubclass(held, BaseException) and name != owner:
            continue
        if held.__module__ in ("builtins", "typing", "abc", "enum"):
            continue
        # What comes from elsewhere only if it is plain data.
        own = held.__module__ == module.__name__
        members, kind, taken = [], "Plain", []
        if issubclass(held, enum.Enum):
            kind = "Enum"
            members = [f"{name}.{member}" for member in getattr(held, "__members__", ())][:40]
        elif hasattr(held, "__dataclass_fields__"):
            kind, taken = "Dataclass", parameters(held)
        elif issubclass(held, tuple) and hasattr(held, "_fields"):
            kind, taken = "NamedTuple", parameters(held)
        elif own and not inspect.isabstract(held):
            taken = parameters(held)
        else:
            continue
        described.append({"name": name, "kind": kind, "members": members, "parameters": taken})
    if len(described) > MOST_CLASSES:
        described.sort(key=lambda one: one["name"] != owner)
    return described[:MOST_CLASSES]


def reached(tree, function, assigned=False):
    """The function, then functions and classes of the file that it names, and those that these do.

    With `assigned` the assignments of the names, too.
    """
    named = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            named.setdefault(node.name, node)
    if assigned:
        for node in tree.body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    named.setdefault(getattr(target, "id", None), node)
    seen, waiting, found = set(), [function], []
    while waiting and len(seen) < 30:
        node = waiting.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        found.append(node)
        for part in ast.walk(node):
            name = part.id if isinstance(part, ast.Name) else getattr(part, "attr", None)
            if name in named:
                waiting.append(named[name])
    return found


def literals(tree, function):
    """Texts of literals in a function, in those that it names, and in the module's assignments."""
    found = []
    for node in reached(tree, function):
        found.extend(_literals_in(node))
    for statement in tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            found.extend(_literals_in(statement))
    return list(dict.fromkeys(found))[:MOST_LITERALS]


def literals_of(expression):
    """Texts of literals in an expression."""
    return _literals_in(ast.parse(expression.strip(), mode="eval"))


def _literals_in(node):
    found, documented = [], set()
    for part in ast.walk(node):
        body = getattr(part, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            documented.add(id(body[0].value))
        if not isinstance(
            part, (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp)
        ):
            continue
        if id(part) in documented:
            continue
        try:
            text = ndbg_literal_text.text(ast.literal_eval(part))
        except Exception:
            continue
        if len(text) <= 400:
            found.append(text)
    return found
