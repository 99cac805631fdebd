"""Models and encoders that are added to bench.toml become partitions while the UI runs."""

from collections.abc import Iterable

import dagster as dg

from bench_assets.asset_factory.partitions import ENCODERS, MODELS
from resources.config.bench_toml import Settings
from resources.config.sections.models import EMBEDDED_MODELS
from resources.config.settings_resource import SettingsFile


def model_sensor() -> dg.SensorDefinition:
    """Build the sensor that reads bench.toml again and again."""

    @dg.sensor(
        name="configured_models",
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Makes each model of bench.toml a partition, and each encoder; asks none.",
    )
    def models(context: dg.SensorEvaluationContext, settings: SettingsFile) -> dg.SensorResult:
        return new_partitions(context.instance, settings.load())

    return models


def new_partitions(instance: dg.DagsterInstance, settings: Settings) -> dg.SensorResult:
    """Ask for the partitions that are missing; none is taken away: its tables would be hidden.

    Args:
        instance: Holds the partitions.
        settings: bench.toml as it is now.
    """
    named = [name for suite in settings.suites.values() for name in suite.get("encoders", ())]
    wanted = {MODELS: [*EMBEDDED_MODELS, *settings.models], ENCODERS: ["random", *named]}
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
    there = set(instance.get_dynamic_partitions(str(of.name)))
    return [name for name in dict.fromkeys(names) if name not in there]
