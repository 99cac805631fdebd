"""``make faults``: try every fault, then the random ones again and again until the time is over.

All findings are printed, each with the command that repeats its trial; the exit status is 1 if
there was one.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.faults.everything import every_fault, short_form
from tests.faults.table import Outcome, try_fault

_BUDGET = 1200.0  # s


def main(arguments: Sequence[str] | None = None) -> int:
    """Try faults and print the findings; return 1 if there was one."""
    options = _parser().parse_args(arguments)
    faults = [fault for fault in every_fault() if options.only in fault.title]
    if options.short:
        faults = list(short_form(faults))
    if not faults:
        sys.exit(f"no such fault: {options.only!r}")
    counts: Counter[str] = Counter()
    tried: set[str] = set()
    for outcome in trials(faults, options.seed, options.seconds, 1 if options.once else None):
        counts[_result(outcome)] += 1
        tried.add(outcome.fault.title)
        _print_outcome(outcome, verbose=options.verbose)
    summary = ", ".join(f"{number} {result}" for result, number in sorted(counts.items()))
    n_untried = len(faults) - len(tried)
    print(f"{counts.total()} trials of {len(faults)} faults: {summary}; {n_untried} never tried")
    return int(counts["found"] > 0)


def trials(faults, seed, seconds, rounds=None):
    """Try all faults once, then the random ones with further seeds, until the time is over.

    The last trial is finished, however long it takes.
    """
    deadline = time.monotonic() + seconds
    round_index = 0
    due = list(faults)
    while due and (rounds is None or round_index < rounds):
        for fault in due:
            if time.monotonic() > deadline:
                return
            with tempfile.TemporaryDirectory(prefix="fault-") as folder:
                yield try_fault(fault, seed + round_index, Path(folder))
        due = [fault for fault in faults if fault.is_random]
        round_index += 1


def _result(outcome: Outcome) -> str:
    if outcome.finding:
        return "found"
    return "skipped" if outcome.skip_reason else "as expected"


def _print_outcome(outcome: Outcome, *, verbose: bool) -> None:
    title = outcome.fault.title
    if outcome.finding:
        print(f"FOUND {title}\n  {outcome.finding}\n  again: {outcome.command}")
    elif verbose:
        print(f"{outcome.seconds:6.2f} s {title}: {outcome.effect or outcome.skip_reason}")
    if outcome.stack and verbose:
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
    parser.add_argument("--verbose", action="store_true", help="print every effect, and stacks")
    return parser


if __name__ == "__main__":
    sys.exit(main())
