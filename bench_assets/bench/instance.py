"""The Dagster instance of a home folder, and what a run on it says when it fails."""

import shutil
from pathlib import Path

import dagster as dg

from bench_assets.core import errors
from bench_assets.core.errors import BenchError
from resources.settings.bench_toml import CHECKOUT

POOLS = {"gpu": 1, "judge": 4}
"""Runs that may hold a pool at once: one loads weights, a few wait for judges."""


class RunError(BenchError):
    """A run ended early; says at which asset or check, and why."""


def open_instance(home: Path) -> dg.DagsterInstance:
    """Open the Dagster instance in ``home/dagster``; makes it on the first call."""
    folder = home / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(CHECKOUT / "dagster.yaml", folder / "dagster.yaml")
    instance = dg.DagsterInstance.from_config(str(folder))
    for pool, limit in POOLS.items():
        # A default limit alone lets the first two runs overlap: set each pool by name.
        instance.event_log_storage.set_concurrency_slots(pool, limit)
    return instance


def failure_of(result: dg.ExecuteInProcessResult) -> BenchError:
    """Say in one message why a run failed: the blocking checks, or what an asset raised."""
    checks = [c for c in result.get_asset_check_evaluations() if not c.passed and c.blocking]
    if checks:
        return RunError("\n".join(map(_check_message, checks)))
    ours = {name for name, kind in vars(errors).items() if isinstance(kind, type)}
    for event in result.all_events:
        if event.is_step_failure and (error := event.step_failure_data.error):
            while error.cause and error.cls_name not in ours:
                error = error.cause
            message = error.message.removeprefix(f"bench_assets.core.errors.{error.cls_name}: ")
            asset = (event.step_key or "").replace("__", "/")
            return RunError(f"{asset}: {message.strip()}")
    return RunError("the run failed; its page in the UI says more")


def _check_message(check: dg.AssetCheckEvaluation) -> str:
    found = {name: value.value for name, value in check.metadata.items()}
    examples = str(found.get("examples", "")).replace("\n", "\n  ")
    return (
        f"{check.asset_key.to_user_string()}: {found.get('problems')} of {found.get('rows')} rows "
        f"fail the check {check.check_name}:\n  {examples}"
    )
