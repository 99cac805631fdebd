"""What a run takes of its machine, and what it reads there."""

from pathlib import Path

import dagster as dg
import pytest

from bench_assets.core.schema.errors import UnknownNameError
from resources.config.bench_toml import Settings, load_settings
from resources.runs.ray_requirements import folders_of, needs_of

TOML = """
[sources]
codis = "releases/codis"
blink = "hf:BLINK-Benchmark/BLINK@main"
[models.gpu]
kind = "transformers"
path = "weights"
device = "cuda"
processor = "of-the-base"
[models.wide]
kind = "vllm"
path = "/models/wide"
tensor_parallel_size = 4
needs = { cpu = 8, a100 = 1 }
[models.spread]
kind = "transformers"
path = "weights"
device = "cuda"
on = "ray"
replicas = 8
needs = { gpu = 2 }
[models.hub]
kind = "transformers"
path = "owner/model"
[models.eyeless]
kind = "blind"
of = "gpu"
[models.hosted]
kind = "server"
base_url = "http://127.0.0.1:1/v1"
model = "m"
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "bench.toml").write_text(TOML)
    for folder in ("weights", "of-the-base", "releases/codis"):
        (tmp_path / folder).mkdir(parents=True)
    return load_settings(tmp_path)


def run(model: str = "", *tables: str) -> dg.DagsterRun:
    return dg.DagsterRun(
        job_name="j",
        run_id="00000000-0000-0000-0000-000000000000",
        tags={"dagster/partition": model} if model else {},
        asset_selection=frozenset(dg.AssetKey(one.split("/")) for one in tables) or None,
    )


@pytest.mark.parametrize(
    ("model", "needs", "folders"),
    [
        pytest.param("gpu", {"cpu": 1, "gpu": 1}, ["weights", "of-the-base"], id="a GPU"),
        pytest.param(
            "wide", {"cpu": 8, "gpu": 4, "a100": 1}, ["/models/wide"],
            id="what vLLM's layers share, and what is said; its folder, also if it is not here",
        ),
        pytest.param(
            "spread", {"cpu": 1}, ["weights"], id="the replicas take the GPUs, not the run"
        ),
        pytest.param("hub", {"cpu": 1, "gpu": 0}, [], id="a hub id is no folder"),
        pytest.param(
            "eyeless", {"cpu": 1, "gpu": 1}, ["weights", "of-the-base"],
            id="a blind one is the one it is made of",
        ),
        pytest.param("hosted", {"cpu": 1}, [], id="a server is somewhere else"),
        pytest.param("random", {"cpu": 1}, [], id="a baseline has no weights"),
    ],
)  # fmt: skip
def test_a_run_over_a_model(
    settings: Settings, model: str, needs: dict[str, float], folders: list[str]
) -> None:
    assert needs_of(run(model), settings) == needs
    assert folders_of(run(model), settings) == [str(settings.home / one) for one in folders]


def test_a_run_that_builds_questions_reads_its_suites_sources(settings: Settings) -> None:
    building = run("", "codis/questions", "blink/questions", "multi/questions")
    assert needs_of(building, settings) == {"cpu": 1}
    assert folders_of(building, settings) == [str(settings.home / "releases/codis")]


def test_a_run_over_a_model_that_is_gone(settings: Settings) -> None:
    with pytest.raises(UnknownNameError, match="gone"):
        needs_of(run("gone"), settings)
