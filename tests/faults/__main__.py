"""``make faults``: try everything, then what is drawn again and again, until the time is over.

The first finding does not end it: all are printed, each with the command that tries it again, and
the exit status tells that there were some. What was seen is written into FAULTS_REPORT, also
meanwhile: who stops it loses little. What no page tells of is tried first.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.faults.everything import every_fault, short_form
from tests.faults.table import Fault, Outcome, tried
from tests.faults.writing import DOCUMENT, Seen, earlier, now, shown, written

_BUDGET = 1200.0  # s
_WRITTEN_EVERY = 10.0  # s
_ENDED_BY_IT = "**found**: the process of the trial was ended before it was"


def main(arguments: Sequence[str] | None = None) -> int:
    """Try faults, print what was found, write the page; 1 if there was a finding."""
    chosen = _parser().parse_args(arguments)
    page = _Page(dry=chosen.dry)
    wanted = _wanted(page, chosen)
    if not wanted:
        sys.exit(f"no such fault: {chosen.only!r}")
    counts: Counter[str] = Counter()
    rounds = 1 if chosen.once else None
    try:
        for outcome in trials(wanted, chosen.seed, chosen.seconds, rounds, page.begin):
            how = "found" if outcome.found else "skipped" if outcome.skipped else "as it must be"
            counts[how] += 1
            if outcome.found or outcome.seed == chosen.seed:
                page.note(outcome)
            _tell(outcome, loud=chosen.verbose)
    finally:
        page.write()
    untried = len({one.title for one in wanted} - page.seen.keys())
    summary = ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
    print(f"{counts.total()} trials of {len(wanted)} faults: {summary}; {untried} never tried")
    return int(counts["found"] > 0)


class _Page:
    """The page with what was seen, as it is while more is tried."""

    def __init__(self, *, dry: bool) -> None:
        self.everything = every_fault()
        self.seen = earlier()
        self._dry = dry
        self._when = now()
        self._written_at = time.monotonic()

    def begin(self, fault: Fault) -> None:
        """Write down what is true if the process does not get to the end of a first trial."""
        if fault.title not in self.seen and not fault.short:
            self.write({fault.title: Seen(_ENDED_BY_IT, self._when)})

    def note(self, outcome: Outcome) -> None:
        """Take note of what was seen, and write it now and then."""
        self.seen[outcome.fault.title] = Seen(shown(outcome), self._when)
        if time.monotonic() > self._written_at + _WRITTEN_EVERY:
            self.write()

    def write(self, more: Mapping[str, Seen] | None = None) -> None:
        """Write it, unless nothing is to be written."""
        if not self._dry:
            part = DOCUMENT.with_suffix(".part")
            part.write_text(
                written(self.everything, {**self.seen, **(more or {})}), encoding="utf-8"
            )
            part.replace(DOCUMENT)
            self._written_at = time.monotonic()


def _wanted(page: _Page, chosen: argparse.Namespace) -> list[Fault]:
    named = [one for one in page.everything if not chosen.only or chosen.only in one.title]
    if chosen.untried:
        named = [one for one in named if one.title not in page.seen]
    if chosen.short:
        named = list(short_form(named))
    return sorted(named, key=lambda one: one.title in page.seen)


def trials(
    faults: Sequence[Fault],
    seed: int,
    seconds: float,
    rounds: int | None = None,
    begun: Callable[[Fault], None] = lambda _: None,
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
            begun(fault)
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
    parser.add_argument("--untried", action="store_true", help="only what no page tells of")
    parser.add_argument("--once", action="store_true", help="everything once, no further seeds")
    parser.add_argument("--short", action="store_true", help="what make check tries")
    parser.add_argument("--dry", action="store_true", help="leave the report as it is")
    parser.add_argument("--verbose", action="store_true", help="what was seen, and stacks")
    return parser


if __name__ == "__main__":
    sys.exit(main())
