"""A run of Dagster whose assets and checks do nothing, recorded in SQLite.

``python -m benchmarks.bare_dagster FOLDER predictions:3 scores:0`` materializes two assets, the
second from the first, with three checks of the first and none of the second. It prints when the
first asset was materialized, in seconds on the monotonic clock.
"""

import sys
from pathlib import Path
from time import monotonic

import dagster as dg

MODELS = dg.DynamicPartitionsDefinition(name="models")
INSTANCE_CONFIG = """\
telemetry:
  enabled: false
compute_logs:
  module: dagster._core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager
"""
RUN_CONFIG = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def define_asset(name: str, deps: list[str], times: list[float]) -> dg.AssetsDefinition:
    """Define an asset that only appends the time of its materialization."""

    @dg.asset(name=name, partitions_def=MODELS, deps=deps)
    def asset() -> None:
        times.append(monotonic())

    return asset


def define_checks(asset_name: str, n_checks: int) -> dg.AssetChecksDefinition:
    """Define checks of an asset that pass, in one step."""
    names = [f"check_{number}" for number in range(n_checks)]
    specs = [dg.AssetCheckSpec(name, asset=asset_name) for name in names]

    @dg.multi_asset_check(name=f"{asset_name}_checks", specs=specs)
    def checks():  # type: ignore[no-untyped-def]  # noqa: ANN202  # Dagster reads the annotation
        for spec in specs:
            yield dg.AssetCheckResult(passed=True, check_name=spec.name, asset_key=spec.asset_key)

    return checks


def main(folder: Path, *counts: str) -> float:
    """Materialize the assets, and return when the first one was materialized."""
    times: list[float] = []
    n_checks = {name: int(number) for name, number in (count.split(":") for count in counts)}
    names = list(n_checks)
    assets = [
        define_asset(name, names[max(0, index - 1) : index], times)
        for index, name in enumerate(names)
    ]
    checks = [define_checks(name, number) for name, number in n_checks.items() if number]
    folder.mkdir(exist_ok=True)
    (folder / "dagster.yaml").write_text(INSTANCE_CONFIG)
    instance = dg.DagsterInstance.from_config(str(folder))
    instance.add_dynamic_partitions("models", ["m"])
    job = dg.Definitions(assets, asset_checks=checks).resolve_implicit_global_asset_job_def()
    assert job.execute_in_process(RUN_CONFIG, instance=instance, partition_key="m").success
    return times[0]


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), *sys.argv[2:]))
