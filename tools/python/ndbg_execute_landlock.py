"""Lets this process change nothing but one folder, by the kernel's own hand: Landlock (Linux).

What is held already stays usable: it applies to what is opened, made, moved or taken away from now
on, by whatever code, and to processes started from here. Modes, owners and times of files are not
covered: `ndbg_execute_guard` looks after these. Numbers are those of `linux/landlock.h`.

PYTEST_DONT_REWRITE: this is no test code.
"""

import os
import struct
import sys

# The same on all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38

_WRITE_FILE = 1 << 1
_REMOVE = 1 << 4 | 1 << 5
_MAKE_DEVICE = 1 << 6 | 1 << 11
_MAKE = 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 12
_REFER = 1 << 13
_TRUNCATE = 1 << 14
_IOCTL_DEVICE = 1 << 15
_TCP = 1 << 0 | 1 << 1
_SCOPES = 1 << 0 | 1 << 1


def _rights(abi):
    """What a kernel can deny."""
    rights = _WRITE_FILE | _REMOVE | _MAKE | _MAKE_DEVICE
    rights |= _REFER if abi >= 2 else 0
    rights |= _TRUNCATE if abi >= 3 else 0
    rights |= _IOCTL_DEVICE if abi >= 5 else 0
    return rights


def _attributes(abi):
    """`struct landlock_ruleset_attr`, as long as a kernel knows it."""
    parts = [_rights(abi)]
    if abi >= 4:
        parts.append(_TCP)
    if abi >= 6:
        # No signals and no abstract sockets out of here.
        parts.append(_SCOPES)
    return struct.pack(f"={len(parts)}Q", *parts)


def confine(folder):
    """Whether the kernel did it. Threads that run already are not covered: call it before any."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        import ctypes
    except ImportError:
        return False
    libc = ctypes.CDLL(None, use_errno=True)

    def call(number, *arguments):
        return libc.syscall(ctypes.c_long(number), *arguments)

    none, flags = ctypes.c_void_p(None), ctypes.c_uint32
    abi = call(_CREATE_RULESET, none, ctypes.c_size_t(0), flags(_VERSION))
    if abi < 1:
        return False
    attributes = _attributes(abi)
    rules = call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), flags(0))
    if rules < 0:
        return False

    def allow(path, rights):
        held = os.open(path, os.O_RDONLY | getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
        try:
            rule = struct.pack("=Qi", rights & _rights(abi), held)
            return call(_ADD_RULE, ctypes.c_int(rules), _PATH_BENEATH, rule, flags(0)) == 0
        finally:
            os.close(held)

    try:
        # No devices even there: who may make one may write to a disk through it.
        within = allow(folder, _WRITE_FILE | _REMOVE | _MAKE | _REFER | _TRUNCATE)
        nowhere = allow(os.devnull, _WRITE_FILE | _TRUNCATE | _IOCTL_DEVICE)
        one, zero = ctypes.c_ulong(1), ctypes.c_ulong(0)
        if not (within and nowhere):
            return False
        if libc.prctl(_NO_NEW_PRIVILEGES, one, zero, zero, zero) != 0:
            return False
        return call(_RESTRICT_SELF, ctypes.c_int(rules), flags(0)) == 0
    except OSError:
        return False
    finally:
        os.close(rules)
