"""Limits on this process and reaping of processes that tests left behind (Linux where noted).

PYTEST_DONT_REWRITE: this is no test code.
"""

import os
import signal
import sys

try:
    import resource
except ImportError:  # Windows
    resource = None

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
FILE_SIZE_LIMIT = 256 * 1024 * 1024


def limit_memory(extra):
    """Cap the address space at what is used now plus `extra` bytes; no core dumps."""
    if resource is None:
        return
    _lower(resource.RLIMIT_CORE, 0)
    if not extra:
        return
    try:
        with open("/proc/self/statm", "rb") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return
    _lower(resource.RLIMIT_AS, used + int(extra))


def limit_file_size():
    if resource is not None:
        _lower(resource.RLIMIT_FSIZE, FILE_SIZE_LIMIT)


def _lower(which, value):
    """Lower both limits. A limit that is already lower stays."""
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    try:
        resource.setrlimit(which, (value, value))
    except (OSError, ValueError):
        pass


def _prctl(option, argument):
    if not sys.platform.startswith("linux"):
        return
    try:
        # Lazily: ctypes takes milliseconds to import and only the warm runner needs it.
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(option, argument, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def adopt_orphans():
    """Become the parent of daemonised descendants, so that they can be found and killed."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent():
    """Ask the kernel for SIGKILL when the parent ends. Only for a parent with a single thread."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def leave_when_orphaned():
    """End when the process that started us is gone, even in the middle of collection.

    The kernel signals when the parent's *thread* ends, which for a thread pool means nothing, so
    a harmless signal is used and its handler looks whether the process is really gone.
    """
    if not sys.platform.startswith("linux"):
        return
    parent = os.getppid()
    owner = os.getpid()

    def look(_number, _frame):
        if os.getpid() == owner and os.getppid() != parent:
            os._exit(0)

    try:
        signal.signal(signal.SIGURG, look)
    except ValueError:
        return
    _prctl(PR_SET_PDEATHSIG, signal.SIGURG)


def children():
    """Pids of all direct children, dead ones included."""
    found = []
    try:
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children", "rb") as file:
                found.extend(int(pid) for pid in file.read().split())
        return found
    except OSError:
        return _children_by_scan()


def _children_by_scan():
    """For kernels without CONFIG_PROC_CHILDREN."""
    me = os.getpid()
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    return [pid for pid in pids if _status(pid)[0] == me]


def _status(pid):
    """(parent, process group, session) of a process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return int(fields[1]), int(fields[2]), int(fields[3])
    except (OSError, ValueError, IndexError):
        return None, None, None


def kill_strays(keep):
    """Kill and reap every child that is neither in `keep` nor in a session or group of `keep`."""
    # Killing a process hands its children to us: again until nothing is left.
    for _ in range(50):
        strays = []
        for pid in children():
            if pid in keep:
                continue
            _, group, session = _status(pid)
            if group not in keep and session not in keep:
                strays.append(pid)
        if not strays:
            return
        for pid in strays:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        for pid in strays:
            try:
                os.waitpid(pid, 0)
            except OSError:
                pass


def kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


def has_ended(pid):
    """Whether a child is dead; it stays a zombie, so that its number cannot be used again."""
    if not hasattr(os, "waitid"):
        # macOS: "running" is told apart by reaping, which `reap` then finds done.
        try:
            done, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return True
        if done:
            _REAPED[pid] = status
        return bool(done)
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


_REAPED = {}


def reap(pid):
    """Wait for a child and return its status."""
    if pid in _REAPED:
        return _REAPED.pop(pid)
    try:
        return os.waitpid(pid, 0)[1]
    except ChildProcessError:
        return 0
