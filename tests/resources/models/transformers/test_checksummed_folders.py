"""Every folder and file that a checkpoint is read from is checksummed; links too."""

from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError
from resources.models.transformers.engine import TransformersEngine
from tests.resources.models.transformers.checksummed import (
    Change,
    Loader,
    asked_of,
    engine_of,
    overwritten,
)
from tests.resources.models.transformers.tiny_engine import ALBUM, spec_of
from tests.sensors.watched import safetensors, write_adapter, write_checkpoint


@pytest.mark.parametrize("when", ["before", "loading", "asking"])
def test_a_link_that_is_set_to_another_folder_is_refused(tmp_path: Path, when: str) -> None:
    write_checkpoint(tmp_path / "a")
    write_checkpoint(tmp_path / "b", b"4321")
    latest = tmp_path / "latest"
    latest.symlink_to("a")

    def move_on() -> None:
        latest.unlink()
        latest.symlink_to("b")

    engine = engine_of(latest, Loader(**{when: move_on}))
    assert engine.identity
    if when == "before":
        move_on()
    with pytest.raises(ModelError, match="overwritten or replaced meanwhile"):
        asked_of(engine, "a", "b", "c")


def _base_overwritten(tmp_path: Path) -> None:
    overwritten(tmp_path / "base")


def _adapter_overwritten(tmp_path: Path) -> None:
    (tmp_path / "run" / "step-1" / "adapter_model.safetensors").write_bytes(safetensors(b"4321"))


def _processor_overwritten(tmp_path: Path) -> None:
    (tmp_path / "run" / "tokenizer.json").write_text("[]")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_base_overwritten, id="the base"),
        pytest.param(_adapter_overwritten, id="the adapter"),
        pytest.param(_processor_overwritten, id="the processor above"),
    ],
)
def test_every_folder_of_a_checkpoint_is_checksummed(tmp_path: Path, change: Change) -> None:
    write_checkpoint(tmp_path / "base")
    folder = write_adapter(tmp_path / "run" / "step-1", base=str(tmp_path / "base"))
    (tmp_path / "run" / "tokenizer.json").write_text("{}")
    engine = engine_of(folder, Loader())
    assert engine.identity.count("sha256:") == 3
    change(tmp_path)
    with pytest.raises(ModelError, match="overwritten or replaced meanwhile"):
        asked_of(engine, "a")


def test_a_gguf_file_is_checksummed(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF1")
    spec = spec_of(tmp_path, text_only=True, gguf_file="m.gguf")
    engine = TransformersEngine(spec, str(tmp_path), ALBUM.read, Loader().load)
    assert engine.identity
    (tmp_path / "m.gguf").write_bytes(b"GGUF2")
    with pytest.raises(ModelError, match=r"m\.gguf: not what it was"):
        asked_of(engine, "a")


def test_a_chat_template_of_its_own_is_checksummed(tmp_path: Path) -> None:
    folder, template = write_checkpoint(tmp_path / "a"), tmp_path / "chat.jinja"
    template.write_text("{{ messages }}")
    spec = spec_of(folder, text_only=True, chat_template=str(template))
    engine = TransformersEngine(spec, str(folder), ALBUM.read, Loader().load)
    assert "template=" in engine.identity
    template.write_text("{{ messages[0] }}")
    with pytest.raises(ModelError, match=r"chat\.jinja: not what it was"):
        asked_of(engine, "a")
