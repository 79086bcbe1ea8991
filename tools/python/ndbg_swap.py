"""Replaces the code objects of live functions, so that a candidate needs no import at all.

Only changes inside function bodies and default expressions can be made this way. Everything else,
and everything in doubt, is `Cold`: the caller has to try the candidate in another way.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast
import gc
import inspect
import os
import sys
import types

from ndbg_source import Invalid, SourceFile

_FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPE_NODES = (
    ast.Lambda,
    ast.GeneratorExp,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.NamedExpr,
    ast.Await,
    ast.Yield,
    ast.YieldFrom,
)


class Cold(Exception):
    """This candidate cannot be tried by swapping; says why."""


class CallLog:
    """Which project functions ran while pytest collected.

    What such a function computed (a table, a registry, a decorated class) is part of the warm
    process and stays as the old code made it, so swapping the function would show a wrong picture.
    """

    def __init__(self, roots):
        self._locate = roots.locate
        self._seen = {}
        self._tool = None
        self._tracing = False

    def start(self):
        seen, locate = self._seen, self._locate
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is not None:

            def on_start(code, _offset):
                if locate(code.co_filename) is not None:
                    seen[id(code)] = code
                return monitoring.DISABLE

            for tool in (4, 3):
                try:
                    monitoring.use_tool_id(tool, "ndbg")
                except ValueError:
                    continue
                self._tool = tool
                monitoring.register_callback(tool, monitoring.events.PY_START, on_start)
                monitoring.set_events(tool, monitoring.events.PY_START)
                return
        if sys.gettrace() is not None:
            return
        known = {}

        def on_call(frame, _event, _argument):
            code = frame.f_code
            if id(code) not in known:
                known[id(code)] = code
                if locate(code.co_filename) is not None:
                    seen[id(code)] = code

        self._tracer = on_call
        self._tracing = True
        sys.settrace(on_call)

    def stop(self):
        if self._tool is not None:
            monitoring = sys.monitoring
            monitoring.set_events(self._tool, 0)
            monitoring.register_callback(self._tool, monitoring.events.PY_START, None)
            monitoring.free_tool_id(self._tool)
            self._tool = None
        if self._tracing and sys.gettrace() is self._tracer:
            sys.settrace(None)
        self._tracing = False

    def places(self):
        """(real file, first line, name) of every code object that ran."""
        return {
            (os.path.realpath(code.co_filename), code.co_firstlineno, code.co_name)
            for code in self._seen.values()
        }


class LiveFunctions:
    """Every project function that exists in the process, found through the garbage collector.

    That way decorated, inherited, cached and nested functions need no rule of their own. Built
    once, before the collector's objects are frozen: frozen ones are invisible to it.
    """

    def __init__(self, roots, log):
        self._ran = log.places() if log is not None else frozenset()
        self._by_place = {}
        self._real = {}
        for found in gc.get_objects():
            if type(found) is types.FunctionType:
                code = found.__code__
                if roots.locate(code.co_filename) is not None:
                    place = (self._real_name(code), code.co_firstlineno, code.co_name)
                    self._by_place.setdefault(place, []).append(found)

    def _real_name(self, code):
        name = code.co_filename
        if name not in self._real:
            self._real[name] = os.path.realpath(name)
        return self._real[name]

    def of(self, path, line, name):
        return self._by_place.get((path, line, name), ())

    def ran(self, path, code):
        return (path, code.co_firstlineno, code.co_name) in self._ran


class Swapper:
    """Server side: knows the files and the live functions; prepares plans for candidates."""

    def __init__(self, roots, log):
        self._functions = LiveFunctions(roots, log)
        self._files = {}

    def plan(self, patches, forced):
        """`patches`: [(path, data, edits)]. Returns what a forked candidate calls to swap."""
        steps = []
        for path, data, edits in patches:
            real = os.path.realpath(path)
            source = self._files.get(real)
            if source is None:
                try:
                    source = self._files[real] = SourceFile(real, data)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    raise Cold("the file on disk does not parse") from None
            region = source.region(edits)
            if region is None:
                raise Cold("outside a function")
            steps.append((source, region, edits, source.old_code(region)))
        return Plan(steps, self._functions, forced)


class Plan:
    def __init__(self, steps, functions, forced):
        self._steps = steps
        self._functions = functions
        self._forced = forced

    def apply(self):
        """In the candidate: compile and swap. Raises Cold or Invalid before it changed anything."""
        changes = []
        for source, region, edits, old_code in self._steps:
            compiled = source.new_region(region, edits)
            if compiled is None:
                raise Cold("the limits of top-level statements moved")
            statements, new_code = compiled
            change = _Change(source, self._functions, self._forced)
            change.compare(source.old_statements(region), statements)
            change.pair(old_code, new_code)
            changes.append(change)
        if not any(change.codes or change.defaults for change in changes):
            raise Invalid("no effect")
        for change in changes:
            change.evaluate_defaults()
        for change in changes:
            change.carry_out()


class _Change:
    """What one file's patch does to live functions."""

    def __init__(self, source, functions, forced):
        self._source = source
        self._path = os.path.realpath(source.path)
        self._functions = functions
        self._forced = forced
        self.codes = []
        self.defaults = []
        self._values = []

    # Syntax: nothing outside function bodies and defaults may differ.

    def compare(self, old, new):
        self._same(old, new, in_class=False)

    def _same(self, old, new, in_class):
        if type(old) is not type(new):
            raise Cold("outside a function")
        if isinstance(old, list):
            if len(old) != len(new):
                raise Cold("outside a function")
            for one, other in zip(old, new):
                self._same(one, other, in_class)
        elif isinstance(old, _FUNCTION_NODES):
            self._same_function(old, new, in_class)
        elif isinstance(old, ast.Lambda):
            if ast.dump(old.args) != ast.dump(new.args):
                raise Cold("parameters of a lambda")
        elif isinstance(old, ast.AST):
            inside = in_class or isinstance(old, ast.ClassDef)
            for field in old._fields:
                self._same(getattr(old, field, None), getattr(new, field, None), inside)
        elif old != new or repr(old) != repr(new):
            raise Cold("outside a function")

    def _same_function(self, old, new, in_class):
        if old.name != new.name:
            raise Cold("name of a function")
        for field in ("decorator_list", "returns", "type_params", "type_comment"):
            if _dump(getattr(old, field, None)) != _dump(getattr(new, field, None)):
                raise Cold(f"{field} of a function")
        if _dump(_without_defaults(old.args)) != _dump(_without_defaults(new.args)):
            raise Cold("parameters of a function")
        if ast.get_docstring(old, clean=False) != ast.get_docstring(new, clean=False):
            raise Cold("docstring")
        before, after = _defaults(old.args), _defaults(new.args)
        changed = {
            name: node for name, node in after.items() if _dump(node) != _dump(before.get(name))
        }
        if changed or set(before) != set(after):
            for node in changed.values():
                _check_default(node, in_class)
            self.defaults.append((old, new, changed))

    # Code: pairs of old and new code objects, nested ones after those that hold them.

    def pair(self, old, new):
        if code_key(old) == code_key(new):
            return
        is_function = bool(old.co_flags & inspect.CO_OPTIMIZED)
        old_kids, new_kids = _nested(old), _nested(new)
        same_names = [kid.co_name for kid in old_kids] == [kid.co_name for kid in new_kids]
        if not is_function:
            if not same_names:
                raise Cold("functions no longer match")
            for one, other in zip(old_kids, new_kids):
                self._pair_definition(one, other)
            return
        self._swap(old, new)
        if same_names:
            matches = list(zip(old_kids, new_kids))
        else:
            matches = _match_by_name(old_kids, new_kids)
        for one, other in matches:
            if other is not None:
                self.pair(one, other)
            elif self._live_below(one):
                raise Cold("a live nested function no longer matches")

    def _pair_definition(self, old, new):
        before = len(self.codes)
        self.pair(old, new)
        is_function = bool(old.co_flags & inspect.CO_OPTIMIZED)
        changed = is_function and code_key(old) != code_key(new)
        if changed and not any(live for live, _ in self.codes[before:]):
            raise Cold(f"function {old.co_name} is not live")

    def _live(self, code):
        return self._functions.of(self._path, code.co_firstlineno, code.co_name)

    def _live_below(self, code):
        return bool(self._live(code)) or any(self._live_below(kid) for kid in _nested(code))

    def _swap(self, old, new):
        # A function whose own text is the same only hands out other nested functions.
        own_change = code_key(old, nested=False) != code_key(new, nested=False)
        if own_change:
            self._check_not_run(old)
        functions = self._live(old)
        if not functions:
            return
        for function in functions:
            # Among others where pytest rewrote an assertion, as in modules named to it.
            if code_key(function.__code__) != code_key(old):
                raise Cold("the loaded code differs from the source on disk")
            if function.__code__.co_freevars != new.co_freevars:
                raise Cold("free variables changed")
        if new.co_flags & _KIND_FLAGS != old.co_flags & _KIND_FLAGS and own_change:
            # pytest and frameworks looked at this when they collected and decorated.
            raise Cold("a function became or ceased to be a generator or coroutine")
        self.codes.append((functions, new))

    def _check_not_run(self, code):
        if not self._forced and self._functions.ran(self._path, code):
            raise Cold(f"function {code.co_name} ran during collection")

    # Defaults

    def evaluate_defaults(self):
        for old, new, changed in self.defaults:
            line = min([old.lineno, *(one.lineno for one in old.decorator_list)])
            functions = self._functions.of(self._path, line, old.name)
            if not functions:
                raise Cold(f"function {old.name} is not live")
            for function in functions:
                self._check_not_run(function.__code__)
                self._values.append(self._new_defaults(function, old, new, changed))

    def _new_defaults(self, function, old, new, changed):
        held = dict(function.__kwdefaults__ or {})
        names = [one.arg for one in _positional(old.args)]
        values = function.__defaults__ or ()
        if len(values) != len(old.args.defaults):
            raise Cold("the loaded defaults differ from the source on disk")
        held.update(zip(names[len(names) - len(values) :], values))
        for name, node in changed.items():
            expression = ast.Expression(body=node)
            code = compile(
                expression, self._source.path, "eval", self._source.flags, dont_inherit=True
            )
            try:
                held[name] = eval(code, function.__globals__)
            except Exception as error:
                raise Cold(f"a default raises {type(error).__name__}") from None
        positional = names[len(names) - len(new.args.defaults) :] if new.args.defaults else []
        keyword = [
            one.arg
            for one, node in zip(new.args.kwonlyargs, new.args.kw_defaults)
            if node is not None
        ]
        try:
            return (
                function,
                tuple(held[name] for name in positional) or None,
                {name: held[name] for name in keyword} or None,
            )
        except KeyError:
            raise Cold("the loaded defaults differ from the source on disk") from None

    def carry_out(self):
        for functions, code in self.codes:
            for function in functions:
                function.__code__ = code
        for function, positional, keyword in self._values:
            function.__defaults__ = positional
            function.__kwdefaults__ = keyword


