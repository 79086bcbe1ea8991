"""Finds what a user named: its definition in a syntax tree, and what is called in the module.

A name is `f`, `C.m`, `C.D.m`, or `C.x.setter` and `C.x.deleter` of a property. Methods of bases in
the same file count as the class's own.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast
import functools
import inspect
import types

from ndbg_execute_problem import Problem, near

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ACCESSORS = ("getter", "setter", "deleter")
_SINGLE_DISPATCH = getattr(functools, "singledispatchmethod", ())
_CACHED = getattr(functools, "cached_property", ())


# In the tree


def definition(tree, name):
    """The statement that defines a function; an assignment, where one makes it."""
    parts = name.split(".")
    accessor = None
    if len(parts) > 2 and parts[-1] in _ACCESSORS:
        accessor = parts.pop()
        accessor = None if accessor == "getter" else accessor
    scope, node = tree, None
    for part in parts:
        node = _find(tree, scope, part, accessor)
        if node is None:
            _unknown(tree, name, scope)
        scope = node if isinstance(node, ast.ClassDef) else ast.Module([], [])
    if isinstance(node, ast.ClassDef):
        methods = [f"{name}.{one}" for one in _names(node)]
        raise Problem("function", f"`{name}` is a class", methods[:5])
    return node


def _unknown(tree, name, scope):
    known = _names(tree)
    meant = near(name, known) or sorted(known)[:5]
    text = f"there is no function `{name}`"
    if isinstance(scope, ast.ClassDef) and any(
        _base(tree, base) is None for base in scope.bases if _dotted(base) != "object"
    ):
        bases = ", ".join(f"`{_dotted(base)}`" for base in scope.bases)
        text += f" in this file; if it is inherited from {bases}, name the file of that class"
    raise Problem("function", text, meant)


def _dotted(node):
    if isinstance(node, ast.Attribute):
        return _dotted(node.value) + "." + node.attr
    if isinstance(node, ast.Subscript):
        return _dotted(node.value)
    return getattr(node, "id", "?")


def _base(tree, node):
    found = _within(tree.body, _dotted(node), None)
    return found if isinstance(found, ast.ClassDef) else None


def _find(tree, scope, name, accessor, depth=0):
    """What a name is in a scope, or in the bases of a class."""
    found = _within(scope.body, name, accessor)
    if found is None and isinstance(scope, ast.ClassDef) and depth < 20:
        for base in scope.bases:
            held = _base(tree, base)
            if held is not None and held is not scope:
                found = _find(tree, held, name, accessor, depth + 1)
                if found is not None:
                    return found
    return found


def _within(body, name, accessor):
    found = None
    for node in body:
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            held = []
            for field in ("body", "orelse", "handlers", "finalbody"):
                for part in getattr(node, field, []):
                    held.extend(part.body if isinstance(part, ast.ExceptHandler) else [part])
            found = _within(held, name, accessor) or found
        elif isinstance(node, ast.ClassDef):
            found = node if node.name == name else found
        elif isinstance(node, _FUNCTIONS):
            # The setter of a property has the name of its getter.
            if node.name == name and _accessor(node, name) == accessor:
                found = node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named = any(isinstance(one, ast.Name) and one.id == name for one in targets)
            if named and not isinstance(node.value, ast.Constant):
                found = node
    return found


def _accessor(node, name):
    """`setter` of `@x.setter`."""
    for decorator in getattr(node, "decorator_list", []):
        if not isinstance(decorator, ast.Attribute) or decorator.attr not in _ACCESSORS[1:]:
            continue
        if _dotted(decorator.value).rpartition(".")[2] == name:
            return decorator.attr
    return None


def _names(node, prefix=""):
    names = []
    for part in node.body:
        if isinstance(part, _FUNCTIONS):
            names.append(prefix + part.name)
        elif isinstance(part, ast.ClassDef):
            names.extend(_names(part, prefix + part.name + "."))
    return list(dict.fromkeys(names))


# In the module


class Bound:
    """What is called. `owner` names the class that an object is needed of; `accessor` is `getter`,
    `setter` or `deleter` where a property is meant."""

    def __init__(self, function, owner=None, accessor=None):
        self.function = function
        self.owner = owner
        self.accessor = accessor


def function_of(module, name):
    parts = name.split(".")
    accessor = None
    if len(parts) > 2 and parts[-1] in _ACCESSORS:
        accessor = parts.pop()
    holder, held, raw = None, module, None
    for part in parts:
        if isinstance(held, type) and part.startswith("__") and not part.endswith("__"):
            part = "_" + held.__name__.lstrip("_") + part
        holder, raw = held, inspect.getattr_static(held, part, None)
        held = getattr(held, part, None)
        if held is None and raw is None:
            raise Problem("function", f"`{name}` is not there after the import")
    owner = ".".join(name.split(".")[: len(parts) - 1])
    if isinstance(holder, type) and not isinstance(raw, (staticmethod, classmethod)):
        return _of_class(name, parts[-1], raw, held, owner, accessor)
    if isinstance(held, type):
        raise Problem("function", f"`{name}` is a class")
    if not callable(held) or accessor is not None:
        raise Problem("function", f"`{name}` is no function")
    return Bound(held)


def _of_class(name, attribute, raw, held, owner, accessor):
    if isinstance(raw, property):
        accessor = accessor or "getter"
        function = {"getter": raw.fget, "setter": raw.fset, "deleter": raw.fdel}[accessor]
        if function is None:
            raise Problem("function", f"the property `{name}` has no {accessor}")
        return Bound(function, owner, accessor)
    if accessor is not None:
        raise Problem("function", f"`{name}` is no property")
    if _CACHED and isinstance(raw, _CACHED):
        return Bound(raw.func, owner, "getter")
    if isinstance(raw, types.FunctionType):
        return Bound(raw, owner)
    if isinstance(raw, type) or not (callable(held) or hasattr(raw, "__get__")):
        raise Problem("function", f"`{name}` is no function")

    # Whatever it is, its object knows how it is called.
    def call(self, *arguments, **named):
        return getattr(self, attribute)(*arguments, **named)

    of_object = raw.func if isinstance(raw, _SINGLE_DISPATCH) else held
    try:
        signature = inspect.signature(of_object)
        if not hasattr(type(raw), "__get__"):
            # Its object is none of its arguments.
            first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
            signature = signature.replace(parameters=[first, *signature.parameters.values()])
        call.__signature__ = signature
    except (TypeError, ValueError):
        pass
    if callable(of_object) and not isinstance(of_object, functools.partial):
        call.__wrapped__ = of_object
    return Bound(call, owner)
