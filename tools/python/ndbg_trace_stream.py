"""The raw stream of a recording: tables of strings, files and code objects, and batches of events.

One record a line, append only. Tables number their entries by the order in which they are
written, so that an entry is always written before its number is used.

PYTEST_DONT_REWRITE: this is no test code.
"""

import json
import os
import signal
import sys
import threading
import weakref
import zlib
from array import array
from json.encoder import encode_basestring_ascii

import ndbg_records

VERSION = 1
# Lines held back before they are written; the last ones are lost when the process is killed.
# Writing costs a few microseconds, which this many events share.
BATCH = 200
# Texts whose numbers are remembered. A text that comes back after this gets a second number.
MAX_INTERNED = 200_000

_set_mask = getattr(signal, "pthread_sigmask", None)
_INTERRUPTING = frozenset(
    getattr(signal, name)
    for name in ("SIGALRM", "SIGHUP", "SIGINT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGVTALRM")
    if hasattr(signal, name)
)

_EVENTS = (b"\nc ", b"\nl ", b"\nr ", b"\nx ")
_FIRST = (b"c ", b"l ", b"r ", b"x ")

_streams = weakref.WeakSet()


def _silence_child():
    """After fork(): the child shares the file, and what it holds back is the parent's to write."""
    for stream in list(_streams):
        stream.detach()


def _tell_parent():
    for stream in list(_streams):
        stream.note("the process forked: what the child ran is not recorded")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_silence_child, after_in_parent=_tell_parent)


def write_before_termination(stream):
    """Lets SIGTERM, with which a run past its limit is ended, write what is held back first.

    Only where the signal has its default effect, and only in the main thread, which alone may say.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return

    def write_and_die(number, _frame):
        stream.flush()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, write_and_die)


def writable(text):
    """`text` without lone surrogates, which JSON readers reject."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text