_KIND_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def _match_by_name(old_kids, new_kids):
    """Pairs in order within each name; None where the new code has none, or it is unclear."""
    pairs = []
    for name in {kid.co_name for kid in old_kids}:
        old = [kid for kid in old_kids if kid.co_name == name]
        new = [kid for kid in new_kids if kid.co_name == name]
        pairs.extend(zip(old, new if len(old) == len(new) else [None] * len(old)))
    return pairs


def _dump(node):
    if isinstance(node, list):
        return [_dump(one) for one in node]
    return ast.dump(node) if isinstance(node, ast.AST) else node


def _positional(arguments):
    return [*getattr(arguments, "posonlyargs", ()), *arguments.args]


def _defaults(arguments):
    """Default expression nodes by parameter name."""
    names = [one.arg for one in _positional(arguments)]
    found = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults))
    for one, node in zip(arguments.kwonlyargs, arguments.kw_defaults):
        if node is not None:
            found[one.arg] = node
    return found


def _without_defaults(arguments):
    return ast.arguments(
        posonlyargs=getattr(arguments, "posonlyargs", []),
        args=arguments.args,
        vararg=arguments.vararg,
        kwonlyargs=arguments.kwonlyargs,
        kw_defaults=[],
        kwarg=arguments.kwarg,
        defaults=[],
    )


