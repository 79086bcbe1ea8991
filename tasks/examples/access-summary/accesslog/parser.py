"""Reading access log lines.

A line looks like this::

    10.0.0.7 GET /index.html 200 35ms
"""

import re
from typing import NamedTuple

LINE = re.compile(
    r"(?P<client>\S+) (?P<method>[A-Z]+) (?P<path>\S+) (?P<status>\d{3}) (?P<ms>\d+)ms"
)


class Hit(NamedTuple):
    """One request that was served."""

    client: str
    method: str
    path: str
    status: int
    millis: int


def parse_lines(lines):
    """Yield a hit for every well-formed line and skip the others."""
    for line in lines:
        found = LINE.fullmatch(line.strip())
        if found is None:
            continue
        path, _, _ = found["path"].partition("?")
        yield Hit(
            client=found["client"],
            method=found["method"],
            path=path,
            status=int(found["status"]),
            millis=int(found["ms"]),
        )
