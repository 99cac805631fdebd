"""All that is promised."""

from benchmarks.coverage import intervals, judged, pairs, runs
from benchmarks.coverage.cells import Promise


def every_promise() -> list[Promise]:
    """List what is tried, in the order of the page."""
    return [
        *intervals.promises(),
        *pairs.promises(),
        *pairs.powers(),
        *runs.promises(),
        *judged.promises(),
    ]
