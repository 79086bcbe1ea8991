"""Texts and serial numbers of values, without keeping any value alive.

PYTEST_DONT_REWRITE: this is no test code.
"""

import operator
import types
import weakref

import ndbg_safe_repr
from ndbg_trace_plan import MODERN_LOCALS
from ndbg_trace_snapshot import SCALARS, Snapshot, is_atom

# With the mark that says that something was cut off, a value has at most 2,000 characters.
LIMIT = ndbg_safe_repr.MAX_STATE - 1
# Their text never changes, so that the same object need not be looked at twice.
_NAMED = frozenset([types.FunctionType, types.ModuleType, type])
_WITHOUT_SERIAL = frozenset(
    [
        *SCALARS,
        *_NAMED,
        tuple,
        frozenset,
        range,
        slice,
        type(Ellipsis),
        type(NotImplemented),
        types.BuiltinFunctionType,
        types.MethodType,
    ]
)
# Neither lists nor dicts nor the rest of these can be referred to weakly.
_NOT_WEAK = frozenset([list, dict, bytearray])
_PURGE_AT = 4096
_REMEMBERED = 20_000


class Values:
    """The tables of one recording."""

    def __init__(self, stream):
        self._string = stream.string
        self._stream = stream
        # Exact int or str -> string id; no float, because 0.0 == -0.0.
        self.ints = {}
        self.texts = {}
        # id -> (weak reference, serial)
        self._weak = {}
        self._purge_at = _PURGE_AT
        # id -> (serial, activation state, variable), for what has no weak references.
        self.holders = {}
        self.none = stream.string("None")

    def text(self, value):
        """The string id of a value."""
        text, lossy = ndbg_safe_repr.fast_repr(value, LIMIT)
        return self._string(text, lossy)

    def scalar(self, value, cls):
        """The same for an exact scalar; those that come often are remembered."""
        found = self.text(value)
        table = self.ints if cls is int else self.texts if cls is str else None
        if table is not None and len(table) < _REMEMBERED:
            table[value] = found
        return found

    def unknown(self):
        return self._string(ndbg_safe_repr.ELLIPSIS, True)

    def next_serial(self):
        stream = self._stream
        with stream.lock:
            stream.serial += 1
            return stream.serial

    def weak_serial(self, value):
        """The serial of a value that can be referred to weakly; None when it cannot.

        Sound although ids come back: the reference tells whether it is still the same object.
        """
        key = id(value)
        known = self._weak.get(key)
        if known is not None and known[0]() is value:
            return known[1]
        try:
            reference = weakref.ref(value)
        except TypeError:
            return None
        if len(self._weak) >= self._purge_at:
            self._weak = {k: pair for k, pair in self._weak.items() if pair[0]() is not None}
            self._purge_at = max(_PURGE_AT, 2 * len(self._weak))
        serial = self.next_serial()
        self._weak[key] = (reference, serial)
        return serial


