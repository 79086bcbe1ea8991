"""What the source says that bytecode does not: statements, `def` lines, comprehension variables.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast

# Larger files are generated tables.
MAX_SOURCE = 4_000_000

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
_MATCH = getattr(ast, "Match", ())
_CAPTURES = tuple(
    getattr(ast, name) for name in ("MatchAs", "MatchStar", "MatchMapping") if hasattr(ast, name)
)


class Source:
    """One file's statements.

    groups: line -> first line of its statement, only where they differ.
    defs: (name, co_firstlineno) -> (line of the `def`, qualified name).
    hidden: (name, co_firstlineno) -> variables that only comprehensions bind.
    clashes: the same key -> variables that comprehensions and the scope itself bind.
    repeated: first line of a statement -> variables that it binds more than once.
    loops: lines on which a whole loop stands, header and body.
    sees_locals: first lines of statements with the names `locals` or `vars`.
    shared: names in `global` and `nonlocal` statements, which other frames may rebind.
    """

    def __init__(self, data):
        self.groups = {}
        self.defs = {}
        self.hidden = {}
        self.clashes = {}
        self.repeated = {}
        self.loops = set()
        self.shared = set()
        self.sees_locals = set()
        tree = ast.parse(data)
        self._stores = {}
        self._scope(tree, ("<module>", 1), "")
        for (line, name), count in self._stores.items():
            if count > 1 or line in self.loops:
                self.repeated.setdefault(line, set()).add(name)
        del self._stores

    def _scope(self, node, key, prefix):
        scope = _Scope()
        if isinstance(node, _FUNCTIONS):
            scope.arguments(node.args)
        self._body(node.body, scope, prefix)
        targets = scope.inner - scope.bound
        if targets:
            self.hidden[key] = self.hidden.get(key, frozenset()) | targets
        if scope.inner & scope.bound:
            self.clashes[key] = frozenset(scope.inner & scope.bound)

    def _body(self, statements, scope, prefix):
        for statement in statements:
            self._statement(statement, scope, prefix)

    def _statement(self, node, scope, prefix):
        first = node.lineno
        if isinstance(node, _SCOPES):
            scope.bound.add(node.name)
            top = min([first, *(one.lineno for one in node.decorator_list)])
            name = prefix + node.name
            self.defs.setdefault((node.name, top), (first, name))
            # Decorators, defaults and annotations belong to the statement; the body does not.
            self._group(top, node.body[0].lineno - 1, first)
            for expression in ast.iter_child_nodes(node):
                if isinstance(expression, (ast.expr, ast.arguments, ast.keyword)):
                    self._expression(expression, scope, first)
            inner = name + ("." if isinstance(node, ast.ClassDef) else ".<locals>.")
            self._scope(node, (node.name, top), inner)
            return
        blocks = [
            getattr(node, field)
            for field in ("body", "orelse", "finalbody")
            if getattr(node, field, None)
        ]
        if not blocks and not hasattr(node, "handlers") and not isinstance(node, _MATCH):
            self._group(first, node.end_lineno, first)
        else:
            last = max(
                [first]
                + [
                    one.end_lineno
                    for one in ast.walk(ast.Module(self._header(node), []))
                    if hasattr(one, "end_lineno")
                ]
            )
            self._group(first, last, first)
            if isinstance(node, (ast.For, ast.AsyncFor, ast.While)) and any(
                one.lineno <= last for one in node.body
            ):
                self.loops.update(range(first, node.end_lineno + 1))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            self.shared.update(node.names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                scope.bound.add(alias.asname or alias.name.split(".")[0])
        for expression in self._header(node):
            self._expression(expression, scope, first)
        for block in blocks:
            self._body(block, scope, prefix)
        for handler in getattr(node, "handlers", ()):
            last = max(handler.lineno, getattr(handler.type, "end_lineno", 0))
            self._group(handler.lineno, last, handler.lineno)
            if handler.name:
                scope.bound.add(handler.name)
            if handler.type is not None:
                self._expression(handler.type, scope, handler.lineno)
            self._body(handler.body, scope, prefix)
        if isinstance(node, _MATCH):
            for case in node.cases:
                line = case.pattern.lineno
                end = max(case.pattern.end_lineno, getattr(case.guard, "end_lineno", 0))
                self._group(line, end, line)
                self._expression(case.pattern, scope, line)
                if case.guard is not None:
                    self._expression(case.guard, scope, line)
                self._body(case.body, scope, prefix)

    @staticmethod
    def _header(node):
        """The expressions of a statement, without the statements within it."""
        found = []
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.expr, ast.withitem)):
                found.append(child)
        return found

    def _group(self, first, last, line):
        for one in range(first, last + 1):
            if one != line:
                self.groups[one] = line

    def _expression(self, node, scope, line, depth=0):
        """Names that an expression binds; `depth`: how many comprehensions lie around it."""
        # A stack, because expressions can be nested deeper than the program's stack has room.
        todo = [(node, depth)]
        while todo:
            node, depth = todo.pop()
            if isinstance(node, (ast.Lambda, ast.GeneratorExp)):
                # Frames of their own on every version. Defaults run here, but bind nothing.
                self._anonymous(node, line)
                continue
            inside = depth
            if isinstance(node, _COMPREHENSIONS):
                inside = depth + 1
            elif isinstance(node, ast.NamedExpr):
                scope.bound.add(node.target.id)
                self._stored(line, node.target.id)
                todo.append((node.value, depth))
                continue
            elif isinstance(node, ast.Name):
                if isinstance(node.ctx, (ast.Store, ast.Del)):
                    (scope.inner if depth else scope.bound).add(node.id)
                    if not depth:
                        self._stored(line, node.id)
                elif node.id in ("locals", "vars"):
                    self.sees_locals.add(line)
                continue
            elif _CAPTURES and isinstance(node, _CAPTURES):
                name = getattr(node, "name", None) or getattr(node, "rest", None)
                if name:
                    scope.bound.add(name)
            todo.extend((child, inside) for child in ast.iter_child_nodes(node))

    def _anonymous(self, node, line):
        """A lambda or a generator expression: a scope that is one expression."""
        scope = _Scope()
        if isinstance(node, ast.Lambda):
            scope.arguments(node.args)
            self._expression(node.body, scope, line)
        else:
            for part in (node.elt, *node.generators):
                self._expression(part, scope, line)
        targets = scope.inner - scope.bound
        if targets:
            name = "<lambda>" if isinstance(node, ast.Lambda) else "<genexpr>"
            key = (name, node.lineno)
            self.hidden[key] = self.hidden.get(key, frozenset()) | targets

    def _stored(self, line, name):
        line = self.groups.get(line, line)
        self._stores[line, name] = self._stores.get((line, name), 0) + 1


class _Scope:
    """Names bound in a function, class or module: by itself, and by its comprehensions."""

    def __init__(self):
        self.bound = set()
        self.inner = set()

    def arguments(self, node):
        every = [*getattr(node, "posonlyargs", ()), *node.args, *node.kwonlyargs]
        every.extend(one for one in (node.vararg, node.kwarg) if one is not None)
        self.bound.update(one.arg for one in every)


class Sources:
    """Sources by file name, each read once; `texts`: those that are on no disk."""

    def __init__(self, texts=None):
        self.texts = texts or {}
        self._known = {}

    def find(self, name):
        """The Source of a code object's file, or None: no file, or no Python."""
        try:
            return self._known[name]
        except KeyError:
            pass
        found = None
        try:
            text = self.texts.get(name)
            if text is not None:
                found = Source(text)
            elif not name.startswith("<"):
                with open(name, "rb") as file:
                    data = file.read(MAX_SOURCE + 1)
                if len(data) <= MAX_SOURCE:
                    found = Source(data)
        except (OSError, SyntaxError, ValueError):
            pass
        self._known[name] = found
        return found
