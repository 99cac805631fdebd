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


def failing(rows: Sequence[Comparison], fail_on: FailOn) -> list[Comparison]:
    """Select the comparisons that fail: worse ones, or with "undecided" all but better ones."""
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
    """Write the reports of a gate, and return whether it fails.

    ``rows`` are decided comparisons, one for each task. JUnit XML is written to ``junit``, and
    Markdown is appended to ``summary``. Without ``fail_on``, nothing fails.

    Raises:
        TableError: If ``fail_on`` is given, nothing fails it, and no row has a verdict.
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
    """The verdict for JSON, with the interval of the change and p; None if not finite.

    A reason with its remedy, and how the responses were read, are included if there are any.
    """
    record: dict[str, Any] = {"verdict": row.verdict}
    for name in ("low", "high", "p"):
        value = getattr(row, name)
        record[name] = value if isfinite(value) else None
    if row.reason:
        record |= {"reason": row.reason, "remedy": row.remedy}
    for side, read_value in (("before", row.before_read), ("after", row.after_read)):
        if read_value:
            record |= {f"{side}_{name}": share for name, share in read_shares(read_value).items()}
    return record


def junit_xml(
    before: str, after: str, rows: Sequence[Comparison], fail_on: FailOn = "worse"
) -> str:
    """Format decided comparisons as JUnit XML: a test case for each task."""
    failures = failing(rows, fail_on)
    tags = [_junit_tag(row, fails=row in failures) for row in rows]
    counts = {"tests": str(len(rows)), "failures": str(tags.count("failure"))}
    attributes = {
        "name": f"{after} against {before}",
        "errors": str(tags.count("error")),
        "skipped": str(tags.count("skipped")),
        **counts,
    }
    suite = ET.Element("testsuite", attributes)
    for row, tag in zip(rows, tags, strict=True):
        case = ET.SubElement(suite, "testcase", classname=row.task, name=row.metric)
        message = {} if tag == "system-out" else {"message": row.shown_verdict}
        ET.SubElement(case, tag, message).text = _format_numbers(row)
    root = ET.Element("testsuites", counts)
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _junit_tag(row: Comparison, *, fails: bool) -> str:
    """Name of the element in a test case that holds the numbers of a comparison."""
    if row.verdict == NOT_COMPARABLE:
        return "error" if fails else "skipped"
    return "failure" if fails else "system-out"


def markdown_summary(before: str, after: str, rows: Sequence[Comparison]) -> str:
    """Format decided comparisons as Markdown: the sentence, then a table."""
    sentence = escape_markdown(comparison_sentence(before, after, rows))
    lines = [_markdown_line(_COLUMNS), "|---" * len(_COLUMNS) + "|", *map(_markdown_row, rows)]
    return "\n".join([sentence, "", *lines, ""])


def _markdown_row(row: Comparison) -> str:
    verdict = escape_markdown(row.shown_verdict)
    if row.verdict in ("better", "worse"):
        verdict = f"**{row.verdict}**"
    before, after = row.shown_values
    change = f"{row.change:+.3f}"
    names = escape_markdown(row.task), escape_markdown(row.metric)
    test = row.interval, format_p(row.p), str(row.n)
    return _markdown_line([*names, before, after, change, *test, verdict])


def _markdown_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _format_numbers(row: Comparison) -> str:
    """Numbers behind a verdict; without one, the command that allows one."""
    if row.verdict == NOT_COMPARABLE:
        return row.remedy
    change = f"{' -> '.join(row.shown_values)} ({row.change:+.3f}, 95 % {row.interval})"
    p = format_p(row.p)
    p_text = f"p {p}" if p.startswith("<") else f"p = {p}"
    return f"{row.shown_verdict}: {change}, {p_text}, n = {row.n}"