class Variables:
    """The variables of one frame, as they were at its last event.

    A serial of a list or dict is carried on only while it is proven that the variable held the
    object all the time: an object that is bound cannot be freed, so no other can have its id. The
    proof fails where one statement binds a variable twice, or another frame may rebind it.
    """

    __slots__ = ("_size", "held", "known", "named", "shots", "tokens", "values")

    def __init__(self, values):
        self.values = values
        # variable -> delta text `name=value[#serial]`
        self.tokens = {}
        # variable -> the scalar that it holds
        self.held = {}
        # variable -> Snapshot of the container that it holds, or None
        self.shots = {}
        # variable -> weak reference to the function, class or module that it holds
        self.named = {}
        # variable -> (id, serial, value text id), for what has a serial and no weak reference
        self.known = {}
        self._size = 0

    def changes(self, frame, state, statement):
        """Deltas since the last event, each with a blank before it.

        `statement`: line of the statement that ran since then.
        """
        plan = state.plan
        namespace = _variables(frame) if plan.optimized else _namespace(frame, plan)
        if namespace is None:
            return ""
        held, shots, names, tokens = self.held, self.shots, plan.names, self.tokens
        ints, texts = self.values.ints, self.values.texts
        deltas = ""
        fresh = 0
        hidden = False
        unsettled = None
        for variable, value in namespace.items():
            if held.get(variable, held) is value:
                continue
            try:
                name = names[variable]
            except KeyError:
                name = plan.name(variable)
            if name is None:
                hidden = True
                continue
            cls = type(value)
            # A metaclass may have a `__hash__` of its own.
            exact = type(cls) is type
            if exact and cls in SCALARS:
                if cls is int:
                    text = ints.get(value)
                elif cls is str:
                    text = texts.get(value)
                else:
                    text = None
                if text is None:
                    text = self.values.scalar(value, cls)
                token = f" {name}={text}"
                held[variable] = value
                if shots:
                    shots.pop(variable, None)
                if self.named:
                    self.named.pop(variable, None)
                if self.known:
                    self.known.pop(variable, None)
            elif exact and cls in _WITHOUT_SERIAL:
                if cls in _NAMED:
                    reference = self.named.get(variable)
                    if reference is not None and reference() is value and variable in tokens:
                        continue
                    self.named[variable] = weakref.ref(value)
                elif self.named:
                    self.named.pop(variable, None)
                if cls is tuple and is_atom(value):
                    held[variable] = value
                else:
                    held.pop(variable, None)
                if shots:
                    shots.pop(variable, None)
                token = f" {name}={self.values.text(value)}"
                self.known.pop(variable, None)
            else:
                shot = shots.get(variable)
                if shot is not None and shot.shows(value):
                    continue
                held.pop(variable, None)
                if self.named:
                    self.named.pop(variable, None)
                serial = None if exact and cls in _NOT_WEAK else self.values.weak_serial(value)
                text = self.values.text(value)
                shots[variable] = Snapshot.of(value, cls)
                if serial is None:
                    serial = self._continued(plan, variable, value, text, statement)
                    if serial is None:
                        if unsettled is None:
                            unsettled = []
                        unsettled.append((variable, name, value, text))
                        # Its place in the order of names is here.
                        if variable not in tokens:
                            tokens[variable] = None
                            fresh += 1
                        continue
                elif self.known:
                    self.known.pop(variable, None)
                token = f" {name}={text}#{serial}"
            old = tokens.get(variable)
            if old != token:
                if old is None:
                    fresh += 1
                tokens[variable] = token
                deltas += token
        if unsettled is not None:
            deltas += self._settle(unsettled, frame, state)
        size = len(namespace)
        if hidden or size < self._size + fresh:
            deltas += self._unbound(namespace, names)
        self._size = size
        return deltas

    def _continued(self, plan, variable, value, text, statement):
        """The serial that the variable's object had, if this is proven to be the same one."""
        last = self.known.get(variable)
        if last is None or last[0] != id(value):
            return None
        if last[2] != text:
            if variable in plan.shared or variable in plan.repeated.get(statement, ()):
                return None
            self.known[variable] = (last[0], last[1], text)
        return last[1]

    def _settle(self, unsettled, frame, state):
        """Serials of objects that no variable of this frame is known to have held before."""
        values, known = self.values, self.known
        here = {}
        waiting = {variable for variable, _, _, _ in unsettled}
        for variable, (key, serial, _) in known.items():
            if variable not in waiting:
                here[key] = serial
        deltas = ""
        for variable, name, value, text in unsettled:
            key = id(value)
            serial = here.get(key) or self._of_caller(frame, value) or values.next_serial()
            here[key] = serial
            known[variable] = (key, serial, text)
            values.holders[key] = (serial, state, variable)
            self.tokens[variable] = token = f" {name}={text}#{serial}"
            deltas += token
        return deltas

    def _of_caller(self, frame, value):
        """The serial under which a caller's variable holds the object right now."""
        holder = self.values.holders.get(id(value))
        if holder is None:
            return None
        serial, state, variable = holder
        if state.plan.stateless or state.variables is None:
            return None
        caller = frame.f_back
        while caller is not None:
            if getattr(caller.f_trace, "__self__", None) is state:
                last = state.variables.known.get(variable)
                proven = (
                    last is not None
                    and last[0] == id(value)
                    and variable not in state.plan.shared
                    and variable not in state.plan.repeated.get(state.group, ())
                    and caller.f_locals.get(variable) is value
                )
                return serial if proven else None
            caller = caller.f_back
        return None

    def _unbound(self, namespace, names):
        deltas = ""
        for variable in [one for one in self.tokens if one not in namespace]:
            deltas += f" {names[variable]}=-"
            del self.tokens[variable]
            self.held.pop(variable, None)
            self.shots.pop(variable, None)
            self.named.pop(variable, None)
            self.known.pop(variable, None)
        return deltas

    def all(self):
        """Every variable, as a delta."""
        return "".join([token for token in self.tokens.values() if token])

    def release(self, state):
        """The frame is gone: its variables vouch for nothing any more."""
        holders = self.values.holders
        for key, _, _ in self.known.values():
            holder = holders.get(key)
            if holder is not None and holder[1] is state:
                del holders[key]


if MODERN_LOCALS:

    def _variables(frame):
        # A proxy that writes through and reads every variable anew.
        return dict(frame.f_locals)

else:
    _variables = operator.attrgetter("f_locals")


def _namespace(frame, plan):
    """The variables of a module or class body, copied: such bodies may bind names at any time."""
    namespace = frame.f_locals
    if issubclass(type(namespace), dict):
        # `__prepare__` may have given a subclass.
        return dict(dict.items(namespace))
    # Within a comprehension 3.13 shows a proxy of its variables alone; and `exec` takes mappings.
    return dict(frame.f_globals) if plan.module and MODERN_LOCALS else None
