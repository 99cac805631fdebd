"""Asset check results: a sentence and the first problems."""

from collections.abc import Sequence

import dagster as dg

from bench_assets.core.text.escaping import escape_markdown

_MAX_SHOWN = 10  # problems that are listed
_SENTENCE = 300  # characters of a problem that is named in the sentence


def check_result(
    problems: Sequence[str],
    *,
    n: int,
    of: str = "row",
    holds: str = "",
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
    about: dict[str, list[str]] | None = None,
) -> dg.AssetCheckResult:
    """Build a check result: passed without problems, otherwise with the first problems listed.

    Args:
        problems: One line each, naming the row.
        n: Number of rows among which the problems are.
        of: Noun for a row, such as "question"; "rejection" where only those are read.
        holds: Sentence that is true if there are no problems.
        severity: ERROR stops assets downstream of a blocking check.
        about: Further lists for the metadata.
    """
    listed = "\n".join(f"- {escape_markdown(problem)}" for problem in problems[:_MAX_SHOWN])
    if len(problems) > _MAX_SHOWN:
        listed += f"\n- and {len(problems) - _MAX_SHOWN} more"
    return dg.AssetCheckResult(
        passed=not problems,
        severity=severity,
        description=_format_problems(problems, format_count(n, of))
        if problems
        else holds or _format_passed(n, of),
        metadata={
            "rows": n,
            "problems": len(problems),
            **(about or {}),
            **({"examples": dg.MetadataValue.md(listed)} if listed else {}),
        },
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


def format_count(n: int, of: str) -> str:
    """Format a count with its noun.

    >>> format_count(1, "row"), format_count(2, "question"), format_count(3, "response")
    ('1 row', '2 questions', '3 responses')
    """
    if n == 1:
        return f"1 {of}"
    return f"{n} {of[:-1]}ies" if of.endswith("y") else f"{n} {of}s"


def _format_problems(problems: Sequence[str], among: str) -> str:
    first = problems[0]
    cut = first if len(first) <= _SENTENCE else f"{first[:_SENTENCE]} …"
    prefix = "" if len(problems) == 1 else "the first: "
    return f"{format_count(len(problems), 'problem')} among {among}; {prefix}{escape_markdown(cut)}"


def _format_passed(n: int, of: str) -> str:
    return f"No problem among {format_count(n, of)}."
