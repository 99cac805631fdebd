"""Gate for merges: whether decided comparisons fail, as JUnit XML and as a summary in Markdown."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any, Literal, TypeAlias
from xml.etree import ElementTree as ET

from bench_assets.comparison.verdicts import Comparison, comparison_sentence
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.metric_text import format_p
from bench_assets.core.schema.rows import read_shares
from bench_assets.core.text.escaping import escape_markdown
from bench_resources.storage.atomic_write import describe_write_errors

FailOn: TypeAlias = Literal["worse", "undecided"]

EXIT_CODE = 3
"""Exit code of a gate that fails; 1 is an error, 2 a wrong argument."""

_COLUMNS = ("task", "metric", "before", "after", "change", "95 % interval", "p", "n", "verdict")


def failing(rows: Sequence[Comparison], fail_on: FailOn) -> list[Comparison]:
    """Select the decided comparisons that fail a gate: worse ones, or those not better."""
    verdicts = {"worse"} if fail_on == "worse" else {"worse", "undecided"}
    return [row for row in rows if row.verdict in verdicts]


def close_gate(
    before: str,
    after: str,
    rows: Sequence[Comparison],
    fail_on: FailOn | None,
    junit: Path | None = None,
    summary: Path | None = None,
) -> bool:
    """Write the reports of a gate; returns whether it fails.

    Args:
        before: Name of the model that was compared with.
        after: Name of the compared model.
        rows: Decided comparisons, one for each task.
        fail_on: What fails; None: nothing.
        junit: JUnit XML is written to this file.
        summary: Markdown is appended to this file.

    Raises:
        TableError: If something may fail, and there is no verdict.
        HomeError: If a file cannot be written.
    """
    if fail_on and not rows:
        raise TableError(
            f"{before} and {after}: no verdict, since they were not asked the same questions"
        )
    if junit:
        with describe_write_errors(junit):
            junit.write_text(junit_xml(before, after, rows, fail_on or "worse"), encoding="utf-8")
    if summary:
        with describe_write_errors(summary), summary.open("a", encoding="utf-8") as file:
            file.write(f"{markdown_summary(before, after, rows)}\n")  # ends the table
    return bool(fail_on and failing(rows, fail_on))


def as_record(row: Comparison) -> dict[str, Any]:
    """The verdict with its interval and p, for JSON.

    The interval is that of the change; p is corrected for all tasks (Holm, 1979).
    """
    names = ("verdict", "low", "high", "p")
    values = {name: getattr(row, name) for name in names}
    shares = {
        f"{side}_{name}": share
        for side, read in (("before", row.before_read), ("after", row.after_read))
        for name, share in (read_shares(read) if read else {}).items()
    }
    return {name: None if v in (inf, -inf) else v for name, v in values.items()} | shares


def junit_xml(
    before: str, after: str, rows: Sequence[Comparison], fail_on: FailOn = "worse"
) -> str:
    """Format decided comparisons as JUnit XML: a test case for each task."""
    failures = failing(rows, fail_on)
    counts = {"tests": str(len(rows)), "failures": str(len(failures))}
    suite = ET.Element("testsuite", {"name": f"{after} against {before}", "errors": "0", **counts})
    for row in rows:
        case = ET.SubElement(suite, "testcase", classname=row.task, name=row.metric)
        tag = "failure" if row in failures else "system-out"
        ET.SubElement(
            case, tag, {"message": row.verdict} if row in failures else {}
        ).text = _numbers(row)
    root = ET.Element("testsuites", counts)
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def markdown_summary(before: str, after: str, rows: Sequence[Comparison]) -> str:
    """Format decided comparisons as Markdown: the sentence, then a table."""
    lines = [_line(_COLUMNS), "|---" * len(_COLUMNS) + "|"]
    lines += [
        _line(
            (
                *(escape_markdown(row.task), escape_markdown(row.metric)),
                *(*row.shown_values, f"{row.change:+.3f}"),
                *(row.interval, format_p(row.p), str(row.n)),
                row.verdict if row.verdict == "undecided" else f"**{row.verdict}**",
            )
        )
        for row in rows
    ]
    sentence = escape_markdown(comparison_sentence(before, after, rows))
    return "\n".join([sentence, "", *lines, ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _numbers(row: Comparison) -> str:
    change = f"{' -> '.join(row.shown_values)} ({row.change:+.3f}, 95 % {row.interval})"
    p = format_p(row.p)
    return f"{row.verdict}: {change}, p {p if p.startswith('<') else f'= {p}'}, n = {row.n}"