def _check_default(node, in_class):
    for part in ast.walk(node):
        if isinstance(part, _SCOPE_NODES):
            raise Cold("a default expression with a scope of its own")
        # The names of a class body are gone once the class exists.
        if in_class and isinstance(part, ast.Name):
            raise Cold("a default expression with names of a class body")


def _nested(code):
    return [one for one in code.co_consts if isinstance(one, types.CodeType)]


def code_key(code, nested=True):
    """Everything about a code object that decides what it does; no line numbers."""
    return (
        code.co_name,
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_flags,
        code.co_argcount,
        code.co_kwonlyargcount,
        getattr(code, "co_posonlyargcount", 0),
        getattr(code, "co_exceptiontable", b""),
        tuple(_constant_key(one, nested) for one in code.co_consts),
    )


def _constant_key(value, nested):
    if isinstance(value, types.CodeType):
        return code_key(value) if nested else ("code", value.co_name)
    if isinstance(value, tuple):
        return ("tuple", tuple(_constant_key(one, nested) for one in value))
    if isinstance(value, frozenset):
        return ("frozenset", tuple(sorted(repr(_constant_key(one, nested)) for one in value)))
    # 1 == True == 1.0 and 0.0 == -0.0, but not as constants of a program.
    return (type(value).__name__, repr(value))
