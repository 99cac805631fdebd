"""Sensors on bench.toml and on what it names: changed sources and setups, and new models.

The leaderboard follows a changed setup, which marks metrics as stale. Models and encoders added to
bench.toml become partitions while the UI runs.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import dagster as dg

from bench_assets.asset_factory.suite_assets import ENCODERS, MODELS
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.models import DEMO_MODELS
from bench_resources.tables.parquet import TableFiles

_OBSERVATION_INTERVAL = 60  # s between two ticks, each of which takes a few ms per model
_MODEL_INTERVAL = 30  # s between two looks for new models

Observe: TypeAlias = Callable[
    [dg.DagsterInstance, Settings, TableFiles], Sequence[dg.AssetObservation]
]
"""Observations of the inputs that have changed since the last ones."""


def observation_sensor(observe: Observe) -> dg.SensorDefinition:
    """Build the sensor that observes sources and setups; it starts no run."""

    @dg.sensor(
        name="observed_inputs",
        minimum_interval_seconds=_OBSERVATION_INTERVAL,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=(
            "Observes the files of the sources, and the setups of models, judges and scorers: "
            "tables made of what has changed are stale. On by default: it starts no run."
        ),
    )
    def observed_inputs(
        context: dg.SensorEvaluationContext,
        settings: dg.ResourceParam[Settings],
        tables: TableFiles,
    ) -> dg.SensorResult:
        changed = observe(context.instance, settings, tables)
        names = ", ".join(event.asset_key.to_user_string() for event in changed)
        return dg.SensorResult(
            asset_events=changed, skip_reason=f"changed: {names}" if names else "nothing changed"
        )

    return observed_inputs


def model_sensor() -> dg.SensorDefinition:
    """Build the sensor that adds new models of bench.toml."""

    @dg.sensor(
        name="configured_models",
        minimum_interval_seconds=_MODEL_INTERVAL,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Adds a partition for each model and encoder of bench.toml; evaluates none.",
    )
    def models(
        context: dg.SensorEvaluationContext, settings: dg.ResourceParam[Settings]
    ) -> dg.SensorResult:
        return new_partitions(context.instance, settings)

    return models


def new_partitions(instance: dg.DagsterInstance, settings: Settings) -> dg.SensorResult:
    """Request missing partitions; none is removed, because its tables would be hidden."""
    configured = {
        MODELS: [*DEMO_MODELS, *settings.models],
        ENCODERS: ["random", *settings.encoders],
    }
    missing = {}
    for partitions, names in configured.items():
        existing = set(instance.get_dynamic_partitions(str(partitions.name)))
        missing[partitions] = [name for name in dict.fromkeys(names) if name not in existing]
    new = [name for names in missing.values() for name in names]
    return dg.SensorResult(
        skip_reason=f"new: {', '.join(new)}" if new else "every model is a partition",
        dynamic_partitions_requests=[
            partitions.build_add_request(names) for partitions, names in missing.items() if names
        ],
    )
