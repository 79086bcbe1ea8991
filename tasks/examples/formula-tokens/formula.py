"""Split spreadsheet formulas such as ``=SUM(A1:B4) * 1.5`` into tokens.

Only the lexical part lives here: the functions know what a number, a cell
reference or a quoted string looks like, but not whether the formula makes
sense.
"""

import re
from collections import namedtuple

Token = namedtuple("Token", "kind text position")

OPERATORS = ("<=", ">=", "<>", "+", "-", "*", "/", "^", "&", "=", "<", ">")
PUNCTUATION = {"(": "open", ")": "close", ",": "comma", ":": "colon"}
CELL = re.compile(r"\$?[A-Z]{1,3}\$?[1-9][0-9]*")


class FormulaError(ValueError):
    """A formula that cannot be split into tokens."""

    def __init__(self, message, position):
        super().__init__(f"{message} at position {position}")
        self.position = position


def tokenize(formula):
    """Return the list of tokens in ``formula``.

    A leading ``=`` marks the text as a formula and is dropped.
    """
    start = 1 if formula.startswith("=") else 0
    return list(_scan(formula, start))


def references(formula):
    """Return the cells that a formula mentions, each once, in order."""
    seen = []
    for token in tokenize(formula):
        if token.kind == "cell":
            name = token.text.replace("$", "")
            if name not in seen:
                seen.append(name)
    return seen


def _scan(text, position):
    while position < len(text):
        char = text[position]
        if char.isspace():
            position += 1
            continue
        if char.isdigit() or char == ".":
            token = _read_number(text, position)
        elif char.isalpha() or char in "$_":
            token = _read_word(text, position)
        elif char == '"':
            token = _read_string(text, position)
        elif char in PUNCTUATION:
            token = Token(PUNCTUATION[char], char, position)
        else:
            token = _read_operator(text, position)
        yield token
        position += len(token.text)


def _read_number(text, position):
    end = position
    seen_point = False
    while end < len(text) and (text[end].isdigit() or text[end] == "."):
        if text[end] == ".":
            if seen_point:
                raise FormulaError("second decimal point", end)
            seen_point = True
        end += 1
    if text[position:end] == ".":
        raise FormulaError("number without digits", position)
    return Token("number", text[position:end], position)


def _read_word(text, position):
    end = position
    while text[end].isalnum() or text[end] in "$_.":
        end += 1
    word = text[position:end]
    kind = "cell" if CELL.fullmatch(word) else "name"
    return Token(kind, word, position)


def _read_string(text, position):
    end = text.find('"', position + 1)
    if end < 0:
        raise FormulaError("unclosed string", position)
    return Token("string", text[position : end + 1], position)


def _read_operator(text, position):
    for operator in OPERATORS:
        if text.startswith(operator, position):
            return Token("operator", operator, position)
    raise FormulaError(f"unexpected {text[position]!r}", position)
