"""One table of all models and all tasks, with the papers' own rows beside ours."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import dagster as dg

from bench_assets.catalog import Catalog
from bench_assets.core.errors import TableError
from bench_assets.core.published import Published
from bench_assets.core.standing import Standing
from bench_assets.core.tables import to_json
from bench_assets.evaluation import evaluation_key
from bench_assets.graph.staleness import Configured
from bench_assets.graph.standings import all_standings
from bench_assets.shown import blind
from resources.home.tables import TableFiles, table_output
from resources.settings.settings_file import SettingsFile

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS = ("value", "low", "high", "constant", "shuffled")


def leaderboard_assets(catalog: Catalog) -> list[dg.AssetsDefinition]:
    """Build the table of printed numbers, the leaderboard and its export."""
    return [_published(catalog), _leaderboard(catalog), _export()]


def _published(catalog: Catalog) -> dg.AssetsDefinition:
    @dg.asset(
        group_name="leaderboard",
        kinds={"python"},
        tags={"bench/stage": "leaderboard"},
        description="One row: one number as a paper printed it, with the paper and the table.",
    )
    def published(context: dg.AssetExecutionContext) -> dg.Output[list[Published]]:
        rows, problems = catalog.published()
        for problem in problems:
            context.log.warning(problem)
        return table_output(rows, {"problems": "; ".join(problems) or "none"})

    return published


def _leaderboard(catalog: Catalog) -> dg.AssetsDefinition:
    @dg.asset(
        ins={"published": dg.AssetIn()},
        deps=[evaluation_key(task, "main", "metrics") for task in catalog.tasks],
        group_name="leaderboard",
        kinds={"duckdb"},
        tags={"bench/stage": "leaderboard"},
        description=(
            "One row: a task's primary metric for one model, measured here on the questions as "
            "they are now, or published. Rows of different editions are not comparable."
        ),
    )
    def leaderboard(
        settings: SettingsFile, tables: TableFiles, published: list[Published]
    ) -> dg.Output[list[Standing]]:
        now = Configured(settings.load())
        rows = all_standings(catalog.tasks, tables, published, now)
        return table_output(rows, {"table": dg.MetadataValue.md(as_markdown(rows))})

    return leaderboard


def _export() -> dg.AssetsDefinition:
    @dg.asset(
        ins={"leaderboard": dg.AssetIn()},
        group_name="leaderboard",
        kinds={"pandas"},
        tags={"bench/stage": "leaderboard"},
        description="The leaderboard as CSV and Parquet files for use elsewhere, in `export/`.",
    )
    def leaderboard_export(
        context: dg.AssetExecutionContext, tables: TableFiles, leaderboard: list[Standing]
    ) -> None:
        frame = leaderboard_frame(leaderboard)
        export = tables.export
        export.put("leaderboard.csv", frame.to_csv(index=False).encode())
        export.put("leaderboard.parquet", frame.to_parquet(index=False))
        context.add_output_metadata(
            {"rows": len(frame), "csv": dg.MetadataValue.path(export.named("leaderboard.csv"))}
        )

    return leaderboard_export


def as_markdown(rows: Sequence[Standing]) -> str:
    """Print the leaderboard for the UI."""
    columns = ("task", "edition", "model", "value", "95 % interval", "constant", "shuffled", "n")
    lines = [f"| {' | '.join(columns)} | source |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        interval = "" if row.low is None else f"{row.low:.3f} to {row.high:.3f}"
        n = "" if row.n_scored is None else str(row.n_scored)
        n += f" ({row.n_unscored} unscored)" if row.n_unscored else ""
        n += f" ({row.n_failed} without reply)" if row.n_failed else ""
        n += f" ({row.n_no_answer} no answer)" if row.n_no_answer else ""
        lines.append(
            f"| {row.task} {row.metric} | {row.edition} | {row.model} | {row.value:.3f}"
            f" | {interval} | {blind(row.constant)} | {blind(row.shuffled)} | {n}"
            f" | {row.shown_source} |"
        )
    return "\n".join(lines)


def leaderboard_frame(rows: Sequence[Standing]) -> "pd.DataFrame":
    """Make the data frame that leaves the system, checked column by column.

    Raises:
        TableError: If a value is not of its column's type.
    """
    import pandas as pd
    from dagster_pandas import PandasColumn, create_dagster_pandas_dataframe_type

    texts = ["task", "edition", "metric", "model", "source"]
    frame_type = create_dagster_pandas_dataframe_type(
        name="Leaderboard",
        columns=[
            *(PandasColumn.string_column(name, non_nullable=True) for name in texts),
            *(PandasColumn.float_column(name, ignore_missing_vals=True) for name in _NUMBERS),
        ],
    )
    names = list(Standing.__dataclass_fields__)
    frame = pd.DataFrame([to_json(row) for row in rows], columns=names)
    frame = frame.astype(dict.fromkeys(_NUMBERS, float))
    check = frame_type.type_check(None, frame)
    if not check.success:
        raise TableError(f"leaderboard: {check.description}")
    return frame
