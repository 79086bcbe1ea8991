"""Adding up the hits of a log file."""

from collections import Counter
from typing import NamedTuple


class Summary(NamedTuple):
    """What a report shows about a set of hits."""

    total: int
    errors: int
    clients: int
    mean_millis: float
    top_paths: list


def summarise(hits, top=3):
    """Summarise hits, given as any iterable of :class:`Hit`.

    Server errors (5xx) count as errors. ``top_paths`` holds up to ``top``
    pairs of a path and its number of hits, the most requested path first and
    equally requested ones in alphabetical order.
    """
    paths = Counter(hit.path for hit in hits)
    total = sum(paths.values())
    errors = sum(1 for hit in hits if hit.status >= 500)
    clients = len({hit.client for hit in hits})
    millis = sum(hit.millis for hit in hits)
    ranking = sorted(paths.items(), key=lambda item: (-item[1], item[0]))
    return Summary(
        total=total,
        errors=errors,
        clients=clients,
        mean_millis=millis / total if total else 0.0,
        top_paths=ranking[:top],
    )


def render(summary):
    """Format a summary as the text of a report."""
    share = 100 * summary.errors / summary.total if summary.total else 0
    lines = [
        f"{summary.total} hits from {summary.clients} clients",
        f"{summary.errors} errors ({share:.1f}%)",
        f"{summary.mean_millis:.0f} ms on average",
    ]
    lines += [f"{count:>6} {path}" for path, count in summary.top_paths]
    return "\n".join(lines)
