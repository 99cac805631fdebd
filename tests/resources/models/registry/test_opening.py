"""Where the places that bench.toml names begin."""

from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_resources.checkpoints.identity import fingerprint, pin
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.engine_kinds import EngineContext
from bench_resources.models.registry.engines import resolve_local_paths
from bench_resources.response_cache.rows import TokenCounts
from tests.fakes.checkpoint_files import write_checkpoint
from tests.fakes.home import models_of
from tests.resources.models.transformers.tiny_engine import spec_of


def test_the_plain_template_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    spec = spec_of("elsewhere", chat_template="plain")
    assert resolve_local_paths(spec, beside(tmp_path).resolve).chat_template == "plain"


def test_an_overwritten_checkpoint_is_not_answered_for_by_the_one_before_it(tmp_path: Path) -> None:
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


def test_a_checkpoint_that_does_not_load_leaves_the_next_one_alone(tmp_path: Path) -> None:
    """One run evaluates both; closing the engine of the first read its checkpoint again."""
    write_checkpoint(tmp_path / "fine")
    (tmp_path / "broken").mkdir()
    local = 'kind = "transformers"\ntext_only = true\n'
    toml = f'[models.a]\n{local}path = "broken"\n[models.b]\n{local}path = "fine"\n'
    models = models_of(tmp_path, toml, asks=False)
    refused = pytest.raises(ModelError, match=r"broken: config\.json is missing")
    with refused, models.open("a") as model:
        assert not model.signature
    with models.open("b") as model:
        assert pin(str(tmp_path / "fine")).content in model.signature
    models.close()


@pytest.mark.parametrize("way", ['"blind"', '"elicited"\nelicit = "likelihood"'])
def test_recorded_responses_are_not_those_of_another_condition(tmp_path: Path, way: str) -> None:
    (tmp_path / "said.jsonl").write_text('{"question_id": "t/1", "text": "A"}')
    models = models_of(
        tmp_path,
        f'[models.said]\nkind = "recorded"\nfile = "said.jsonl"\n'
        f'[models.other]\nkind = {way}\nof = "said"\n',
    )
    refused = pytest.raises(SettingsError, match="model other: said is recorded and cannot be")
    with refused, models.open("other"):
        pass


def beside(home: Path) -> EngineContext:
    return EngineContext(
        name="m",
        read_image=lambda _: b"",
        resolve=Settings(home=home).resolve,
        spent=lambda _: TokenCounts(),
    )
