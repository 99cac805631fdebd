"""The promises of all modules."""

from benchmarks.coverage import intervals, judged, pairs, runs
from benchmarks.coverage.promise import Promise


def all_promises() -> list[Promise]:
    """List all promises in the order of the printed table."""
    return [
        *intervals.promises(),
        *pairs.promises(),
        *pairs.power_promises(),
        *runs.promises(),
        *judged.promises(),
    ]
