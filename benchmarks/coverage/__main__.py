"""Try every promise and print how often it was kept, as docs/statistics.md has it."""

import argparse
from concurrent.futures import ProcessPoolExecutor

from benchmarks.coverage.cells import Kept, tried
from benchmarks.coverage.every import every_promise


def main() -> None:
    """Try them all, in as many processes as there are cores."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=2000, help="of each; 2000 for the page")
    parser.add_argument("--size", type=int, nargs="*", help="questions; all without it")
    given = parser.parse_args()
    promises = every_promise()
    cells = [
        (number, size, given.repetitions)
        for size in given.size or sorted({size for promise in promises for size in promise.sizes})
        for number, promise in enumerate(promises)
        if size in promise.sizes
    ]
    print("| what | of | questions | repetitions | in 100 | should be | |")
    print("|---" * 7 + "|")
    missed = 0
    with ProcessPoolExecutor() as pool:
        for (number, size, repetitions), share in zip(cells, pool.map(_share, cells), strict=True):
            kept = Kept(promise=promises[number], n=size, share=share, repetitions=repetitions)
            missed += not kept.holds
            print(_line(kept), flush=True)
    raise SystemExit(bool(missed))


def _share(cell: tuple[int, int, int]) -> float:
    """What comes back from a process is a number: a promise has functions, and stays there."""
    number, size, repetitions = cell
    return tried(every_promise()[number], size, repetitions).share


def _line(kept: Kept) -> str:
    one = kept.promise
    bounds = f"{one.low:g} to {one.high:g}"
    return (
        f"| {one.what} | {one.of} | {kept.n} | {kept.repetitions} | {kept.share:.1f} | {bounds} |"
        f" {'' if kept.holds else 'MISSED'} |"
    )


if __name__ == "__main__":
    main()
