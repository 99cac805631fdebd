"""Sensor that ends runs whose job left a cluster's queue before they began.

Dagster's run monitoring checks the health of runs that have begun. One that is starting waits for
``start_timeout_seconds``, which is days where jobs may queue.
"""

import dagster as dg

from bench_resources.config.bench_toml import Settings
from bench_resources.runs.orphaned_runs import end_orphaned_runs

_INTERVAL = 30  # s between two ticks


def orphaned_run_sensors(settings: Settings) -> list[dg.SensorDefinition]:
    """Build the sensor; none if runs start on this machine."""
    if settings.cluster.launcher == "local":
        return []

    @dg.sensor(
        name="orphaned_runs",
        minimum_interval_seconds=_INTERVAL,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Ends runs whose process is gone, or whose job left the queue too early.",
    )
    def orphaned_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        ended = end_orphaned_runs(context.instance)
        return dg.SkipReason(f"ended: {', '.join(ended)}" if ended else "no orphaned run")

    return [orphaned_runs]
