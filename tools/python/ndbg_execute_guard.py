"""What calls of a user's function may not do: reach the network, start processes, write outside.

An audit hook cannot be taken out again, and it sees what C code does on behalf of Python. It says
in words what was refused; where the kernel can, `ndbg_execute_landlock` holds back what it does not
see. What Python tells no hook of is wrapped.

PYTEST_DONT_REWRITE: this is no test code.
"""

import errno
import functools
import os
import signal
import sys
import time

WRITING = "writing to files outside of its folder"
CHANGING = "changing files outside of its folder"
NETWORK = "the network"
PROCESSES = "other processes"
LIBRARIES = "other libraries"
SYSTEM = "settings of the system"

_KINDS = {
    NETWORK: (
        "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname",
        "socket.gethostbyaddr", "socket.getnameinfo", "socket.sendto", "socket.sendmsg",
    ),
    PROCESSES: (
        "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn",
        "os.spawn", "os.startfile", "os.kill", "os.killpg", "pty.spawn",
    ),
    LIBRARIES: ("sqlite3.load_extension", "sqlite3.enable_load_extension"),
    SYSTEM: ("socket.sethostname", "syslog.openlog", "syslog.syslog"),
}  # fmt: skip

# Where the paths of a change stand among its arguments, with the descriptors that they begin at.
# An entry of a folder changes with the folder, whatever a link of that name leads to.
_ENTRIES = {
    "os.remove": ((0, 1),), "os.rmdir": ((0, 1),), "os.mkdir": ((0, 2),),
    "os.rename": ((0, 2), (1, 3)), "os.symlink": ((1, 2),), "shutil.rmtree": ((0, 1),),
    "shutil.move": ((0, None), (1, None)),
}  # fmt: skip
# What a file is, through links; a link of its own, too.
_FILES = {
    "os.truncate": ((0, None),), "os.chmod": ((0, 2),), "os.chown": ((0, 3),),
    "os.utime": ((0, 3),), "os.setxattr": ((0, None),), "os.removexattr": ((0, None),),
    "os.chflags": ((0, None),), "os.lchflags": ((0, None),), "os.link": ((0, 2), (1, 3)),
    "fcntl.ioctl": ((0, None),), "os.lchmod": ((0, None),),
}  # fmt: skip

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# `file:` names of databases that are only read.
_READING = ("mode=ro", "mode=memory", "immutable=1")

# Python tells no hook of these.
_SILENT_CHANGES = ("mkfifo", "mknod")
_SILENT_SYSTEM = (
    "nice", "setpriority", "sched_setscheduler", "sched_setparam", "sched_setaffinity", "chroot",
)  # fmt: skip


def _path_of(descriptor):
    """What a descriptor leads to; None where nothing says."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        pass
    try:
        import fcntl

        # macOS: F_GETPATH.
        return os.fsdecode(fcntl.fcntl(descriptor, 50, bytes(1024)).partition(b"\0")[0])
    except (ImportError, OSError, ValueError):
        return None


def _named(path, descriptor):
    """A path as it is meant: from a folder's descriptor, or a descriptor itself."""
    if isinstance(path, int):
        return _path_of(path)
    path = os.fsdecode(path)
    if isinstance(descriptor, int) and descriptor >= 0 and not os.path.isabs(path):
        folder = _path_of(descriptor)
        return None if folder is None else os.path.join(folder, path)
    return path


