"""The time that a call may take: rings within it, in whatever code runs.

PYTEST_DONT_REWRITE: this is no test code.
"""

import signal
import time

ASLEEP = 4
APART = 0.002


class TooLong(BaseException):
    """A call beyond its time; no `Exception`, so that handlers let it through."""


_armed = False
_rung = 0.0


def _ring(_number, _frame):
    """Both timers may ring at once; the second would hit what handles the first."""
    global _rung
    now = time.monotonic()
    if _armed and now - _rung > APART:
        _rung = now
        raise TooLong


def install():
    signal.signal(signal.SIGALRM, _ring)
    signal.signal(signal.SIGPROF, _ring)


def start(seconds):
    """Rings after so much time on the processor, or a few times as much by the clock.

    Again and again, for code that takes the ringing for an error of its own.
    """
    global _armed
    _armed = True
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    signal.setitimer(signal.ITIMER_REAL, ASLEEP * seconds, ASLEEP * seconds)


def start_real(seconds):
    """By the clock alone."""
    global _armed
    _armed = True
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)


def stop():
    global _armed
    _armed = False
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
