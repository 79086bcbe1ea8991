"""Likely types of a function's parameters, from annotations, defaults, uses and names."""

import ast

# Kinds of input: what `ndbg_fuzz_inputs.draw` knows.
SCALARS = ("int", "str", "float", "bool")
CONTAINERS = (
    "list[int]",
    "list[str]",
    "dict[str,int]",
    "tuple[int,int]",
    "set[int]",
    "list[list[int]]",
)
ANY = (*SCALARS[:3], *CONTAINERS[:3])

_METHODS = {
    "str": "upper lower strip lstrip rstrip split rsplit splitlines replace startswith endswith "
    "find rfind join isdigit isalpha isalnum isupper islower isspace title capitalize "
    "swapcase zfill ljust rjust center partition rpartition encode format translate "
    "expandtabs casefold isidentifier",
    "list": "append extend insert remove sort reverse",
    "dict": "items keys values get setdefault popitem",
    "set": "add discard union intersection difference issubset issuperset isdisjoint",
    "float": "is_integer hex as_integer_ratio",
    "int": "bit_length to_bytes",
}
METHODS = {name: kind for kind, names in _METHODS.items() for name in names.split()}

_NAMES = {
    "int": "n m k i j x y num number count size width height length index start stop end step "
    "limit base depth level year month day hour minute second a b c value pos offset "
    "total",
    "str": "s t text string str name line word key label prefix suffix path title msg message "
    "pattern sep char letter token source data url filename",
    "list": "items values numbers nums lst list seq sequence xs array arr words lines names "
    "elements rows iterable args points data parts",
    "dict": "d dict mapping table options kwargs config env counts params",
    "set": "seen visited allowed",
    "float": "f rate ratio factor scale price weight temperature",
    "bool": "flag strict verbose reverse",
}
NAMES = {}
for _kind, _words in _NAMES.items():
    for _word in _words.split():
        NAMES.setdefault(_word, []).append(_kind)

_WIDER = {
    "int": ["int"],
    "str": ["str"],
    "float": ["float", "int"],
    "bool": ["bool"],
    "list": ["list[int]", "list[str]", "list[list[int]]"],
    "dict": ["dict[str,int]", "dict[int,str]", "dict[str,list]"],
    "set": ["set[int]", "set[str]"],
    "tuple": ["tuple[int,int]"],
    "bytes": ["bytes"],
    "None": ["None"],
}


def _of_annotation(node):
    """Kinds that an annotation names."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            try:
                return _of_annotation(ast.parse(node.value, mode="eval").body)
            except SyntaxError:
                return []
        return ["None"] if node.value is None else []
    if isinstance(node, ast.BinOp):
        return _of_annotation(node.left) + _of_annotation(node.right)
    if isinstance(node, ast.Attribute):
        node = ast.Name(id=node.attr)
    if isinstance(node, ast.Name):
        name = node.id.lower()
        names = {"sequence": "list", "iterable": "list", "mapping": "dict", "frozenset": "set"}
        return list(_WIDER.get(names.get(name, name), []))
    if isinstance(node, ast.Subscript):
        head = _of_annotation(node.value)
        inner = node.slice
        if type(inner).__name__ == "Index":
            inner = inner.value
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if isinstance(node.value, (ast.Name, ast.Attribute)):
            name = getattr(node.value, "id", getattr(node.value, "attr", ""))
            if name in ("Optional", "Union"):
                kinds = [kind for part in parts for kind in _of_annotation(part)]
                return kinds + (["None"] if name == "Optional" else [])
        items = _of_annotation(parts[0])
        if head and items:
            exact = [
                kind for kind in head if kind.split("[")[-1].startswith(items[0].split("[")[0])
            ]
            return exact or head
        return head
    return []


def _of_value(node):
    """Kinds of the values that a literal stands for."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bytes):
            return ["bytes"]
        return list(_WIDER.get(type(node.value).__name__, []))
    for shape, kind in (
        (ast.List, "list"),
        (ast.Tuple, "tuple"),
        (ast.Dict, "dict"),
        (ast.Set, "set"),
    ):
        if isinstance(node, shape):
            return list(_WIDER[kind])
    if isinstance(node, ast.UnaryOp):
        return _of_value(node.operand)
    return []


