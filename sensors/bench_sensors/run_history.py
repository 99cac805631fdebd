"""Sensor that keeps Dagster's run history in the bounds of [storage]."""

from datetime import UTC, datetime, timedelta

import dagster as dg

from bench_resources.config.bench_toml import Settings
from bench_resources.runs.run_history import delete_old_runs

_INTERVAL = 3600  # s between two ticks
_RUNS_A_TICK = 100  # runs that a tick deletes; Dagster gives a tick 60 s


def run_history_sensor() -> dg.SensorDefinition:
    """Build the sensor that deletes old runs."""

    @dg.sensor(
        name="run_history",
        minimum_interval_seconds=_INTERVAL,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=(
            "Deletes finished runs that are older than `run_history_days` in [storage] and made no "
            "present table."
        ),
    )
    def run_history(
        context: dg.SensorEvaluationContext, settings: dg.ResourceParam[Settings]
    ) -> dg.SkipReason:
        days = settings.storage.run_history_days
        before = datetime.now(UTC) - timedelta(days=days)
        deleted = delete_old_runs(context.instance, before, _RUNS_A_TICK) if days else []
        return dg.SkipReason(f"runs deleted: {len(deleted)}" if deleted else "no old run")

    return run_history
