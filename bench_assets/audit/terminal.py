"""Terminal output of audits."""

from collections.abc import Mapping, Sequence

from bench_assets.audit.framework.findings import AuditRow
from bench_assets.workspace.console.output import Cell, print_result, print_rows

_MAX_SUSPECTS = 5  # suspects per check that are printed


def _outcome(row: AuditRow) -> str:
    if not row.passed:
        return "FAILED"
    return "-" if row.skipped else "passed"


_COLUMNS: Mapping[str, Cell] = {
    "task": lambda row: row.task,
    "check": lambda row: row.check,
    "": _outcome,
    "n": lambda row: "" if row.skipped else str(row.n),
    "result": lambda row: row.sentence,
}


def print_audit(rows: Sequence[AuditRow]) -> None:
    """Print every result, then the first suspects of failed checks, and the totals."""
    print_rows(rows, as_json=False, columns=_COLUMNS)
    for row in rows:
        if row.passed:
            continue
        print_result(f"\n{row.task}, {row.check}: {row.sentence}")
        for suspect in row.suspects[:_MAX_SUSPECTS]:
            print_result(f"  {suspect.about}: {suspect.evidence}")
        n_more = len(row.about) - _MAX_SUSPECTS
        if n_more > 0:
            print_result(f"  and {n_more} more: bench tables show {row.task}/audit --json")
    n_failed = sum(not row.passed for row in rows)
    n_skipped = sum(row.passed and bool(row.skipped) for row in rows)
    print_result(f"\n{len(rows)} checks: {n_failed} failed, {n_skipped} skipped")
