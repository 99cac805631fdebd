"""The papers' claims, tried: one table a suite."""

from collections.abc import Iterable

import dagster as dg

from bench_assets.core.claims import Cell, Tried
from bench_assets.core.markdown import as_text
from bench_assets.core.printed_claims import tried_as_printed
from bench_assets.core.published import read_published
from bench_assets.graph.measured_claims import MeasuredClaims, claim_key
from bench_assets.suite import Suite
from resources.home.tables import TableFiles, table_output
from resources.settings.bench_toml import Settings
from resources.settings.model_specs import EMBEDDED_MODELS
from resources.settings.settings_file import SettingsFile

CLAIMS = "claims"
"""Name of the table, one a suite: ``codis/claims``."""

_UNINFORMED = ("random", "most_frequent")


def claims_asset(suite: Suite) -> dg.AssetsDefinition:
    """Build the asset that tries what the paper of a suite says."""

    @dg.asset(
        key=[suite.name, CLAIMS],
        deps=_tables_of(suite),
        group_name=CLAIMS,
        kinds={"python"},
        tags={"bench/stage": CLAIMS},
        description=(
            "One row: a sentence of the paper, tried on its own numbers or on those measured "
            "here, of one model or of all together."
        ),
    )
    def claims(settings: SettingsFile, tables: TableFiles) -> dg.Output[list[Tried]]:
        rows = tried_claims(suite, tables, settings.load())
        return table_output(rows, {"verdicts": dg.MetadataValue.md(_as_markdown(rows))})

    return claims


def tried_claims(suite: Suite, tables: TableFiles, settings: Settings) -> list[Tried]:
    """Try the claims of a suite on the paper's numbers, then on those of a home.

    Raises:
        SourceError: If its table of printed numbers cannot be read.
    """
    printed = read_published(suite.published) if suite.published else []
    measured = MeasuredClaims(suite.name, suite.tasks, tables, printed, uninformed(settings))
    return [*tried_as_printed(suite.name, suite.claims, printed), *measured.tried(suite.claims)]


def uninformed(settings: Settings) -> set[str]:
    """Models that answer without looking: baselines, and those that are shown no picture."""
    return {
        name
        for name, spec in {**EMBEDDED_MODELS, **settings.models}.items()
        if spec.kind in _UNINFORMED or getattr(spec, "text_only", False)
    }


def _tables_of(suite: Suite) -> list[dg.AssetKey]:
    tasks = {task.name: task for task in suite.tasks}
    keys = [claim_key(tasks[cell.task], cell) for cell in _cells(suite)]
    return [dg.AssetKey(key) for key in dict.fromkeys(map(tuple, keys))]


def _cells(suite: Suite) -> Iterable[Cell]:
    for claim in suite.claims:
        for term in claim.terms:
            yield term.cell.here or term.cell


def _as_markdown(rows: Iterable[Tried]) -> str:
    lines = ["| claim | on | verdict | by | 95 % interval |", "|---|---|---|---:|---|"]
    lines += [
        f"| {as_text(row.sentence)} | {row.on} | {row.verdict} | {row.value:.3f}"
        f" | {row.low:.3f} to {row.high:.3f} |"
        for row in rows
        if not row.model
    ]
    return "\n".join(lines)
