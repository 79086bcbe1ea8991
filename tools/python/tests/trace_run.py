"""Runs scripts under the recorder in a process of their own, and reads the raw stream back."""

import json
import os
import subprocess
import textwrap
from collections import namedtuple

TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# state: {variable: text}, whole, in the order of binding; serials: {variable: number};
# value: text of what was returned or raised; how: of a call or return, or an exception's type.
Event = namedtuple("Event", "kind act frame parent thread func line how value state serials test")


class Recording:
    """A raw stream, checked while it is read: every id is defined before it is used."""

    def __init__(self, path):
        data = path.read_bytes()
        assert data.endswith(b"\n")
        self.text = data.decode("ascii")
        lines = self.text.splitlines()
        assert lines[0].startswith("H ")
        self.header = json.loads(lines[0][2:])
        self.files, self.codes, self.strings, self.threads = [], [], [], []
        self.lossy = set()
        self.notes, self.boundaries, self.outcomes, self.events = [], [], [], []
        self.end = None
        self.acts = {}
        self.frames = {}
        self._frames = 0
        self._test = None
        for line in lines[1:]:
            assert self.end is None, "nothing follows the end"
            getattr(self, "_read_" + line[0])(line[2:])

    def _read_F(self, rest):
        self.files.append(json.loads(rest))

    def _read_K(self, rest):
        file, name, first, flags = rest.split(" ")
        self.codes.append(
            (self.files[int(file)]["name"], self.strings[int(name)], int(first), flags)
        )

    def _read_S(self, rest):
        self.strings.append(json.loads(rest))

    def _read_L(self, rest):
        self.lossy.add(len(self.strings))
        self._read_S(rest)

    def _read_T(self, rest):
        self.threads.append(json.loads(rest))

    def _read_B(self, rest):
        kind, name = rest.split(" ", 1)
        name = json.loads(name)
        self.boundaries.append((kind, name))
        if kind != "phase":
            self._test = name

    def _read_X(self, rest):
        word, _, why = rest.partition(" ")
        self.outcomes.append((self._test, word, json.loads(why) if why else None))

    def _read_N(self, rest):
        self.notes.append(json.loads(rest))

    def _read_E(self, rest):
        self.end = json.loads(rest)

    def _read_c(self, rest):
        act, frame, parent, thread, code, line, how, *deltas = rest.split(" ")
        assert int(act) == len(self.acts), "activations are numbered as they begin"
        frame = int(frame)
        if how == "c" or frame not in self.frames:
            assert frame == self._frames
            self._frames += 1
            self.frames[frame] = ({}, {})
        assert parent == "-" or int(parent) in self.acts
        self.acts[int(act)] = (frame, parent, self.threads[int(thread)], self.codes[int(code)][1])
        self._event("c", act, line, how, None, deltas)

    def _read_l(self, rest):
        act, line, *deltas = rest.split(" ")
        self._event("l", act, line, None, None, deltas)

    def _read_r(self, rest):
        act, line, value, how, *deltas = rest.split(" ")
        self._event("r", act, line, how, self.strings[int(value)], deltas)

    def _read_x(self, rest):
        act, line, kind, value, *deltas = rest.split(" ")
        self._event("x", act, line, self.strings[int(kind)], self.strings[int(value)], deltas)

    def _event(self, kind, act, line, how, value, deltas):
        frame, parent, thread, func = self.acts[int(act)]
        state, serials = self.frames[frame]
        for delta in deltas:
            name, text = delta.split("=")
            name = self.strings[int(name)]
            if text == "-":
                del state[name]
                serials.pop(name, None)
                continue
            text, _, serial = text.partition("#")
            state[name] = self.strings[int(text)]
            serials.pop(name, None)
            if serial:
                serials[name] = int(serial)
        parent = None if parent == "-" else int(parent)
        self.events.append(
            Event(
                kind, int(act), frame, parent, thread, func, int(line), how, value,
                dict(state), dict(serials), self._test,
            )
        )  # fmt: skip

    def all(self, kind=None, func=None):
        """Events of a kind in functions of that plain name."""
        return [
            one
            for one in self.events
            if (kind is None or one.kind == kind)
            and (func is None or one.func.split(".")[-1] == func)
        ]

    def lines(self, func):
        return [one.line for one in self.all("l", func)]

    def shape(self, func):
        """Events of a function as short texts: `c5c l6 r6y`."""
        return " ".join(
            "{}{}{}".format(e.kind, e.line, e.how if e.kind in "cr" else "")
            for e in self.all(func=func)
        )

    def states(self, func, line):
        return [one.state for one in self.all("l", func) if one.line == line]

    def caller(self, event):
        return None if event.parent is None else self.acts[event.parent][3]

    def is_lossy(self, text):
        return all(i in self.lossy for i, one in enumerate(self.strings) if one == text)


Ran = namedtuple("Ran", "code out err")


class Script:
    """A script in a folder of its own, run plain or recorded."""

    def __init__(self, folder, python, source, name="script.py"):
        self.folder = folder
        self.python = python
        self.path = folder / name
        self.path.write_text(textwrap.dedent(source).lstrip("\n"), encoding="utf-8")
        self._runs = 0

    def _run(self, command, env):
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONHASHSEED="0")
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            [self.python, *command],
            cwd=str(self.folder),
            env=dict(environment, **(env or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def plain(self, *arguments, env=None):
        return self._run([self.path.name, *arguments], env)

    def record(self, *arguments, env=None, **config):
        """Returns (Ran, Recording)."""
        self._runs += 1
        out = self.folder / f"run{self._runs}.raw"
        config = dict({"script": self.path.name, "args": arguments, "out": str(out)}, **config)
        path = self.folder / f"run{self._runs}.json"
        path.write_text(json.dumps(config))
        ran = self._run([os.path.join(TOOLS, "ndbg_trace_script.py"), str(path)], env)
        return ran, Recording(out)
