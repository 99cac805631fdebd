from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_assets.workspace.materialization.dagster_instance import open_instance
from bench_resources.config.bench_toml import load_settings
from bench_resources.models.registry.named_models import model_pools

CLUSTER = "[cluster]\npools = { hosted = 4, node-a = 1 }\n"
HOSTED_WITHOUT_POOL = '[models.gpt]\nkind = "server"\nbase_url = "http://s/v1"\nmodel = "m"\n'
HOSTED = f'{HOSTED_WITHOUT_POOL}pool = "hosted"\n'
STARTED_WITHOUT_POOL = (
    '[models.mine]\nkind = "server"\npath = "w"\nserve = "vllm serve {path} --port {port}"\n'
)
STARTED = f'{STARTED_WITHOUT_POOL}pool = "node-a"\n'


def pools(home: Path, text: str) -> dict[str, str]:
    (home / "bench.toml").write_text(text, encoding="utf-8")
    return model_pools(load_settings(home))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", {}, id="no model has a pool without sections"),
        pytest.param(
            HOSTED_WITHOUT_POOL + STARTED_WITHOUT_POOL,
            {"gpt": "server@s"},
            id="only a hosted server has a pool of its own, named by its address",
        ),
        pytest.param(
            CLUSTER + HOSTED + STARTED,
            {"gpt": "hosted", "mine": "node-a"},
            id="each section names the pool of its model",
        ),
        pytest.param(
            f'{CLUSTER}pool_of = {{ gpt = "node-a" }}\n{HOSTED}',
            {"gpt": "node-a"},
            id="[cluster] overrides the section of the model",
        ),
        pytest.param(
            f'{CLUSTER}{STARTED}[checkpoints]\nfolders = ["runs"]\nlike = "mine"\n',
            {"mine": "node-a", "*@????????": "node-a"},
            id="a checkpoint has the pool of the model it is like",
        ),
    ],
)
def test_models_have_the_pools_of_their_sections_and_of_cluster(tmp_path, text, expected):
    assert pools(tmp_path, text) == expected


def test_a_missing_pool_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"models\.gpt\.pool: there is no pool hosted; known:"):
        pools(tmp_path, HOSTED)


@dg.asset(
    pool="gpu", partitions_def=dg.StaticPartitionsDefinition(["gpt", "mine", "run/1@0123abcd", "x"])
)
def predictions() -> None:
    """Does nothing; holds the pool that assets of predictions hold."""


@dg.asset(partitions_def=predictions.partitions_def)
def metrics() -> None:
    """Does nothing; holds no pool."""


@pytest.mark.parametrize(
    ("model", "asset", "pool"),
    [
        pytest.param("gpt", predictions, "hosted", id="a hosted server"),
        pytest.param("mine", predictions, "node-a", id="a started server"),
        pytest.param("run/1@0123abcd", predictions, "node-a", id="a checkpoint like a server"),
        pytest.param("x", predictions, "gpu", id="a model without a pool has that of the asset"),
        pytest.param("gpt", metrics, None, id="an asset without a pool"),
    ],
)
def test_a_queued_run_is_tagged_with_the_pool_that_it_holds(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    asset: dg.AssetsDefinition,
    pool: str | None,
) -> None:
    # Dagster's own queue takes only runs of a code location that a server has loaded.
    monkeypatch.setattr(dg.QueuedRunCoordinator, "submit_run", lambda _, context: context)
    checkpoints = '[checkpoints]\nfolders = ["runs"]\nlike = "mine"\n'
    (tmp_path / "bench.toml").write_text(CLUSTER + HOSTED + STARTED + checkpoints, encoding="utf-8")
    job = dg.Definitions([asset]).resolve_implicit_global_asset_job_def()
    with open_instance(tmp_path) as instance:
        run = instance.create_run_for_job(job, tags={"dagster/partition": model})
        workspace: Any = None  # the queue does not use it
        instance.run_coordinator.submit_run(dg.SubmitRunContext(run, workspace))
        queued = instance.get_run_by_id(run.run_id)
    assert queued
    assert queued.tags.get("bench/pool") == pool