class TraceStream:
    """Owns the file, the tables and the counters of one recording; safe to use from all threads.

    `lines` is the batch: events are appended to it directly, because a method call per event would
    cost more than the event. `calls_seen` and `lines_seen` collect numbers that stand for the
    structure of the run, calls alone and calls with lines.
    """

    def __init__(self, path, what, argv=None, cwd=None):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        self._fd = ndbg_records.above_standard_streams(os.open(path, flags, 0o600))
        self._pid = os.getpid()
        self.lines = []
        self.lock = threading.RLock()
        # False in a forked child and after end().
        self.live = True
        self.act = 0
        self.frame = 0
        self.serial = 0
        self.bytes = 0
        # Events written.
        self.events = 0
        self.lost = {}
        self.calls_seen = []
        self.lines_seen = []
        self._digests = [0, 0]
        self._exact = {}
        self._lossy = {}
        self._strings = 0
        self._files = {}
        self._file_count = 0
        self._codes = 0
        self._threads = 0
        # `number`: id of the thread that looks, once it has one.
        self.numbers = threading.local()
        self._notes = set()
        _streams.add(self)
        header = {
            "format": "ndbg-raw",
            "version": VERSION,
            "python": "{}.{}.{}".format(*sys.version_info[:3]),
            "pid": self._pid,
            "what": what,
            "argv": [writable(word) for word in (sys.argv if argv is None else argv)],
            "cwd": writable(os.getcwd() if cwd is None else cwd),
        }
        self.lines.append("H " + json.dumps(header, separators=(",", ":")))
        self.flush()

    def string(self, text, lossy=False):
        """The number of a text, as a string of digits; `lossy`: it is no literal of its value."""
        table = self._lossy if lossy else self._exact
        found = table.get(text)
        return self._define(table, text, "L " if lossy else "S ") if found is None else found

    def _define(self, table, text, kind):
        line = kind + encode_basestring_ascii(writable(text))
        with self.lock:
            number = table.get(text)
            if number is None:
                if len(table) >= MAX_INTERNED:
                    table.clear()
                number = str(self._strings)
                self._strings += 1
                self.lines.append(line)
                table[text] = number
        return number

    def file(self, name, source, text=None):
        """The number of a file; `text`: its source, where it cannot be read from disk."""
        with self.lock:
            number = self._files.get(name)
            if number is None:
                number = self._files[name] = self._file_count
                self._file_count += 1
                fields = {"name": writable(name)}
                if text is not None:
                    fields["text"] = writable(text)
                else:
                    fields["source"] = source
                self.lines.append("F " + json.dumps(fields, separators=(",", ":")))
        return number

    def forget_file(self, name):
        """The next code of that name gets a file number of its own."""
        self._files.pop(name, None)

    def code(self, file, qualname, first, flags):
        name = self.string(qualname)
        with self.lock:
            number = self._codes
            self._codes += 1
            self.lines.append(f"K {file} {name} {first} {flags or '-'}")
        return number

    def thread(self, name):
        with self.lock:
            number = self._threads
            self._threads += 1
            self.lines.append("T " + encode_basestring_ascii(writable(name)))
        return number

    def boundary(self, kind, name):
        """`test` and node id, `phase` and its name, `function` and id."""
        if self.live:
            self.lines.append(f"B {kind} {encode_basestring_ascii(writable(name))}")

    def outcome(self, word, why=None):
        """How the program of the last boundary ended: normal, error or never.

        why: what its recording lacks, if it is not whole.
        """
        if self.live:
            rest = "" if why is None else " " + encode_basestring_ascii(why)
            self.lines.append(f"X {word}{rest}")

    def note(self, message):
        """A sentence for the person, once."""
        with self.lock:
            if self.live and message not in self._notes:
                self._notes.add(message)
                self.lines.append("N " + encode_basestring_ascii(writable(message)))

    def flush(self):
        """Write the batch, and take it into the digests of the structure."""
        if os.getpid() != self._pid:
            # A fork that no hook told of.
            self.detach()
        with self.lock:
            count = len(self.lines)
            if not self.live or not count:
                return
            # A handler of the program that raises here would cost the batch, and with it the ids
            # that it defines.
            before = _set_mask(signal.SIG_BLOCK, _INTERRUPTING) if _set_mask else None
            try:
                self._write(count)
            finally:
                if before is not None:
                    _set_mask(signal.SIG_SETMASK, before)

    def _write(self, count):
        # Other threads may append meanwhile, without the lock.
        data = "\n".join(self.lines[:count]).encode("ascii") + b"\n"
        del self.lines[:count]
        self.bytes += len(data)
        # A string has no line feeds, so a record's first letters tell what it is.
        self.events += sum(map(data.count, _EVENTS)) + (data[:2] in _FIRST)
        for index, seen in enumerate((self.calls_seen, self.lines_seen)):
            part = seen[:]
            del seen[: len(part)]
            self._digests[index] = zlib.crc32(array("Q", part).tobytes(), self._digests[index])
        try:
            ndbg_records.write_all(self._fd, data)
        except OSError as error:
            # The descriptor was closed by the program, or the disk is full.
            name = "not written: " + (error.strerror or "?")
            self.lost[name] = self.lost.get(name, 0) + count

    def structure(self):
        """Digests of the calls, and of calls and lines, written so far: two runs compare them."""
        self.flush()
        return {"calls": f"{self._digests[0]:08x}", "lines": f"{self._digests[1]:08x}"}

    def end(self, record):
        """Write the last record and close the file."""
        if not self.live:
            return
        self.flush()
        dropped = record["dropped"]
        for reason, count in self.lost.items():
            dropped[reason] = dropped.get(reason, 0) + count
        with self.lock:
            self.lines.append("E " + json.dumps(record, separators=(",", ":")))
            self.flush()
            self.detach()

    def detach(self):
        """Write nothing any more; the descriptor is closed, its file stays as it is."""
        if self.live:
            self.live = False
            self.lines = []
            try:
                os.close(self._fd)
            except OSError:
                pass
