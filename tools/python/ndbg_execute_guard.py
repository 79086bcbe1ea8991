"""What calls of a user's function may not do: reach the network, start processes, write outside.

An audit hook cannot be taken out again, and it sees what C code does on behalf of Python. It stops
mistakes, not attacks: the process has its user's rights.

PYTEST_DONT_REWRITE: this is no test code.
"""

import os
import sys

_NETWORK = (
    "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname",
    "socket.sendto", "socket.sendmsg",
)  # fmt: skip
_PROCESSES = (
    "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn",
    "os.spawn", "os.startfile", "os.kill", "os.killpg", "pty.spawn",
)  # fmt: skip
_CHANGES = (
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate",
    "os.chmod", "os.chown", "os.utime", "shutil.rmtree", "shutil.move", "shutil.copyfile",
)  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Guard:
    """`refused` says what was refused last, even where the code under test hides it."""

    def __init__(self, folder):
        self.folder = os.path.realpath(folder)
        self.refused = None
        kinds = dict.fromkeys(_NETWORK, "network")
        kinds.update(dict.fromkeys(_PROCESSES, "processes"))
        kinds.update(dict.fromkeys(_CHANGES, "changes"))
        kinds["open"] = "open"
        self._kinds = kinds

    def install(self):
        kinds, look = self._kinds, self._look

        def hook(event, arguments):
            kind = kinds.get(event)
            if kind is not None:
                look(kind, event, arguments)

        sys.addaudithook(hook)

    def close(self):
        """From now on no libraries either: they could do what is refused. Imports may need them."""
        self._kinds["ctypes.dlopen"] = "libraries"

    def _look(self, kind, event, arguments):
        if kind == "open":
            path, mode, flags = (tuple(arguments) + (None, None, None))[:3]
            writing = (
                any(letter in mode for letter in "wax+")
                if isinstance(mode, str)
                else bool(isinstance(flags, int) and flags & _WRITING)
            )
            if not writing or isinstance(path, int) or self._inside(path):
                return
            self._refuse("writing to files outside of its folder", event)
        elif kind == "changes":
            paths = [path for path in arguments[:2] if isinstance(path, (str, bytes, os.PathLike))]
            if all(self._inside(path) for path in paths):
                return
            self._refuse("changing files outside of its folder", event)
        elif kind == "network":
            self._refuse("the network", event)
        elif kind == "libraries":
            self._refuse("other libraries", event)
        else:
            self._refuse("other processes", event)

    def _inside(self, path):
        try:
            full = os.path.realpath(os.fsdecode(path))
        except (TypeError, ValueError):
            return False
        return full == os.devnull or full.startswith(self.folder + os.sep)

    def _refuse(self, what, event):
        self.refused = what
        raise PermissionError("refused while inputs are searched: " + event)
