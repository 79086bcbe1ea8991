"""Rewrites a module so that its conditions are measured, and finds the way to a statement.

Conditions become `_ndbg_b(number, measured)` with the same value; blocks that no condition guards
(loop bodies, handlers, functions) begin with `_ndbg_m(number)`. A *link* is `(number, outcome)`;
the chain of a statement are the links that hold when it runs, the outermost first: those of the
blocks around it and, for each `if` before it in these blocks that leaves the block, the outcome
that does not.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_SCOPED = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


class Branches(ast.NodeTransformer):
    """After `visit`, `ways` are the ways to each target: `(number of its mark, chain)`.

    `target(statement)` says under which name a statement is a target, or None; `condition` is the
    text of an expression that is to be true there.
    """

    def __init__(self, target, condition=None):
        self.count = 0
        self.chain = []
        self.ways = []
        self._target = target
        self._condition = condition
        # For each loop around: the number of its mark, if it is a target that is come back to.
        self._loops = []
        self._again = {}

    def _number(self):
        self.count += 1
        return self.count - 1

    # Blocks

    def block(self, statements):
        kept = list(self.chain)
        made = []
        for statement in statements:
            name = self._target(statement)
            if name is not None:
                number = self._number()
                self.ways.append((name, number, list(self.chain)))
                made.append(self._at(statement, self._target_mark(number)))
                if self._condition is not None:
                    self._again[id(statement)] = number
            before = self.count
            changed = self.visit(statement)
            made.extend(changed if isinstance(changed, list) else [changed])
            if isinstance(statement, ast.If):
                self._guard(statement, before)
        self.chain = kept
        return made

    def _guard(self, statement, number):
        # The condition got the first number that the statement took.
        if _leaves(statement.body) and not _leaves(statement.orelse):
            self.chain.append((number, False))
        elif statement.orelse and _leaves(statement.orelse) and not _leaves(statement.body):
            self.chain.append((number, True))

    def _within(self, links, statements):
        self.chain.extend(links)
        made = self.block(statements)
        del self.chain[len(self.chain) - len(links) :]
        return made

    def _marked(self, statements):
        """A block that begins with a mark of its own."""
        number = self._number()
        first = statements[0]
        return [self._at(first, self._mark(number))] + self._within([(number, True)], statements)

    def _mark(self, number):
        return _call("_ndbg_m", ast.Constant(number))

    def _target_mark(self, number):
        if self._condition is None:
            return self._mark(number)
        condition = ast.parse(self._condition, mode="eval").body
        return _call("_ndbg_w", ast.Constant(number), _deferred(self._measured(condition)))

    def _looped(self, loop, make):
        """The body of a loop. Its first line runs again after each round: the mark does, too."""
        number = self._again.get(id(loop))
        self._loops.append(number)
        made = make()
        self._loops.pop()
        if number is not None:
            made.append(self._at(loop, self._target_mark(number)))
        return made

    def visit_Continue(self, node):
        if self._loops and self._loops[-1] is not None:
            return [self._at(node, self._target_mark(self._loops[-1])), node]
        return node

    def _at(self, place, expression):
        statement = ast.Expr(expression)
        return ast.fix_missing_locations(ast.copy_location(statement, place))

    # Statements

    def visit_If(self, node):
        number = self._number()
        node.test = self._condition_of(number, node.test)
        node.body = self._within([(number, True)], node.body)
        node.orelse = self._within([(number, False)], node.orelse)
        return node

    def visit_While(self, node):
        number = self._number()
        node.test = self._condition_of(number, node.test)
        node.body = self._looped(node, lambda: self._within([(number, True)], node.body))
        node.orelse = self.block(node.orelse)
        return node

    def visit_For(self, node):
        node.iter = self.visit(node.iter)
        node.body = self._looped(node, lambda: self._marked(node.body))
        node.orelse = self.block(node.orelse)
        return node

    visit_AsyncFor = visit_For

    def visit_With(self, node):
        for item in node.items:
            item.context_expr = self.visit(item.context_expr)
        node.body = self.block(node.body)
        return node

    visit_AsyncWith = visit_With

    def visit_Try(self, node):
        node.body = self.block(node.body)
        for handler in node.handlers:
            handler.body = self._marked(handler.body)
        node.orelse = self.block(node.orelse)
        node.finalbody = self.block(node.finalbody)
        return node

    visit_TryStar = visit_Try

    def visit_Match(self, node):
        node.subject = self.visit(node.subject)
        for case in node.cases:
            if case.guard is not None:
                case.guard = self._condition_of(self._number(), case.guard)
            case.body = self._marked(case.body)
        return node

    def visit_FunctionDef(self, node):
        number = self._number()
        outer, self.chain = self.chain, [(number, True)]
        loops, self._loops = self._loops, []
        first = 1 if ast.get_docstring(node, clean=False) is not None else 0
        body = node.body[first:] or [ast.copy_location(ast.Pass(), node.body[0])]
        mark = self._at(body[0], _call("_ndbg_m", ast.Constant(number)))
        node.body = node.body[:first] + [mark] + self.block(body)
        self.chain = outer
        self._loops = loops
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        node.body = self.block(node.body)
        return node

    def visit_Lambda(self, node):
        return node

    def visit_Assert(self, node):
        node.test = self._condition_of(self._number(), node.test)
        return node

    # Expressions

    def visit_IfExp(self, node):
        number = self._number()
        test = self._condition_of(number, node.test)
        node = self.generic_visit(
            ast.copy_location(ast.IfExp(ast.Constant(None), node.body, node.orelse), node)
        )
        node.test = test
        return node

    def visit_comprehension(self, node):
        node.iter = self.visit(node.iter)
        node.ifs = [self._condition_of(self._number(), test) for test in node.ifs]
        return node

    def visit_JoinedStr(self, node):
        return node

    def _condition_of(self, number, test):
        measured = self._measured(test)
        return ast.fix_missing_locations(
            ast.copy_location(_call("_ndbg_b", ast.Constant(number), measured), test)
        )

    def _measured(self, test):
        # What binds a name or suspends the function cannot move into a function of its own.
        if any(isinstance(node, _SCOPED) for node in ast.walk(test)):
            return _call("_ndbg_v", test)
        if isinstance(test, ast.BoolOp):
            # Python's own `and` and `or`, in place: order and scope of what is asked stay.
            number = ast.Constant(self._number())
            parts = [_call("_ndbg_p", number, self._measured(value)) for value in test.values]
            kind = ast.Constant(isinstance(test.op, ast.And))
            whole = ast.BoolOp(test.op, parts)
            return _call("_ndbg_j", number, kind, ast.Constant(len(parts)), whole)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return _call("_ndbg_not", self._measured(test.operand))
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            name = ast.Constant(type(test.ops[0]).__name__)
            return _call("_ndbg_c", name, test.left, test.comparators[0])
        if (
            isinstance(test, ast.Call)
            and isinstance(test.func, ast.Attribute)
            and test.func.attr in ("startswith", "endswith")
            and not test.keywords
            and not any(isinstance(argument, ast.Starred) for argument in test.args)
        ):
            arguments = ast.Tuple(test.args, ast.Load())
            return _call("_ndbg_s", ast.Constant(test.func.attr), test.func.value, arguments)
        return _call("_ndbg_v", test)


def _leaves(statements):
    """Whether a block always leaves the one that it stands in."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return _leaves(last.body) and _leaves(last.orelse)
    return isinstance(last, _LEAVES)


def _call(name, *arguments):
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _deferred(expression):
    nothing = ast.arguments(
        posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )
    return ast.Lambda(nothing, expression)


def raised_by(statement):
    """The name of the class that a statement raises; None for `raise` alone and what is no name."""
    if isinstance(statement, ast.Assert):
        return "AssertionError"
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        if isinstance(raised, ast.Attribute):
            return raised.attr
        if isinstance(raised, ast.Name):
            return raised.id
    return None
