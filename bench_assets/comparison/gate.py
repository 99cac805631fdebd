"""Gate for merges: whether decided comparisons fail, as JUnit XML and as a summary in Markdown."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Literal, TypeAlias
from xml.etree import ElementTree as ET

from bench_assets.comparison.verdicts import (
    NOT_COMPARABLE,
    Comparison,
    comparison_sentence,
    verdict_sentence,
)
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.metric_text import format_p
from bench_assets.core.schema.rows import read_shares
from bench_assets.core.text.escaping import escape_markdown
from bench_resources.storage.atomic_write import describe_write_errors

FailOn: TypeAlias = Literal["worse", "undecided"]

EXIT_CODE = 3
"""Exit code of a gate that fails; 1 is an error, 2 a wrong argument."""

_COLUMNS = ("task", "metric", "before", "after", "change", "95 % interval", "p", "n", "verdict")
_TAGS = (("system-out", "failure"), ("skipped", "error"))
"""JUnit elements, by whether the sides are not comparable, and whether the gate fails."""


def failing(rows: Sequence[Comparison], fail_on: FailOn) -> list[Comparison]:
    """Select the decided comparisons that fail a gate: worse ones, or those not better."""
    verdicts = {"worse"} if fail_on == "worse" else {"worse", "undecided", NOT_COMPARABLE}
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
        TableError: If something may fail, and there is no verdict; known causes fail ``undecided``.
        HomeError: If a file cannot be written.
    """
    if junit:
        with describe_write_errors(junit):
            junit.write_text(junit_xml(before, after, rows, fail_on or "worse"), encoding="utf-8")
    if summary:
        with describe_write_errors(summary), summary.open("a", encoding="utf-8") as file:
            file.write(f"{markdown_summary(before, after, rows)}\n")  # ends the table
    failures = failing(rows, fail_on) if fail_on else []
    if fail_on and not failures and all(row.verdict == NOT_COMPARABLE for row in rows):
        reason = verdict_sentence(rows) or "the scores of one are missing"
        raise TableError(f"{before} and {after}: no verdict: {reason}")
    return bool(failures)


def as_record(row: Comparison) -> dict[str, Any]:
    """The verdict with its interval and p, for JSON.

    The interval is that of the change; p is corrected for all tasks (Holm, 1979).
    """
    names = ("verdict", "low", "high", "p", *(("reason", "remedy") if row.reason else ()))
    values = {name: getattr(row, name) for name in names}
    shares = {
        f"{side}_{name}": share
        for side, read in (("before", row.before_read), ("after", row.after_read))
        for name, share in (read_shares(read) if read else {}).items()
    }
    unknown = [name for name in ("low", "high", "p") if not isfinite(values[name])]
    return values | dict.fromkeys(unknown) | shares


def junit_xml(
    before: str, after: str, rows: Sequence[Comparison], fail_on: FailOn = "worse"
) -> str:
    """Format decided comparisons as JUnit XML: a test case for each task."""
    failures = failing(rows, fail_on)
    tags = [_TAGS[row.verdict == NOT_COMPARABLE][row in failures] for row in rows]
    counts = {"tests": str(len(rows)), "failures": str(tags.count("failure"))}
    more = {"errors": str(tags.count("error")), "skipped": str(tags.count("skipped"))}
    suite = ET.Element("testsuite", {"name": f"{after} against {before}", **more, **counts})
    for row, tag in zip(rows, tags, strict=True):
        case = ET.SubElement(suite, "testcase", classname=row.task, name=row.metric)
        message = {} if tag == "system-out" else {"message": row.shown_verdict}
        ET.SubElement(case, tag, message).text = _numbers(row)
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
                f"**{row.verdict}**"
                if row.verdict in ("better", "worse")
                else escape_markdown(row.shown_verdict),
            )
        )
        for row in rows
    ]
    sentence = escape_markdown(comparison_sentence(before, after, rows))
    return "\n".join([sentence, "", *lines, ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _numbers(row: Comparison) -> str:
    if row.verdict == NOT_COMPARABLE:
        return row.remedy
    change = f"{' -> '.join(row.shown_values)} ({row.change:+.3f}, 95 % {row.interval})"
    p = format_p(row.p)
    return f"{row.shown_verdict}: {change}, p {p if p.startswith('<') else f'= {p}'}, n = {row.n}"
