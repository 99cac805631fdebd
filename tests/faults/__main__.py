"""``make faults``: try everything, then what is drawn again and again, until the time is over.

The first finding does not end it: all are printed, each with the command that tries it again, and
the exit status tells that there were some.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.faults.everything import every_fault, short_form
from tests.faults.table import Fault, Outcome, tried

_BUDGET = 1200.0  # s


def main(arguments: Sequence[str] | None = None) -> int:
    """Try faults, print what was found; 1 if there was a finding."""
    chosen = _parser().parse_args(arguments)
    wanted = [fault for fault in every_fault() if chosen.only in fault.title]
    if chosen.short:
        wanted = list(short_form(wanted))
    if not wanted:
        sys.exit(f"no such fault: {chosen.only!r}")
    counts: Counter[str] = Counter()
    titles: set[str] = set()
    for outcome in trials(wanted, chosen.seed, chosen.seconds, 1 if chosen.once else None):
        how = "found" if outcome.found else "skipped" if outcome.skipped else "as it must be"
        counts[how] += 1
        titles.add(outcome.fault.title)
        _tell(outcome, loud=chosen.verbose)
    summary = ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
    untried = len(wanted) - len(titles)
    print(f"{counts.total()} trials of {len(wanted)} faults: {summary}; {untried} never tried")
    return int(counts["found"] > 0)


def trials(
    faults: Sequence[Fault], seed: int, seconds: float, rounds: int | None = None
) -> Iterator[Outcome]:
    """Try all once, then those that are drawn with further seeds; ends when the time is over.

    The trial that is under way at the end is finished, whatever it takes.
    """
    until, number = time.monotonic() + seconds, 0
    due = list(faults)
    while due and (rounds is None or number < rounds):
        for fault in due:
            if time.monotonic() > until:
                return
            with tempfile.TemporaryDirectory(prefix="fault-") as folder:
                yield tried(fault, seed + number, Path(folder))
        due, number = [fault for fault in faults if fault.drawn], number + 1


def _tell(outcome: Outcome, *, loud: bool) -> None:
    if outcome.found:
        print(f"FOUND {outcome.fault.title}\n  {outcome.found}\n  again: {outcome.again}")
    elif loud:
        print(f"{outcome.seconds:6.2f} s {outcome.fault.title}: {outcome.seen or outcome.skipped}")
    if outcome.stack and loud:
        print(outcome.stack)
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    budget = float(os.environ.get("FAULTS_SECONDS", _BUDGET))
    parser.add_argument("--seconds", type=float, default=budget, help="or FAULTS_SECONDS")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of 'group: name'")
    parser.add_argument("--once", action="store_true", help="everything once, no further seeds")
    parser.add_argument("--short", action="store_true", help="what make check tries")
    parser.add_argument("--verbose", action="store_true", help="what was seen, and stacks")
    return parser


if __name__ == "__main__":
    sys.exit(main())
