"""What a user wants, from its text: a value, or a class of exceptions.

PYTEST_DONT_REWRITE: this is no test code.
"""

import builtins
import warnings

import ndbg_execute_module
import ndbg_literal_text
from ndbg_execute_clock import TooLong
from ndbg_execute_problem import Problem, near


def value(text):
    """`(value, its text as a literal)`."""
    shown = text if len(text) <= 60 else text[:60] + "…"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            held = eval(text, {})
    except TooLong:
        raise Problem("goal", f"`{shown}` is no value: it takes too long") from None
    except SyntaxError as error:
        raise Problem("goal", f"`{shown}` is no value: {error.msg}") from None
    except Exception as error:
        # No message of Python's is longer than a line that is worth to be read.
        told = str(error).splitlines()[0] if str(error) else ""
        raise Problem("goal", f"`{shown}` is no value: {type(error).__name__}: {told}") from None
    try:
        return held, ndbg_literal_text.text(held, halves=True)
    except ndbg_literal_text.Opaque as error:
        if str(error) == ndbg_literal_text.TOO_MANY:
            # It is compared item by item, without a text.
            return held, None
        raise Problem("goal", f"`{shown}` cannot be compared: {error}") from None
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise Problem("goal", f"`{shown}` cannot be compared: {told}") from None


def exception(side, name):
    """A class of exceptions that the module knows, under its name there or a dotted one."""
    held = ndbg_execute_module.named(side.module, side.path, name)
    if isinstance(held, type) and issubclass(held, BaseException):
        return held
    known = [
        one
        for names in (vars(builtins), vars(side.module))
        for one, it in names.items()
        if isinstance(it, type) and issubclass(it, BaseException)
    ]
    text = f"`{name}` is no exception that the module knows"
    raise Problem("goal", text, near(name, known, likeness=0.4))


def raises(side, name, wanted):
    """Whether a statement that raises `name` raises what is wanted."""
    held = vars(side.module).get(name, vars(builtins).get(name))
    return isinstance(held, type) and issubclass(held, wanted)
