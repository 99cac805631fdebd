"""What is loaded is what was named: checkpoints that change between digest, load and response."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.engine import TransformersEngine
from bench_resources.models.workers.local_model import Draw
from tests.resources.models.transformers.fragile import Fragile
from tests.resources.models.transformers.tiny_engine import ALBUM, identity_of, spec_of
from tests.sensors.watched import safetensors, write_adapter, write_checkpoint

Change = Callable[[Path], object]


class Loader:
    """Loads a model that echoes, and does something to the folder at some time."""

    def __init__(self, when: str = "", change: Callable[[], object] = bool) -> None:
        self._when, self._change = when, change

    def load(self, spec: TransformersSpec, checkpoint: Checkpoint) -> Fragile:
        if self._when == "loading":
            self._change()
        return Echo(self._change if self._when == "asking" else bool)


class Echo(Fragile):
    def __init__(self, meanwhile: Callable[[], object]) -> None:
        self._meanwhile = meanwhile

    def answer(self, prepared: list[str], draw: Draw) -> list[Response]:
        responses = super().answer(prepared, draw)
        if prepared == ["b"]:
            self._meanwhile()
        return responses


def engine_of(folder: Path, loader: Loader, **fields: object) -> TransformersEngine:
    spec = spec_of(folder, text_only=True, batch_size=1, **fields)
    return TransformersEngine(spec, str(folder), ALBUM.read, loader.load)


def arriving(
    folder: Path, change: Callable[[], object], when: str, arrived: list[str]
) -> list[str]:
    """Ask three questions, before or while something happens; what was said so far."""
    engine = engine_of(folder, Loader(when, change))
    assert identity_of(engine).startswith("sha256:")
    if when == "before":
        change()
    requests = [Request(prompt=Prompt.of(text)) for text in ("aaa", "b", "c")]
    arrived.extend(response.text for _, response in engine.stream(requests))
    return arrived


def _overwritten(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(safetensors(b"4321"))


def _overwritten_with_its_old_times(folder: Path) -> None:
    was = (folder / "model.safetensors").stat()
    _overwritten(folder)
    os.utime(folder / "model.safetensors", ns=(was.st_atime_ns, was.st_mtime_ns))


def _with_another_file_in_place(folder: Path) -> None:
    (folder / "new").write_bytes(safetensors(b"4321"))
    (folder / "new").replace(folder / "model.safetensors")


def _with_another_config(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "other"}')


def _with_other_code(folder: Path) -> None:
    (folder / "modeling_own.py").write_text("other = 1")


def _with_another_template(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("that was not there")


def _gone(folder: Path) -> None:
    folder.rename(folder.with_name("before"))


def _in_place_of_another(folder: Path) -> None:
    _gone(folder)
    write_checkpoint(folder, b"4321")


CHANGES: dict[str, Change] = {
    "weights overwritten": _overwritten,
    "overwritten, its old time put back": _overwritten_with_its_old_times,
    "another file of weights in its place": _with_another_file_in_place,
    "another config": _with_another_config,
    "other code": _with_other_code,
    "another folder in its place": _in_place_of_another,
}
BEFORE_IT_IS_LOADED: dict[str, Change] = {
    "a template that was not there": _with_another_template,
    "the folder gone": _gone,
}
CASES = [
    pytest.param(change, when, id=f"{name}, {when}")
    for changes, times in (
        (CHANGES, ("before", "loading", "asking")),
        (BEFORE_IT_IS_LOADED, ("before", "loading")),
    )
    for name, change in changes.items()
    for when in times
]


@pytest.mark.parametrize(("change", "when"), CASES)
def test_what_changes_is_refused_and_keeps_no_response_made_since(
    folder: Path, change: Change, when: str
) -> None:
    arrived: list[str] = []
    with pytest.raises(ModelError, match=r"overwritten or replaced|no such folder"):
        arriving(folder, lambda: change(folder), when, arrived)
    assert arrived == (["AAA"] if when == "asking" else [])


def _touched(folder: Path) -> None:
    for file in folder.iterdir():
        file.touch()


def _linked_and_closed(folder: Path) -> None:
    for file in folder.iterdir():
        os.link(file, folder.parent / file.name)
        file.chmod(0o400)


def _copied_over_itself(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes())


def _with_a_log(folder: Path) -> None:
    (folder / "train.log").write_text("step 2")
    (folder / "trainer_state.json").write_text("{}")


@pytest.mark.parametrize("when", ["before", "loading", "asking"])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_touched, id="touched"),
        pytest.param(_linked_and_closed, id="linked by a backup, and write-protected"),
        pytest.param(_copied_over_itself, id="the same bytes once more"),
        pytest.param(_with_a_log, id="a trainer's log"),
    ],
)
def test_what_changes_nothing_that_is_loaded_is_no_change(
    folder: Path, change: Change, when: str
) -> None:
    assert arriving(folder, lambda: change(folder), when, []) == ["AAA", "B", "C"]


def test_a_deleted_checkpoint_that_is_loaded_answers_to_the_end(folder: Path) -> None:
    assert arriving(folder, lambda: _gone(folder), "asking", []) == ["AAA", "B", "C"]


@pytest.mark.parametrize("when", ["before", "loading", "asking"])
def test_a_link_that_is_set_to_another_folder_is_refused(tmp_path: Path, when: str) -> None:
    write_checkpoint(tmp_path / "a")
    write_checkpoint(tmp_path / "b", b"4321")
    latest = tmp_path / "latest"
    latest.symlink_to("a")

    def move_on() -> None:
        latest.unlink()
        latest.symlink_to("b")

    with pytest.raises(ModelError, match="overwritten or replaced"):
        arriving(latest, move_on, when, [])


@pytest.mark.parametrize(
    ("file", "data"),
    [
        pytest.param("base/model.safetensors", safetensors(b"4321"), id="the base"),
        pytest.param("run/step-1/adapter_model.safetensors", safetensors(b"4321"), id="adapter"),
        pytest.param("run/tokenizer.json", b"[]", id="the processor above"),
        pytest.param("chat.jinja", b"{{ messages[0] }}", id="a chat template of its own"),
    ],
)
def test_every_folder_of_a_checkpoint_is_checksummed(
    tmp_path: Path, file: str, data: bytes
) -> None:
    write_checkpoint(tmp_path / "base")
    folder = write_adapter(tmp_path / "run" / "step-1", base=str(tmp_path / "base"))
    (tmp_path / "run" / "tokenizer.json").write_text("{}")
    (tmp_path / "chat.jinja").write_text("{{ messages }}")
    engine = engine_of(folder, Loader(), chat_template=str(tmp_path / "chat.jinja"))
    assert identity_of(engine).count("sha256:") == 3
    (tmp_path / file).write_bytes(data)
    with pytest.raises(ModelError, match=rf"{Path(file).name}: changed since"):
        list(engine.stream([Request(prompt=Prompt.of("a"))]))


def test_a_gguf_file_is_checksummed(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF1")
    engine = engine_of(tmp_path, Loader(), gguf_file="m.gguf")
    engine.prepare()
    (tmp_path / "m.gguf").write_bytes(b"GGUF2")
    with pytest.raises(ModelError, match=r"m\.gguf: changed since"):
        list(engine.stream([Request(prompt=Prompt.of("a"))]))
