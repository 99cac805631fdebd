"""Folders, servers and hub ids that are not what they should be: said at once, and by name."""

import huggingface_hub.constants
import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import ModelError, SettingsError, SourceError
from bench_assets.workspace.materialization.model_arguments import resolve_models, save_models
from bench_assets.workspace.materialization.opening import open_workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.models.registry.resolution import resolve
from tests.resources.datasets.stand_in import StandIn, serving

SUITES = ("blink", "codis", "cogbench", "journeybench", "multi")


@pytest.mark.parametrize("suite", SUITES)
def test_a_folder_without_the_layout_of_a_source_is_refused_before_it_is_digested(
    home, tmp_path, suite
):
    wrong = tmp_path / "downloads"
    wrong.mkdir()
    (wrong / "film.bin").write_bytes(b"0" * 100)
    with (
        open_workbench(suite, wrong) as bench,
        pytest.raises(SourceError, match=f"{wrong}: no .* data: expected"),
    ):
        bench.refresh_questions(suite)
    digests = home / "digests.json"
    assert not digests.exists() or "film.bin" not in digests.read_text()


def test_every_shipped_suite_knows_the_layout_of_its_source():
    assert [one.name for one in load_catalog().suites if one.require_source] == list(SUITES)


@pytest.fixture
def server():
    """A server that lists two models."""
    listed = b'{"data": [{"id": "qwen-7b"}, {"id": "llava"}]}'
    with serving(StandIn({"v1/models": listed})) as running:
        yield running.url


@pytest.mark.parametrize(
    ("path", "model", "says"),
    [
        pytest.param("/v1", "qwen7b", "it serves: qwen-7b, llava; did you mean 'qwen-7b'", id="no"),
        pytest.param("/v1", "llava", "", id="a model that it serves"),
        pytest.param("/other", "anything", "", id="a server that lists none"),
    ],
)
def test_a_server_s_model_is_one_that_it_lists(home, server, path, model, says):
    settings = load_settings(home)
    models = [resolve(f"{server}{path}#{model}", settings)]
    if says:
        with pytest.raises(ModelError, match=says):
            save_models(models, settings)
        assert not (home / "models.toml").exists()
    else:
        save_models(models, settings)
        assert model in (home / "models.toml").read_text()


def test_a_model_that_no_hub_has_is_refused_before_anything_is_built(home, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    settings = load_settings(home)
    models = [resolve("hf:org/none", settings)]
    with pytest.raises(ModelError, match="org/none: no such folder; the hub cannot be reached"):
        save_models(models, settings)
    assert not (home / "models.toml").exists()


def test_what_is_chosen_for_a_blind_model_is_for_the_model_behind_it_and_both_are_saved(home):
    name, behind = "tiny-vlm-blind+temperature=0.7", "tiny-vlm/step-6840+temperature=0.7"
    (model,) = resolve_models(["tiny-vlm-blind,temperature=0.7"], load_settings(home))
    assert (model.name, model.base.name) == (name, behind)
    save_models([model], load_settings(home))
    saved = resolve(name, load_settings(home))
    assert (saved.base.name, saved.base.spec) == (behind, model.base.spec)
    assert saved.base.spec.model_dump()["temperature"] == 0.7
    with pytest.raises(SettingsError, match="step-6840: entry blind: unknown"):
        resolve("tiny-vlm-blind,blind=1", load_settings(home))
