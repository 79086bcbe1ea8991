"""What is known of one code object before it runs: decided once, looked up at every call.

PYTEST_DONT_REWRITE: this is no test code.
"""

import dis
import inspect
import sys
import zlib

import ndbg_paths

MODERN_LOCALS = sys.version_info >= (3, 13)
# Since 3.12 comprehensions run in the frame around them, and leave their variables in it.
_INLINED = sys.version_info >= (3, 12)
# Reading f_locals refreshes the dictionary that `locals()` gave to the program; up to 3.10 every
# event does, whether the tracer reads it or not.
_ANY_EVENT_REFRESHES = sys.version_info < (3, 11)
_SEES_LOCALS = frozenset(["locals", "vars"])
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_OPTIMIZED = inspect.CO_OPTIMIZED

COMPREHENSIONS = frozenset(["<listcomp>", "<dictcomp>", "<setcomp>"])
_HIDDEN_EVERYWHERE = frozenset(["__class__", "__classdict__"])
# What the interpreter puts into the namespaces of modules and classes.
_NAMESPACE_NAMES = frozenset(
    [
        "__annotate__",
        "__annotations__",
        "__builtins__",
        "__cached__",
        "__conditional_annotations__",
        "__doc__",
        "__file__",
        "__firstlineno__",
        "__loader__",
        "__module__",
        "__name__",
        "__package__",
        "__qualname__",
        "__spec__",
        "__static_attributes__",
    ]
)


def _opcodes(*names):
    return frozenset(dis.opmap[name] for name in names if name in dis.opmap)


RETURNS = _opcodes("RETURN_VALUE", "RETURN_CONST")
_YIELDS = _opcodes("YIELD_VALUE", "YIELD_FROM")
# Where a loop or an await takes note of StopIteration: an end, not an error.
LOOP_ENDS = _opcodes("FOR_ITER", "YIELD_FROM", "SEND", "END_SEND", "GET_ANEXT", "END_ASYNC_FOR")
_YIELD_FROM = dis.opmap.get("YIELD_FROM")
_RESUME = dis.opmap.get("RESUME")


class Plan:
    """How to record the activations of one code object.

    number: id of the code object in the stream, None before its first call.
    first: line of the `def`.
    lines: line -> first line of its statement, where they differ; None for an opaque node.
    generated: code from a string whose text is not known.
    silent: the local tracer must not run at all, or the program would notice.
    stateless: locals are read at the call alone, for the same reason.
    names: variable -> its string id in the stream, or None when it is not shown.
    """

    __slots__ = (
        "bytes",
        "call",
        "clashes",
        "code",
        "digest",
        "entry",
        "expression",
        "first",
        "generated",
        "generator",
        "lines",
        "loops",
        "module",
        "names",
        "number",
        "optimized",
        "repeated",
        "shared",
        "silent",
        "stateless",
        "stream",
        "hidden",
    )

    def __init__(self, code, stream, sources, states):
        name, top = code.co_name, code.co_firstlineno
        key = (name, top)
        source = sources.find(code.co_filename)
        self.code = code
        self.stream = stream
        self.bytes = code.co_code
        # Compiled from a string: worth an opaque node where recorded code calls it, and noise where
        # the standard library does.
        self.generated = source is None and code.co_filename.startswith("<")
        self.generator = bool(code.co_flags & _GENERATORS)
        self.optimized = bool(code.co_flags & _OPTIMIZED)
        self.module = name == "<module>"
        self.expression = name in ("<lambda>", "<genexpr>")
        self.hidden = self.clashes = frozenset()
        self.first, self.lines, self.loops = top, None, ()
        self.repeated, self.shared = {}, frozenset()
        qualname = getattr(code, "co_qualname", None) or name
        if source is not None:
            self.first, known = source.defs.get(key, (top, qualname))
            qualname = getattr(code, "co_qualname", known)
            self.lines, self.loops = source.groups, source.loops
            self.repeated = source.repeated
            if _INLINED:
                self.hidden = source.hidden.get(key, self.hidden)
                self.clashes = source.clashes.get(key, self.clashes)
            cells = code.co_cellvars + code.co_freevars
            self.shared = source.shared if self.module else source.shared.intersection(cells)
        exposed = not MODERN_LOCALS and self.optimized and _sees_locals(code, source)
        self.silent = exposed and _ANY_EVENT_REFRESHES
        self.stateless = exposed
        if exposed and (self.silent or states):
            stream.note(
                f"{qualname} reads its own locals(), which recording would change:"
                f" its {'lines' if self.silent else 'states'} are not recorded"
            )
        self.names = {}
        self.call = f" {self.first} c"
        text = sources.texts.get(code.co_filename)
        path = ndbg_paths.absolute(code.co_filename) if text is None else code.co_filename
        # What the stream is to be told at the first call.
        self.entry = (path, source is not None, text, qualname, self._flags(source))
        self.number = None
        # Stands for the code object in digests: the same on every version and in every run.
        self.digest = (1 << 40) + _hash_text(f"{path}:{name}:{self.first}")

    def define(self):
        """Write the code object's entries; returns its number."""
        path, source, text, qualname, flags = self.entry
        file = self.stream.file(path, source, text)
        self.number = self.stream.code(file, qualname, self.first, flags)
        return self.number

    def _flags(self, source):
        flags = self.code.co_flags
        letters = "g" if flags & inspect.CO_GENERATOR else ""
        letters += "c" if flags & inspect.CO_COROUTINE else ""
        letters += "a" if flags & inspect.CO_ASYNC_GENERATOR else ""
        letters += "l" if self.code.co_name == "<lambda>" else ""
        letters += "m" if self.module else ""
        letters += "k" if not self.optimized and not self.module else ""
        return letters + ("o" if source is None else "")

    def name(self, variable):
        """The id of a variable's name, or None for one that the program did not write."""
        if (
            type(variable) is not str
            or variable.startswith(("@", "."))
            or variable in _HIDDEN_EVERYWHERE
            or variable in self.hidden
            or (not self.optimized and variable in _NAMESPACE_NAMES)
        ):
            found = None
        else:
            found = self.stream.string(variable)
        self.names[variable] = found
        return found

    def yields(self, position):
        """Whether a generator that leaves at this instruction is to be resumed."""
        code = self.bytes
        if not 0 <= position < len(code):
            return False
        operation = code[position]
        if operation in _YIELDS:
            return True
        if operation == _RESUME:
            # 3.13 has already stepped on; the argument tells a resumption from the beginning.
            return code[position + 1] & 3 != 0
        # Up to 3.10 a suspended `yield from` stands one instruction earlier, to run again.
        following = position + 2
        return (
            _YIELD_FROM is not None
            and following < len(code)
            and code[following] == _YIELD_FROM
            and operation not in RETURNS
        )


def _sees_locals(code, source):
    names = code.co_names
    if _SEES_LOCALS.isdisjoint(names):
        return False
    if "@py_builtins" not in names or source is None:
        return True
    # pytest's assertions ask for locals() to explain a failure, and only look names up in it.
    return any(line in source.sees_locals for _, line in dis.findlinestarts(code))


def _hash_text(text):
    """A number of 32 bits that does not depend on the hash seed."""
    return zlib.crc32(text.encode("utf-8", "backslashreplace"))
