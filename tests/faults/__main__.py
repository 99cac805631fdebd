"""``make faults``: try everything, then what is drawn again and again, until the time is over.

The first finding does not end it: all are printed, each with the command that tries it again, and
the exit status tells that there were some. What was seen is written into ``docs/faults.md``.
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
from tests.faults.writing import DOCUMENT, earlier, shown, written

_BUDGET = 3600.0  # s


def main(arguments: Sequence[str] | None = None) -> int:
    """Try faults, print what was found, write the page; 1 if there was a finding."""
    chosen = _parser().parse_args(arguments)
    everything = every_fault()
    wanted = [one for one in everything if not chosen.only or chosen.only in one.title]
    if chosen.short:
        wanted = list(short_form(wanted))
    if not wanted:
        sys.exit(f"no fault has {chosen.only!r} in its name")
    seen = earlier()
    counts: Counter[str] = Counter()
    for outcome in trials(wanted, chosen.seed, chosen.seconds, rounds=1 if chosen.once else None):
        counts["found" if outcome.found else "skipped" if outcome.skipped else "as it must be"] += 1
        if outcome.found or outcome.seed == chosen.seed:
            seen[outcome.fault.title] = shown(outcome)
        _tell(outcome, loud=chosen.verbose)
    if not chosen.dry:
        DOCUMENT.write_text(written(everything, seen), encoding="utf-8")
    untried = len(wanted) - len({one.title for one in wanted} & seen.keys())
    told = ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
    print(f"{counts.total()} trials of {len(wanted)} faults: {told}; {untried} never tried")
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
    parser.add_argument("--dry", action="store_true", help="leave docs/faults.md as it is")
    parser.add_argument("--verbose", action="store_true", help="what was seen, and stacks")
    return parser


if __name__ == "__main__":
    sys.exit(main())
