"""One version of the user's function: its module, what is called in it, and what is known of it.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast
import builtins
import importlib
import inspect
import sys

import ndbg_execute_bind
import ndbg_execute_describe
import ndbg_execute_lines
import ndbg_execute_module
import ndbg_execute_unsteady


class Side:
    """`names` are those that the texts of calls may use; `ways` lead to the goal."""

    def __init__(self, subject, goal, measure, guard):
        path, root = subject["file"], subject["root"]
        plain = ndbg_execute_module.parse(path)
        definition = ndbg_execute_bind.definition(plain, subject["function"])
        self.path = path
        self.ways = []
        tree, names, made = plain, {}, None
        if goal is not None:
            tree, made = ndbg_execute_module.prepared(path, goal)
            names = measure.names()
        if any(isinstance(node, ast.AsyncFunctionDef) for node in ast.walk(plain)):
            # Few functions need it, and it takes longer to import than a call may take.
            importlib.import_module("asyncio")
        if sys.flags.no_site and ndbg_execute_module.needs_site(path, root, plain):
            _run_site()
        self.module = ndbg_execute_module.load(path, root, tree, names, guard)
        if goal is not None and goal["kind"] == "Where":
            statement = ndbg_execute_lines.statement_at(plain, goal["line"], path)
            condition = ndbg_execute_lines.condition_of(goal["predicate"])
            ndbg_execute_lines.check_names(condition, plain, statement, self.module)
        self.bound = ndbg_execute_bind.function_of(self.module, subject["function"])
        self.function = self.bound.function
        self.owner = _held(self.module, self.bound.owner)
        self.tree, self.definition = plain, definition
        if made is not None:
            self.ways = [(name, mark, chain) for name, mark, chain in made.ways]
        names = dict(vars(self.module))
        names["_ndbg_arguments"] = lambda *places, **named: (places, named)
        names.setdefault("rebuilt", _rebuilt)
        names["__builtins__"] = vars(builtins)
        self.names = names

    def describe(self):
        bound = self.bound
        try:
            inner = inspect.unwrap(bound.function)
        except ValueError:
            inner = bound.function
        return {
            "parameters": ndbg_execute_describe.parameters(bound.function, bound.owner is not None),
            "receiver": bound.owner,
            "classes": ndbg_execute_describe.classes(self.module, bound.owner),
            "literals": ndbg_execute_describe.literals(self.tree, self.definition),
            "lines": [self.definition.lineno, self.definition.end_lineno],
            "is_property": bound.accessor == "getter",
            "is_setter": bound.accessor == "setter",
            "is_async": inspect.iscoroutinefunction(inner),
            "is_generator": inspect.isgeneratorfunction(inner),
            "is_async_generator": inspect.isasyncgenfunction(inner),
            "unsteady_names": ndbg_execute_unsteady.unsteady(self.tree, self.definition),
        }


def _held(module, name):
    """The class of a dotted name; None for no name."""
    held = module
    for part in name.split(".") if name else ():
        held = getattr(held, part, None)
    return held if isinstance(held, type) else None


def _run_site():
    """What Python does by itself when it starts without `-S`; once."""
    if "site" not in sys.modules:
        # The guard sees files opened, and an environment may run code of its own.
        importlib.import_module("site").main()


def _rebuilt(cls, **attributes):
    """An object with attributes that a recording holds, made without calling its class."""
    made = cls.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made
