"""Reflow plain text messages for a fixed line width.

Paragraphs are separated by blank lines. A paragraph that starts with ``- ``
or ``* `` is a list item: its further lines are indented so that they line up
with the text of the first one.
"""

BULLETS = ("- ", "* ")


def reflow(text, width=72):
    """Return ``text`` with every paragraph wrapped to ``width`` columns.

    No line is longer than ``width``, except for a single word that does not
    fit on a line of its own.
    """
    if width < 1:
        raise ValueError("width must be positive")
    blocks = []
    for paragraph in split_paragraphs(text):
        lead, body = split_bullet(paragraph)
        blocks.append("\n".join(wrap_words(body.split(), width, lead)))
    return "\n\n".join(blocks)


def split_paragraphs(text):
    """Split text at blank lines, joining the lines of each paragraph."""
    paragraphs = []
    current = []
    for line in text.splitlines():
        stripped = line.strip()
        if stripped:
            current.append(stripped)
        elif current:
            paragraphs.append(" ".join(current))
            current = []
    if current:
        paragraphs.append(" ".join(current))
    return paragraphs


def split_bullet(paragraph):
    """Return the list marker of a paragraph (or "") and the rest of it."""
    for bullet in BULLETS:
        if paragraph.startswith(bullet):
            return bullet, paragraph[len(bullet) :]
    return "", paragraph


def wrap_words(words, width, lead=""):
    """Distribute words over lines of at most ``width`` columns.

    ``lead`` is put before the first line; the others are indented to match.
    """
    if not words:
        return [lead.rstrip()]
    indent = " " * len(lead)
    lines = []
    line = lead + words[0]
    for word in words[1:]:
        if len(line) + 1 + len(word) >= width:
            lines.append(line)
            line = indent + word
        else:
            line += " " + word
    lines.append(line)
    return lines
