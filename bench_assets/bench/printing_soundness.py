"""What was found out about benchmarks, for people: verdicts, then what a person should look at."""

from collections.abc import Mapping, Sequence

from bench_assets.bench.printing import Cell, print_rows, tell
from bench_assets.soundness.examined import Examined

_LISTED = 5  # suspects of each examination

_COLUMNS: Mapping[str, Cell] = {
    "task": lambda row: row.task,
    "examination": lambda row: row.check,
    "": lambda row: "-" if row.skipped else "passed" if row.passed else "FAILED",
    "n": lambda row: "" if row.skipped else str(row.n),
    "found": lambda row: row.sentence,
}


def print_examined(rows: Sequence[Examined]) -> None:
    """Print every verdict, and under it the suspects of those that did not pass."""
    print_rows(rows, as_json=False, columns=_COLUMNS)
    for row in rows:
        if row.passed:
            continue
        tell(f"\n{row.task}, {row.check}: {row.sentence}")
        for one in row.suspects[:_LISTED]:
            tell(f"  {one.about}: {one.evidence}")
        if len(row.about) > _LISTED:
            tell(f"  and {len(row.about) - _LISTED} more: bench table {row.task}/soundness --json")
    failed = sum(not row.passed for row in rows)
    skipped = sum(bool(row.skipped) for row in rows)
    tell(f"\n{len(rows)} examinations: {failed} failed, {skipped} had nothing to look at")
