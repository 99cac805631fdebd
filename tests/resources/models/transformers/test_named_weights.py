"""What is loaded is what was named: checkpoints that change between digest, load and response."""

import os
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Prompt, Request
from bench_assets.core.schema.errors import ModelError
from tests.resources.models.transformers.checksummed import (
    Change,
    Loader,
    asked_of,
    engine_of,
    overwritten,
)
from tests.sensors.watched import safetensors, write_checkpoint


def _overwritten_with_its_old_times(folder: Path) -> None:
    was = (folder / "model.safetensors").stat()
    overwritten(folder)
    os.utime(folder / "model.safetensors", ns=(was.st_atime_ns, was.st_mtime_ns))


def _with_another_file_in_place(folder: Path) -> None:
    (folder / "new").write_bytes(safetensors(b"4321"))
    (folder / "new").replace(folder / "model.safetensors")


def _with_another_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("[]")


def _with_another_config(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "other"}')


def _with_other_code(folder: Path) -> None:
    (folder / "modeling_own.py").write_text("other = 1")


def _with_another_template(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("that was not there")


def _with_other_pickled_weights(folder: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(b"other")


def _put_in_place_of_another(folder: Path) -> None:
    folder.rename(folder.with_name("before"))
    write_checkpoint(folder, b"4321")


def _gone(folder: Path) -> None:
    folder.rename(folder.with_name("before"))


CHANGES = [
    pytest.param(overwritten, id="weights overwritten"),
    pytest.param(_overwritten_with_its_old_times, id="overwritten, its old time put back"),
    pytest.param(_with_another_file_in_place, id="another file of weights in its place"),
    pytest.param(_with_another_tokenizer, id="another tokenizer"),
    pytest.param(_with_another_config, id="another config"),
    pytest.param(_with_other_code, id="other code"),
    pytest.param(_put_in_place_of_another, id="another folder in its place"),
]
APPEARING = [
    pytest.param(_with_another_template, id="a template that was not there"),
    pytest.param(_gone, id="the folder gone"),
]


@pytest.mark.parametrize("change", [*CHANGES, *APPEARING])
def test_what_changes_between_digest_and_load_is_refused(folder: Path, change: Change) -> None:
    engine = engine_of(folder, Loader())
    assert engine.identity.startswith("sha256:")
    change(folder)
    with pytest.raises(ModelError, match=str(folder)):
        asked_of(engine, "a")


@pytest.mark.parametrize("change", [*CHANGES, *APPEARING])
def test_what_changes_while_it_is_loaded_is_refused(folder: Path, change: Change) -> None:
    engine = engine_of(folder, Loader(loading=lambda: change(folder)))
    with pytest.raises(ModelError, match=str(folder)):
        asked_of(engine, "a")


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_while_it_is_asked_keeps_no_response_made_since(
    folder: Path, change: Change
) -> None:
    engine = engine_of(folder, Loader(asking=lambda: change(folder)))
    arrived: list[str] = []
    requests = [Request(prompt=Prompt.of(text)) for text in ("aaa", "b", "c")]
    with pytest.raises(ModelError, match="overwritten or replaced meanwhile"):
        arrived.extend(response.text for _, response in engine.stream(requests))
    assert arrived == ["AAA"]


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
    engine = engine_of(folder, Loader(**{when: lambda: change(folder)}))
    assert engine.identity
    if when == "before":
        change(folder)
    assert asked_of(engine, "a", "b", "c") == ["A", "B", "C"]


def test_a_deleted_checkpoint_that_is_loaded_answers_to_the_end(folder: Path) -> None:
    engine = engine_of(folder, Loader(asking=lambda: _gone(folder)))
    assert asked_of(engine, "a", "b", "c") == ["A", "B", "C"]
