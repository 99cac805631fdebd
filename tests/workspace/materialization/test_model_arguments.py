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
def test_a_folder_of_another_layout_is_refused_before_it_is_digested(home, tmp_path, suite):
    folder = tmp_path / "downloads"
    folder.mkdir()
    (folder / "film.bin").write_bytes(b"0" * 100)
    with (
        open_workbench(suite, folder) as bench,
        pytest.raises(SourceError, match=rf"{folder}: no .* data.*expected "),
    ):
        bench.refresh_questions(suite)
    digests = home / "digests.json"
    assert not digests.exists() or "film.bin" not in digests.read_text()


def test_every_shipped_suite_knows_the_layout_of_its_source():
    assert [suite.name for suite in load_catalog().suites if suite.require_source] == [*SUITES]


@pytest.fixture
def server():
    """A server that lists two models at one address, and something else at another."""
    models = b'{"data": [{"id": "qwen-7b"}, {"id": "llava"}]}'
    with serving(StandIn({"v1/models": models, "v2/models": b'{"data": 2}'})) as running:
        yield running.url


def test_a_model_that_its_server_does_not_list_is_refused_with_the_nearest(home, server):
    settings = load_settings(home)
    models = [resolve(f"{server}/v1#qwen7b", settings)]
    message = "it serves: qwen-7b, llava; did you mean 'qwen-7b'"
    with pytest.raises(ModelError, match=message):
        save_models(models, settings)
    assert not (home / "models.toml").exists()


@pytest.mark.parametrize(
    ("path", "model"),
    [
        pytest.param("/v1", "llava", id="a model that it serves"),
        pytest.param("/other", "anything", id="a server that lists none"),
        pytest.param("/v2", "anything", id="a server whose list is not one"),
        pytest.param("/v1\x7f", "anything", id="an address that httpx refuses"),
    ],
)
def test_a_model_that_its_server_may_serve_is_saved(home, server, path, model):
    settings = load_settings(home)
    save_models([resolve(f"{server}{path}#{model}", settings)], settings)
    assert model in (home / "models.toml").read_text()


def test_a_model_that_no_hub_has_is_refused_before_anything_is_built(home, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    settings = load_settings(home)
    models = [resolve("hf:org/none", settings)]
    with pytest.raises(ModelError, match="org/none: no such folder; the hub cannot be reached"):
        save_models(models, settings)
    assert not (home / "models.toml").exists()


def test_options_of_a_blind_model_go_to_its_base_model_and_both_are_saved(home):
    name, base_name = "tiny-vlm-blind+temperature=0.7", "tiny-vlm/step-6840+temperature=0.7"
    (model,) = resolve_models(["tiny-vlm-blind,temperature=0.7"], load_settings(home))
    assert (model.name, model.base.name) == (name, base_name)
    save_models([model], load_settings(home))
    saved = resolve(name, load_settings(home))
    assert (saved.base.name, saved.base.spec) == (base_name, model.base.spec)
    assert saved.base.spec.model_dump()["temperature"] == 0.7


def test_an_option_that_the_base_of_a_blind_model_does_not_have_is_refused(home):
    with pytest.raises(SettingsError, match="step-6840: entry blind: unknown"):
        resolve("tiny-vlm-blind,blind=1", load_settings(home))
