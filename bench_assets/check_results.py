"""What a check found, as the UI and the command line show it."""

from collections.abc import Sequence

import dagster as dg

from bench_assets.core.markdown import as_text

_SHOWN = 10  # problems that are listed


def check_result(
    problems: Sequence[str],
    *,
    n: int,
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
    about: dict[str, list[str]] | None = None,
) -> dg.AssetCheckResult:
    """Pass if there are no problems; list the first of them if there are.

    Args:
        problems: One line each, naming the row.
        n: Rows that were looked at.
        severity: ERROR stops what lies downstream of a blocking check.
        about: Further lists to show.
    """
    listed = "\n".join(f"- {as_text(problem)}" for problem in problems[:_SHOWN])
    if len(problems) > _SHOWN:
        listed += f"\n- and {len(problems) - _SHOWN} more"
    return dg.AssetCheckResult(
        passed=not problems,
        severity=severity,
        metadata={
            "rows": n,
            "problems": len(problems),
            **(about or {}),
            **({"examples": dg.MetadataValue.md(listed)} if listed else {}),
        },
    )
