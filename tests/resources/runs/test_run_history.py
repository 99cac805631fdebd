from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from bench_resources.runs.run_history import delete_old_runs

MODELS = dg.DynamicPartitionsDefinition(name="model")
TOMORROW = datetime.now(UTC) + timedelta(days=1)


@dg.asset
def questions() -> None:
    """A table of no model."""


@dg.asset(partitions_def=MODELS)
def scores(context: dg.AssetExecutionContext) -> None:
    """A table of a model; there is none of a broken one."""
    if context.partition_key == "broken":
        raise ValueError


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        instance.add_dynamic_partitions("model", ["a", "b", "broken"])
        yield instance


def materialize(instance, asset, model=None):
    """Materialize an asset; returns the id of the run, which may fail."""
    return dg.materialize(
        [asset], instance=instance, partition_key=model, raise_on_error=False
    ).run_id


def test_runs_that_made_present_tables_stay(instance: dg.DagsterInstance, tmp_path: Path) -> None:
    first = materialize(instance, questions)
    failed = materialize(instance, scores, "broken")
    second = materialize(instance, questions)
    first_of_a = materialize(instance, scores, "a")
    second_of_a = materialize(instance, scores, "a")
    run_of_b = materialize(instance, scores, "b")
    assert delete_old_runs(instance, TOMORROW, 100) == [first, failed, first_of_a]
    assert set(instance.get_run_ids()) == {second, second_of_a, run_of_b}
    assert instance.get_materialized_partitions(dg.AssetKey("scores")) == {"a", "b"}
    assert not list(tmp_path.rglob(f"{failed}.db*"))
    assert list(tmp_path.rglob(f"{second}.db"))


def test_young_and_unfinished_runs_stay_and_the_limit_is_respected(instance):
    failed = [materialize(instance, scores, "broken") for _ in range(3)]
    job = dg.Definitions([questions]).resolve_implicit_global_asset_job_def()
    running = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED).run_id
    assert delete_old_runs(instance, datetime.now(UTC) - timedelta(days=1), 100) == []
    assert delete_old_runs(instance, TOMORROW, 2) == failed[:2]
    assert delete_old_runs(instance, TOMORROW, 2) == failed[2:]
    assert instance.get_run_ids() == [running]