class _Uses(ast.NodeVisitor):
    """Evidence about names from how a body uses them."""

    def __init__(self, names):
        self.kinds = {name: [] for name in names}

    def say(self, node, kinds):
        if isinstance(node, ast.Name) and node.id in self.kinds:
            self.kinds[node.id].extend(kinds)

    def visit_Call(self, node):
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in METHODS:
            self.say(function.value, _WIDER[METHODS[function.attr]])
        if isinstance(function, ast.Name) and node.args:
            known = {
                "len": ["str", "list[int]", "list[str]", "dict[str,int]"],
                "sum": ["list[int]"],
                "range": ["int"],
                "ord": ["char"],
                "chr": ["int"],
                "abs": ["int", "float"],
                "sorted": ["list[int]", "list[str]", "str"],
                "enumerate": ["list[int]", "str", "list[str]"],
                "zip": ["list[int]", "list[str]"],
                "max": ["list[int]", "int"],
                "min": ["list[int]", "int"],
                "int": ["digits", "int", "float"],
                "float": ["int", "float"],
                "set": ["list[int]", "str"],
                "reversed": ["list[int]", "str"],
            }.get(function.id, [])
            for argument in node.args:
                self.say(argument, known)
            if function.id == "isinstance" and len(node.args) == 2:
                classes = node.args[1]
                parts = classes.elts if isinstance(classes, ast.Tuple) else [classes]
                for part in parts:
                    self.say(node.args[0], _of_annotation(part))
        self.generic_visit(node)

    def visit_Compare(self, node):
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:]):
            if isinstance(operator, (ast.In, ast.NotIn)):
                self.say(right, ["str", "list[int]", "list[str]", "dict[str,int]"])
                if isinstance(right, (ast.List, ast.Tuple, ast.Set)) and right.elts:
                    self.say(left, _of_value(right.elts[0]))
                elif isinstance(right, ast.Constant):
                    self.say(left, ["char"])
            else:
                self.say(left, _of_value(right))
                self.say(right, _of_value(left))
                if isinstance(operator, (ast.Lt, ast.Gt, ast.LtE, ast.GtE)):
                    self.say(left, ["int", "float"])
                    self.say(right, ["int", "float"])
        self.generic_visit(node)

    def visit_BinOp(self, node):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            kinds = _of_value(other)
            if isinstance(node.op, (ast.Mod,)) and one is node.left and not kinds:
                kinds = ["int"]
            elif isinstance(node.op, (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow)):
                kinds = kinds or ["int", "float"]
            elif isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)):
                kinds = kinds or ["int", "set[int]"]
            self.say(one, kinds)
        self.generic_visit(node)

    def visit_For(self, node):
        self.say(node.iter, ["list[int]", "str", "list[str]", "dict[str,int]"])
        if isinstance(node.target, (ast.Tuple, ast.List)):
            self.say(node.iter, ["list[tuple]"])
        self.generic_visit(node)

    def visit_Subscript(self, node):
        inner = node.slice
        if type(inner).__name__ == "Index":
            inner = inner.value
        if isinstance(inner, ast.Slice):
            self.say(node.value, ["str", "list[int]", "list[str]"])
            for bound in (inner.lower, inner.upper, inner.step):
                self.say(bound, ["int"])
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            self.say(node.value, ["dict[str,int]"])
        else:
            self.say(
                node.value, ["list[int]", "str", "list[str]", "dict[int,str]", "list[list[int]]"]
            )
            self.say(inner, ["int", "str"])
        self.generic_visit(node)

    def visit_Starred(self, node):
        self.say(node.value, ["list[int]", "str"])
        self.generic_visit(node)


def guess(function):
    """{parameter: kinds}; a kind that has more evidence is there more often."""
    parameters = getattr(function.args, "posonlyargs", []) + function.args.args
    names = [one.arg for one in parameters]
    uses = _Uses(names)
    for statement in function.body:
        uses.visit(statement)
    defaults = dict(zip(reversed(names), reversed(function.args.defaults)))
    kinds = {}
    for one in parameters:
        annotated = _of_annotation(one.annotation) if one.annotation is not None else []
        if annotated:
            kinds[one.arg] = annotated * 3 + uses.kinds[one.arg][:4]
            continue
        found = list(uses.kinds[one.arg][:12])
        if one.arg in defaults:
            found += _of_value(defaults[one.arg]) * 2
        words = {one.arg, one.arg.rsplit("_", 1)[-1], one.arg.rstrip("0123456789s")}
        for word in sorted(words):
            for kind in NAMES.get(word, []):
                found += _WIDER[kind][:2]
        # Trial decides in the end: something else now and then.
        kinds[one.arg] = found * (3 if len(found) < 6 else 2) + list(ANY)
    return kinds
