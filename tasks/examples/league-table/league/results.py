"""Reading match results from plain text."""

import re
from typing import Iterator, NamedTuple

LINE = re.compile(
    r"\s*(?P<home>.+?)\s+(?P<hg>\d+)\s*:\s*(?P<ag>\d+)\s+(?P<away>.+?)\s*"
)


class Match(NamedTuple):
    """A finished match."""

    home: str
    away: str
    home_goals: int
    away_goals: int


def parse_results(text: str) -> Iterator[Match]:
    """Yield one match for each line like ``Rovers 2:1 Athletic``.

    Blank lines and lines starting with ``#`` are skipped.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = LINE.fullmatch(line)
        if found is None:
            raise ValueError(f"line {number}: not a result: {line!r}")
        yield Match(
            home=found["home"],
            away=found["away"],
            home_goals=int(found["hg"]),
            away_goals=int(found["ag"]),
        )
