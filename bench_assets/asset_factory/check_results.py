"""Asset check results: a sentence and the first problems."""

from collections.abc import Sequence

import dagster as dg

from bench_assets.core.text.escaping import as_text

_SHOWN = 10  # problems that are listed
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
        n: Number of checked rows.
        of: Noun for a row, such as "question".
        holds: Sentence that is true if there are no problems.
        severity: ERROR stops assets downstream of a blocking check.
        about: Further lists for the metadata.
    """
    listed = "\n".join(f"- {as_text(problem)}" for problem in problems[:_SHOWN])
    if len(problems) > _SHOWN:
        listed += f"\n- and {len(problems) - _SHOWN} more"
    return dg.AssetCheckResult(
        passed=not problems,
        severity=severity,
        description=_found(problems, counted(n, of)) if problems else holds or _nothing(n, of),
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
    examples = f"{result.metadata['examples'].value}\n\n{as_text(advice)}"
    return result._replace(
        description=f"{result.description}. {as_text(advice)}",
        metadata={**result.metadata, "examples": dg.MetadataValue.md(examples)},
    )


def counted(n: int, of: str) -> str:
    """Format a count with its noun.

    >>> counted(1, "row"), counted(2, "question"), counted(3, "response")
    ('1 row', '2 questions', '3 responses')
    """
    if n == 1:
        return f"1 {of}"
    return f"{n} {of[:-1]}ies" if of.endswith("y") else f"{n} {of}s"


def _found(problems: Sequence[str], among: str) -> str:
    first = problems[0]
    cut = first if len(first) <= _SENTENCE else f"{first[:_SENTENCE]} …"
    which = "" if len(problems) == 1 else "the first: "
    return f"{counted(len(problems), 'problem')} among {among}; {which}{as_text(cut)}"


def _nothing(n: int, of: str) -> str:
    return f"No problem among {counted(n, of)}."
