"""Asset check results: a sentence and the first problems."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from bench_assets.core.text.escaping import escape_markdown

_MAX_SHOWN = 10  # problems that are listed
_SENTENCE = 300  # characters of a problem that is named in the sentence


def check_result(
    problems: Sequence[str],
    *,
    n: int,
    noun: str = "row",
    holds: str = "",
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
    about: dict[str, list[str]] | None = None,
) -> dg.AssetCheckResult:
    """Build a check result: passed without problems, otherwise with the first problems listed.

    Args:
        problems: One line each, naming the row.
        n: Number of checked rows.
        noun: Singular noun for a row, such as "question".
        holds: Description of a passed check.
        severity: ERROR stops assets downstream of a blocking check.
        about: Further lists for the metadata.
    """
    metadata: dict[str, Any] = {"rows": n, "problems": len(problems), **(about or {})}
    if problems:
        description = _format_problems(problems, format_count(n, noun))
        metadata["examples"] = dg.MetadataValue.md(_format_list(problems))
    else:
        description = holds or f"No problem among {format_count(n, noun)}."
    return dg.AssetCheckResult(
        passed=not problems, severity=severity, description=description, metadata=metadata
    )


def with_advice(result: dg.AssetCheckResult, advice: str) -> dg.AssetCheckResult:
    """Add advice to the result of a failed check; "" adds nothing."""
    if not advice:
        return result
    examples = f"{result.metadata['examples'].value}\n\n{escape_markdown(advice)}"
    return result._replace(
        description=f"{(result.description or '').rstrip('.')}. {escape_markdown(advice)}",
        metadata={**result.metadata, "examples": dg.MetadataValue.md(examples)},
    )


def format_count(n: int, noun: str) -> str:
    """Format a count with its noun.

    >>> format_count(1, "row"), format_count(2, "row"), format_count(3, "entry")
    ('1 row', '2 rows', '3 entries')
    """
    if n == 1:
        return f"1 {noun}"
    return f"{n} {noun[:-1]}ies" if noun.endswith("y") else f"{n} {noun}s"


def _format_list(problems: Sequence[str]) -> str:
    lines = [f"- {escape_markdown(problem)}" for problem in problems[:_MAX_SHOWN]]
    if len(problems) > _MAX_SHOWN:
        lines.append(f"- and {len(problems) - _MAX_SHOWN} more")
    return "\n".join(lines)


def _format_problems(problems: Sequence[str], row_count: str) -> str:
    """Count the problems among ``row_count``, such as "3 rows", and name the first."""
    first = problems[0]
    if len(first) > _SENTENCE:
        first = f"{first[:_SENTENCE]} …"
    prefix = "" if len(problems) == 1 else "the first: "
    problem_count = format_count(len(problems), "problem")
    return f"{problem_count} among {row_count}; {prefix}{escape_markdown(first)}"
