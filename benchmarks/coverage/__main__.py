"""Measure how often every promise is kept; docs/statistics.md summarises the table."""

import argparse
from concurrent.futures import ProcessPoolExecutor

from benchmarks.coverage.registry import all_promises


def main() -> None:
    """Print the table, and exit with 1 if a percentage misses its bounds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=2000, help="samples; default: 2000")
    parser.add_argument("--size", type=int, nargs="*", help="questions of a sample; default: all")
    arguments = parser.parse_args()
    promises = all_promises()
    cells = [
        (number, size, arguments.repetitions)
        for size in arguments.size or sorted({size for row in promises for size in row.sizes})
        for number, promise in enumerate(promises)
        if size in promise.sizes
    ]
    print("| event | population | questions | samples | in 100 | bounds | |")
    print("|---" * 7 + "|")
    all_hold = True
    with ProcessPoolExecutor() as pool:
        for row, holds in pool.map(_check, cells):
            print(row, flush=True)
            all_hold = all_hold and holds
    raise SystemExit(not all_hold)


def _check(cell: tuple[int, int, int]) -> tuple[str, bool]:
    """Check a promise by its index; return its row of the table, and whether it holds.

    Processes cannot exchange promises, which contain functions.
    """
    number, n_questions, n_samples = cell
    promise = all_promises()[number]
    percent = promise.measure(n_questions, n_samples)
    holds = promise.holds(percent, n_samples)
    row = (
        f"| {promise.event} | {promise.population} | {n_questions} | {n_samples} |"
        f" {percent:.1f} | {promise.low:g} to {promise.high:g} | {'' if holds else 'MISSED'} |"
    )
    return row, holds


if __name__ == "__main__":
    main()
