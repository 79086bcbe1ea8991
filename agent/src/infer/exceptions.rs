//! Python's own classes of exceptions.

const ERRORS: &[&str] = &[
    "Exception",
    "StopIteration",
    "StopAsyncIteration",
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BufferError",
    "EOFError",
    "ImportError",
    "ModuleNotFoundError",
    "LookupError",
    "IndexError",
    "KeyError",
    "MemoryError",
    "NameError",
    "UnboundLocalError",
    "OSError",
    "FileExistsError",
    "FileNotFoundError",
    "IsADirectoryError",
    "NotADirectoryError",
    "PermissionError",
    "TimeoutError",
    "ConnectionError",
    "BrokenPipeError",
    "ConnectionAbortedError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "BlockingIOError",
    "ChildProcessError",
    "InterruptedError",
    "ProcessLookupError",
    "TabError",
    "ReferenceError",
    "RuntimeError",
    "NotImplementedError",
    "RecursionError",
    "SyntaxError",
    "IndentationError",
    "SystemError",
    "TypeError",
    "OverflowError",
    "FloatingPointError",
    "ZeroDivisionError",
    "ValueError",
    "UnicodeError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeTranslateError",
    "Warning",
    "UserWarning",
    "DeprecationWarning",
    "RuntimeWarning",
    "BytesWarning",
    "FutureWarning",
    "ImportWarning",
    "PendingDeprecationWarning",
    "ResourceWarning",
    "SyntaxWarning",
    "UnicodeWarning",
];

/// Those that no handler of `Exception` catches.
const OTHERS: &[&str] = &[
    "BaseException",
    "KeyboardInterrupt",
    "SystemExit",
    "GeneratorExit",
];

/// Whether a class needs no import.
pub fn is_builtin(class: &str) -> bool {
    ERRORS.contains(&class) || OTHERS.contains(&class)
}

/// Whether a class is taken for one that handlers of `Exception` catch.
pub fn is_error(class: &str) -> bool {
    !OTHERS.contains(&class)
}
