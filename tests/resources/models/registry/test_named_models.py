"""Which pool the runs of a model hold, by its own section and by [cluster]."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_assets.workspace.materialization.dagster_instance import open_instance
from bench_resources.config.bench_toml import load_settings
from bench_resources.models.registry.named_models import model_pools

CLUSTER = "[cluster]\npools = { hosted = 4, node-a = 1 }\n"
HOSTED = '[models.gpt]\nkind = "server"\nbase_url = "http://s/v1"\nmodel = "m"\npool = "hosted"\n'
STARTED = (
    '[models.mine]\nkind = "server"\npath = "w"\nserve = "vllm serve {path} --port {port}"\n'
    'pool = "node-a"\n'
)


def pools(home: Path, text: str) -> dict[str, str]:
    (home / "bench.toml").write_text(text, encoding="utf-8")
    return model_pools(load_settings(home))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", {}, id="nobody names one"),
        pytest.param(
            f"{HOSTED}{STARTED}".replace('pool = "hosted"\n', "").replace('pool = "node-a"\n', ""),
            {"gpt": "server@s"},
            id="a server of others loads no weights here, and has a pool by its address",
        ),
        pytest.param(CLUSTER + HOSTED + STARTED, {"gpt": "hosted", "mine": "node-a"}, id="two do"),
        pytest.param(
            f'{CLUSTER}pool_of = {{ gpt = "node-a" }}\n{HOSTED}',
            {"gpt": "node-a"},
            id="[cluster] goes before the model",
        ),
        pytest.param(
            f'{CLUSTER}{STARTED}[checkpoints]\nfolders = ["runs"]\nlike = "mine"\n',
            {"mine": "node-a", "*@????????": "node-a"},
            id="a checkpoint holds that of the model it is like",
        ),
    ],
)
def test_pools(tmp_path: Path, text: str, expected: dict[str, str]) -> None:
    assert pools(tmp_path, text) == expected


def test_a_missing_pool_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"models\.gpt\.pool: there is no pool hosted; known:"):
        pools(tmp_path, HOSTED)


@dg.asset(
    pool="gpu", partitions_def=dg.StaticPartitionsDefinition(["gpt", "mine", "run/1@0123abcd", "x"])
)
def predictions() -> None:
    """Makes nothing."""


@dg.asset(partitions_def=predictions.partitions_def)
def metrics() -> None:
    """Asks no model."""


@pytest.mark.parametrize(
    ("model", "asset", "pool"),
    [
        ("gpt", predictions, "hosted"),
        ("mine", predictions, "node-a"),
        ("run/1@0123abcd", predictions, "node-a"),
        ("x", predictions, "gpu"),
        ("gpt", metrics, None),
    ],
)
def test_a_queued_run_has_the_pool_of_its_server_as_a_tag(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    asset: dg.AssetsDefinition,
    pool: str | None,
) -> None:
    # Dagster's own queue takes only runs of a code location that a server has loaded.
    monkeypatch.setattr(dg.QueuedRunCoordinator, "submit_run", lambda _, context: context)
    watched = '[checkpoints]\nfolders = ["runs"]\nlike = "mine"\n'
    (tmp_path / "bench.toml").write_text(CLUSTER + HOSTED + STARTED + watched, encoding="utf-8")
    job = dg.Definitions([asset]).resolve_implicit_global_asset_job_def()
    with open_instance(tmp_path) as instance:
        run = instance.create_run_for_job(job, tags={"dagster/partition": model})
        workspace: Any = None  # the queue asks it nothing
        instance.run_coordinator.submit_run(dg.SubmitRunContext(run, workspace))
        queued = instance.get_run_by_id(run.run_id)
    assert queued
    assert queued.tags.get("bench/pool") == pool
