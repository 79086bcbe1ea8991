"""Path patterns such as ``/users/<int:id>/notes/<name>``."""

import re

CONVERTERS = {
    "str": (r"[^/]+", str),
    "int": (r"[0-9]+", int),
    "path": (r".+", str),
}
FIELD = re.compile(r"<(?:(?P<kind>\w+):)?(?P<name>[A-Za-z_]\w*)>")


class Pattern:
    """A compiled path pattern."""

    def __init__(self, text):
        if not text.startswith("/"):
            raise ValueError(f"a pattern starts with a slash: {text!r}")
        self.text = text
        self._converters = {}
        self._regex = re.compile(self._translate(text))

    def match(self, path):
        """Return the values of the fields, or ``None`` for other paths."""
        found = self._regex.fullmatch(path)
        if found is None:
            return None
        return {
            name: self._converters[name](value)
            for name, value in found.groupdict().items()
        }

    def _translate(self, text):
        parts = []
        position = 0
        for field in FIELD.finditer(text):
            kind, name = field["kind"] or "str", field["name"]
            if kind not in CONVERTERS:
                raise ValueError(f"unknown converter {kind!r} in {text!r}")
            if name in self._converters:
                raise ValueError(f"field {name!r} is used twice in {text!r}")
            expression, self._converters[name] = CONVERTERS[kind]
            parts.append(re.escape(text[position : field.start()]))
            parts.append(f"(?P<{name}>{expression})")
            position = field.end()
        parts.append(re.escape(text[position:]))
        return "".join(parts)
