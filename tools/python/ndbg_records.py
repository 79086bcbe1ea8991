"""The side channel: JSON lines appended to a file, each in one write.

PYTEST_DONT_REWRITE: this is no test code.
"""

import json
import os


def clip(text, limit):
    """Shorten `text` to about `limit` characters, keeping its head and its tail."""
    if limit is None or len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    left_out = f"\n… {len(text) - limit} characters left out …\n"
    return text[:head] + left_out + text[len(text) - tail :]


def encode(record):
    """One line of JSON as bytes. ASCII only, so that lone surrogates do not break it."""
    return (json.dumps(record, ensure_ascii=True, separators=(",", ":")) + "\n").encode("ascii")


def write_all(fd, data):
    """Write every byte of `data` to `fd`; one system call unless the kernel takes fewer."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


class Records:
    """Writes records; silent in forked children, which share the file descriptor."""

    def __init__(self, path, token):
        self._token = token
        self._pid = os.getpid()
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        self._fd = above_standard_streams(os.open(path, flags, 0o600))

    def emit(self, kind, **fields):
        # A test may fork, and its child may fall through into pytest's own reporting: what such
        # a child says about the session is not a result.
        if os.getpid() != self._pid:
            return
        record = {"t": kind, "k": self._token}
        record.update(fields)
        try:
            write_all(self._fd, encode(record))
        except OSError:
            # The file descriptor was closed by the code under test (os.closerange). There is no
            # finish record then, so the run does not count as complete.
            pass

    def note(self, message):
        self.emit("note", message=message)


def above_standard_streams(fd):
    """Move a descriptor away from 0–2, which capturing and daemons close and replace.

    And from the next free ones, which a test that opens descriptors by number would get and close.
    """
    if fd >= 64:
        return fd
    try:
        import fcntl
    except ImportError:
        return fd
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64)
    os.close(fd)
    return moved
