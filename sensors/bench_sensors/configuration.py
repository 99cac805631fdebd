"""Sensors on bench.toml: new models, and a fresh leaderboard.

The leaderboard marks metrics as stale if their configuration changed; this sensor updates it
without waiting for the next evaluation. Models and encoders added to bench.toml become partitions
while the UI runs.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias

import dagster as dg

from bench_assets.asset_factory.suite_assets import ENCODERS, MODELS
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.models import DEMO_MODELS
from bench_resources.tables.parquet import TableFiles

State: TypeAlias = Callable[[Settings, TableFiles], str]

LEADERBOARD = dg.AssetKey("leaderboard")


def configuration_sensor(state: State) -> dg.SensorDefinition:
    """Build the sensor on changes of the configuration; it evaluates no model.

    Args:
        state: Digests the parts of the configuration that make metrics stale.
    """

    @dg.sensor(
        name="configuration_changes",
        target=dg.AssetSelection.assets(LEADERBOARD),
        minimum_interval_seconds=60,  # a tick takes a few milliseconds per model
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=(
            "Rebuilds the leaderboard when the configuration of an evaluated model or of a judge "
            "changes, which marks their metrics as stale. On by default: it evaluates no model."
        ),
    )
    def configuration_changes(
        context: dg.SensorEvaluationContext,
        settings: dg.ResourceParam[Settings],
        tables: TableFiles,
    ) -> dg.SensorResult:
        return detect_changes(context.instance, settings, tables, context.cursor, state)

    return configuration_changes


def detect_changes(
    instance: dg.DagsterInstance,
    settings: Settings,
    tables: TableFiles,
    cursor: str | None,
    state: State,
) -> dg.SensorResult:
    """Compare with the last tick; the first tick only records."""
    now = state(settings, tables)
    if cursor in (None, now):
        return dg.SensorResult(cursor=now, skip_reason="the configuration is unchanged")
    if instance.get_latest_materialization_event(LEADERBOARD) is None:
        return dg.SensorResult(cursor=now, skip_reason="the leaderboard was never materialized")
    request = dg.RunRequest(asset_selection=[LEADERBOARD])  # its export follows by itself
    return dg.SensorResult(cursor=now, run_requests=[request])


def model_sensor() -> dg.SensorDefinition:
    """Build the sensor that adds new models of bench.toml."""

    @dg.sensor(
        name="configured_models",
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Adds a partition for each model and encoder of bench.toml; evaluates none.",
    )
    def models(
        context: dg.SensorEvaluationContext, settings: dg.ResourceParam[Settings]
    ) -> dg.SensorResult:
        return new_partitions(context.instance, settings)

    return models


def new_partitions(instance: dg.DagsterInstance, settings: Settings) -> dg.SensorResult:
    """Request missing partitions; none is removed, because its tables would be hidden.

    Args:
        instance: Dagster instance with the partitions.
        settings: Current settings.
    """
    wanted = {
        MODELS: [*DEMO_MODELS, *settings.models],
        ENCODERS: ["random", *settings.encoders],
    }
    missing = {one: _missing(instance, one, names) for one, names in wanted.items()}
    new = [name for names in missing.values() for name in names]
    return dg.SensorResult(
        skip_reason=f"new: {', '.join(new)}" if new else "every model is a partition",
        dynamic_partitions_requests=[
            one.build_add_request(names) for one, names in missing.items() if names
        ],
    )


def _missing(
    instance: dg.DagsterInstance, of: dg.DynamicPartitionsDefinition, names: Iterable[str]
) -> list[str]:
    existing = set(instance.get_dynamic_partitions(str(of.name)))
    return [name for name in dict.fromkeys(names) if name not in existing]