class Guard:
    """`refused` says what was refused last, even where the code under test hides it.

    `what` is the path, or the event. `moved` says whether the current folder may be another one.
    """

    def __init__(self, folder):
        self.folder = os.path.realpath(folder)
        self.refused = self.what = None
        self.moved = False
        # Whether the kernel refuses, too, and says nothing but that something is not permitted.
        self.held = False
        looks = {event: self._never(what) for what, events in _KINDS.items() for event in events}
        looks.update((event, self._entries(places)) for event, places in _ENTRIES.items())
        looks.update((event, self._files(places)) for event, places in _FILES.items())
        looks["open"] = self._open
        looks["sqlite3.connect"] = self._database
        looks["resource.prlimit"] = self._limits
        looks["os.chdir"] = self._chdir
        self._looks = looks

    def install(self):
        looks = self._looks

        def hook(event, arguments):
            look = looks.get(event)
            if look is not None:
                look(event, arguments)

        sys.addaudithook(hook)
        for name in _SILENT_CHANGES:
            self._wrap(os, name, self._made)
        for name in _SILENT_SYSTEM:
            self._wrap(os, name, self._system)
        for name in ("clock_settime", "clock_settime_ns"):
            self._wrap(time, name, self._system)
        self._wrap(signal, "pidfd_send_signal", self._signal)
        self._wrap(os, "open", self._opened)

    def close(self):
        """From now on no libraries either: they could do what is refused. Imports may need them."""
        self._looks["ctypes.dlopen"] = self._never(LIBRARIES)
        self.reset()

    def reset(self):
        self.refused = self.what = None
        if self.moved:
            os.chdir(self.folder)
            self.moved = False

    # Looks: at an event and its arguments

    def _never(self, what):
        return lambda event, _arguments: self._refuse(what, event)

    def _entries(self, places):
        def look(event, arguments):
            for path, descriptor in self._of(places, arguments):
                if not self._entry_inside(path, descriptor):
                    self._refuse(CHANGING, event, path)

        return look

    def _files(self, places):
        def look(event, arguments):
            for path, descriptor in self._of(places, arguments):
                if not self._file_inside(path, descriptor):
                    self._refuse(CHANGING, event, path)

        return look

    def _of(self, places, arguments):
        for path, descriptor in places:
            if path < len(arguments):
                within = descriptor is not None and descriptor < len(arguments)
                yield arguments[path], (arguments[descriptor] if within else None)

    def _open(self, event, arguments):
        path, mode, flags = (tuple(arguments) + (None, None, None))[:3]
        if isinstance(mode, str):
            writing = any(letter in mode for letter in "wax+")
        else:
            writing = bool(isinstance(flags, int) and flags & _WRITING)
        if writing and not isinstance(path, int) and not self._may_write(path):
            self._refuse(WRITING, event, path)

    def _database(self, event, arguments):
        name = arguments[0] if arguments else None
        if not isinstance(name, (str, bytes, os.PathLike)):
            return
        name = os.fsdecode(name)
        if name in ("", ":memory:"):
            return
        if name.startswith("file:"):
            name, _, query = name[len("file:") :].partition("?")
            if name == ":memory:" or any(part in _READING for part in query.split("&")):
                return
            # As an address has it: `file:///path` and `file://localhost/path`.
            name = name[len("//localhost") :] if name.startswith("//localhost/") else name
            import urllib.parse

            name = urllib.parse.unquote(name)
        if not self._may_write(name):
            self._refuse(WRITING, event, name)

    def _limits(self, event, arguments):
        if arguments and arguments[0] not in (0, os.getpid()):
            self._refuse(PROCESSES, event)

    def _chdir(self, _event, _arguments):
        self.moved = True

    # Wrappers: given what the function is given

    def _wrap(self, module, name, look):
        function = getattr(module, name, None)
        if function is None:
            return

        @functools.wraps(function)
        def wrapped(*arguments, **named):
            look(module.__name__ + "." + name, arguments, named)
            return function(*arguments, **named)

        setattr(module, name, wrapped)
        if module is os:
            inner = sys.modules.get("posix")
            if inner is not None and hasattr(inner, name):
                setattr(inner, name, wrapped)
            for known in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
                if function in known:
                    known.add(wrapped)

    def _made(self, event, arguments, named):
        path = arguments[0] if arguments else named.get("path")
        if path is not None and not self._entry_inside(path, named.get("dir_fd")):
            self._refuse(CHANGING, event, path)

    def _system(self, event, _arguments, _named):
        self._refuse(SYSTEM, event)

    def _signal(self, event, _arguments, _named):
        self._refuse(PROCESSES, event)

    def _opened(self, event, arguments, named):
        # Its event does not say from which folder.
        folder = named.get("dir_fd")
        if folder is None:
            return
        path, flags = (tuple(arguments) + (named.get("path"), named.get("flags")))[:2]
        if isinstance(flags, int) and flags & _WRITING and not self._may_write(path, folder):
            self._refuse(WRITING, event, path)

    # Places

    def _within(self, full):
        return full.startswith(self.folder + os.sep)

    def _entry_inside(self, path, descriptor=None):
        try:
            path = _named(path, descriptor)
            if path is None:
                return False
            folder, name = os.path.split(path.rstrip(os.sep))
            if name in ("", os.curdir, os.pardir):
                return self._within(os.path.realpath(path))
            return self._within(os.path.join(os.path.realpath(folder), name))
        except (TypeError, ValueError):
            return False

    def _file_inside(self, path, descriptor=None):
        try:
            full = _named(path, descriptor)
            if full is None:
                return False
            if isinstance(path, int) and not os.path.isabs(full):
                # A pipe or a socket of its own.
                return True
            return self._within(os.path.realpath(full)) and self._entry_inside(full)
        except (TypeError, ValueError):
            return False

    def _may_write(self, path, descriptor=None):
        try:
            full = _named(path, descriptor)
            if full is None:
                return False
            full = os.path.realpath(full)
        except (TypeError, ValueError):
            return False
        # Files without a name are opened as their folder.
        return full in (os.devnull, self.folder) or self._within(full)

    def _refuse(self, what, event, path=None):
        self.refused = what
        self.what = event if path is None or isinstance(path, int) else _shown(path)
        raise PermissionError("refused while inputs are searched: " + event)

    # What the kernel refused

    def judge(self, error):
        """Notes what an exception, or one behind it, says that the kernel refused."""
        if self.refused is not None or not self.held:
            return
        for _ in range(5):
            if error is None:
                return
            if self._is_held(error):
                path = getattr(error, "filename", None)
                self.refused = WRITING
                self.what = type(error).__name__ if path is None else _shown(path)
                return
            error = error.__cause__ or error.__context__

    def _is_held(self, error):
        if isinstance(error, OSError):
            if error.errno not in (errno.EACCES, errno.EXDEV):
                return False
            path = error.filename
            if path is None:
                return True
            try:
                full = os.path.realpath(os.fsdecode(path))
            except (TypeError, ValueError):
                return False
            if self._within(full):
                return False
            if os.path.exists(full) and not os.access(full, os.R_OK):
                # It may not even be read.
                return False
            return os.access(full, os.W_OK) or os.access(os.path.dirname(full), os.W_OK)
        if type(error).__module__ == "sqlite3" and type(error).__name__ == "OperationalError":
            text = str(error)
            return "unable to open database" in text or "readonly database" in text
        return False


def _shown(path):
    try:
        return os.fsdecode(path)
    except TypeError:
        return repr(path)
