"""The least that a run costs in Dagster: assets and checks that do nothing, recorded in SQLite.

``python -m benchmarks.bare_dagster FOLDER predictions:3 scores:0``: two assets, the second of the
first, and three checks of the first. Prints when the first asset was made, on the monotonic clock.
"""

import sys
from pathlib import Path
from time import monotonic

import dagster as dg

MODELS = dg.DynamicPartitionsDefinition(name="models")
SETTINGS = """\
telemetry:
  enabled: false
compute_logs:
  module: dagster._core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager
"""
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def nothing(name: str, before: list[str], made: list[float]) -> dg.AssetsDefinition:
    """An asset that does nothing, of those before it."""

    @dg.asset(name=name, partitions_def=MODELS, deps=before)
    def asset() -> None:
        made.append(monotonic())

    return asset


def passed(name: str, n: int) -> dg.AssetChecksDefinition:
    """Checks of an asset that pass, in one step."""
    specs = [dg.AssetCheckSpec(f"check_{number}", asset=name) for number in range(n)]

    @dg.multi_asset_check(name=f"{name}_checks", specs=specs)
    def checks():  # type: ignore[no-untyped-def]  # noqa: ANN202  # Dagster reads the annotation
        for spec in specs:
            yield dg.AssetCheckResult(passed=True, check_name=spec.name, asset_key=spec.asset_key)

    return checks


def main(folder: Path, *counts: str) -> float:
    """Make the assets once; returns when the first one was made."""
    made: list[float] = []
    n_checks = {name: int(n) for name, n in (count.split(":") for count in counts)}
    names = list(n_checks)
    assets = [nothing(name, names[max(0, n - 1) : n], made) for n, name in enumerate(names)]
    checks = [passed(name, n) for name, n in n_checks.items() if n]
    folder.mkdir(exist_ok=True)
    (folder / "dagster.yaml").write_text(SETTINGS)
    instance = dg.DagsterInstance.from_config(str(folder))
    instance.add_dynamic_partitions("models", ["m"])
    job = dg.Definitions(assets, asset_checks=checks).resolve_implicit_global_asset_job_def()
    assert job.execute_in_process(QUIET, instance=instance, partition_key="m").success
    return made[0]


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), *sys.argv[2:]))
