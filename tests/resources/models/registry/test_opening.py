from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_resources.checkpoints.identity import fingerprint, pin
from bench_resources.config.bench_toml import Settings
from bench_resources.models.registry.engines import resolve_local_paths
from tests.fakes.checkpoint_files import write_checkpoint
from tests.fakes.home import models_of
from tests.resources.models.transformers.tiny_engine import spec_of


def test_the_plain_template_is_not_resolved_as_a_path(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    spec = spec_of("elsewhere", chat_template="plain")
    resolve = Settings(home=tmp_path).resolve
    assert resolve_local_paths(spec, resolve).chat_template == "plain"


def test_an_overwritten_checkpoint_has_another_signature_in_the_same_run(tmp_path: Path) -> None:
    """One run keeps its engine; the folder of the next checkpoint may be that of the last."""
    folder = write_checkpoint(tmp_path / "runs" / "latest")
    models = models_of(
        tmp_path,
        '[checkpoints]\nfolders = ["runs"]\nlike = "base"\n'
        '[models.base]\nkind = "transformers"\npath = "x"\ntext_only = true\n',
        asks=False,  # the weights are four bytes
    )
    signatures: list[str] = []
    for weights in (b"1234", b"4321"):
        write_checkpoint(folder, weights)
        with models.open(f"latest@{fingerprint(folder)}") as model:
            signatures.append(model.signature)
            assert pin(str(folder)).content in model.signature
    assert len(set(signatures)) == 2
    models.close()


def test_a_checkpoint_that_does_not_load_does_not_stop_the_next_one(tmp_path: Path) -> None:
    """Closing the engine of the first must not read its checkpoint again."""
    write_checkpoint(tmp_path / "fine")
    (tmp_path / "broken").mkdir()
    local = 'kind = "transformers"\ntext_only = true\n'
    toml = f'[models.a]\n{local}path = "broken"\n[models.b]\n{local}path = "fine"\n'
    models = models_of(tmp_path, toml, asks=False)
    refusal = pytest.raises(ModelError, match=r"broken: config\.json is missing")
    with refusal, models.open("a"):
        pass
    with models.open("b") as model:
        assert pin(str(tmp_path / "fine")).content in model.signature
    models.close()


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param('kind = "blind"', id="blind"),
        pytest.param('kind = "elicited"\nelicit = "likelihood"', id="elicited"),
    ],
)
def test_a_recorded_model_cannot_be_the_base_of_another(tmp_path: Path, kind: str) -> None:
    (tmp_path / "responses.jsonl").write_text('{"question_id": "t/1", "text": "A"}')
    models = models_of(
        tmp_path,
        '[models.base]\nkind = "recorded"\nfile = "responses.jsonl"\n'
        f'[models.derived]\n{kind}\nof = "base"\n',
    )
    refusal = pytest.raises(SettingsError, match="model derived: base is recorded and cannot be")
    with refusal, models.open("derived"):
        pass
