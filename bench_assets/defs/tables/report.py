"""The report as an asset."""

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import evaluation_key
from bench_assets.catalog import Catalog
from bench_assets.core.schema.rows import LeaderboardRow
from bench_assets.defs.tables.leaderboard import FRESHNESS
from bench_assets.report.building import make_report, parts
from bench_resources.config.bench_toml import Settings
from bench_resources.tables.parquet import TableFiles
from bench_sensors.checkpoints import describe_missing


def report_asset(catalog: Catalog) -> dg.AssetsDefinition:
    """Build the report asset, downstream of the leaderboard and of all metrics."""

    @dg.asset(
        ins={"leaderboard": dg.AssetIn()},
        deps=[
            evaluation_key(task, condition, "metrics")
            for task in catalog.tasks
            for condition in task.conditions
            if condition == "main" or task.asked_of == "model"
        ],
        group_name="leaderboard",
        kinds={"html"},
        tags={"bench/stage": "leaderboard"},
        freshness_policy=FRESHNESS,
        description="All results as a site that opens from disk, in `report/`.",
    )
    def report(
        context: dg.AssetExecutionContext,
        settings: dg.ResourceParam[Settings],
        tables: TableFiles,
        leaderboard: list[LeaderboardRow],
    ) -> None:
        missing = describe_missing(context.instance, settings, catalog.evaluable.suites)
        report_parts = parts(leaderboard, catalog, settings, missing=missing)
        page = make_report(settings, tables, catalog, report_parts, context.log.info)
        context.add_output_metadata({"page": dg.MetadataValue.path(page)})

    return report
