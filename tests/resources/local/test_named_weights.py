"""What is loaded is what was named: checkpoints that change between digest, load and reply."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bench_assets.core.chat import Prompt, Reply, Request
from bench_assets.core.errors import ModelError
from resources.checkpoints.identity import Checkpoint
from resources.local.answers import Draw
from resources.local.engine import TransformersEngine
from resources.settings.local_specs import TransformersSpec
from tests.resources.local.fragile import Fragile
from tests.resources.local.tiny_engine import ALBUM, spec_of
from tests.sensors.watched import safetensors, write_adapter, write_checkpoint

Change = Callable[[Path], object]


def _overwritten(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(safetensors(b"4321"))


def _overwritten_with_its_old_times(folder: Path) -> None:
    was = (folder / "model.safetensors").stat()
    _overwritten(folder)
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
    pytest.param(_overwritten, id="weights overwritten"),
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


class _Loader:
    """Loads a model that echoes, and does something to the folder at some time."""

    def __init__(self, **at: Callable[[], object]) -> None:
        self._at = at
        self.said: list[str] = []

    def load(self, spec: TransformersSpec, checkpoint: Checkpoint) -> Fragile:
        self._at.get("loading", bool)()
        return _Echo(self._at.get("asking", bool))


class _Echo(Fragile):
    def __init__(self, meanwhile: Callable[[], object]) -> None:
        self._meanwhile = meanwhile

    def answer(self, prepared: list[str], draw: Draw) -> list[Reply]:
        replies = super().answer(prepared, draw)
        if prepared == ["b"]:
            self._meanwhile()
        return replies


@pytest.fixture(params=[0, 3600], ids=["written just now", "at rest for an hour"])
def folder(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = write_checkpoint(tmp_path / "runs" / "step-1")
    (made / "modeling_own.py").write_text("own = 1")
    later = made.stat().st_ctime_ns + request.param * 10**9
    if request.param:
        monkeypatch.setattr("time.time_ns", lambda: later)
    return made


def _asked(engine: TransformersEngine, *texts: str) -> list[str]:
    requests: Sequence[Request] = [Request(prompt=Prompt.of(text)) for text in texts]
    said: list[str] = []
    for _, reply in engine.stream(requests):
        assert not reply.error
        said.append(reply.text)
    return said


def _engine(folder: Path, loader: _Loader) -> TransformersEngine:
    spec = spec_of(folder, text_only=True, batch_size=1)
    return TransformersEngine(spec, str(folder), ALBUM.read, loader.load)


@pytest.mark.parametrize("change", [*CHANGES, *APPEARING])
def test_what_changes_between_digest_and_load_is_refused(folder: Path, change: Change) -> None:
    engine = _engine(folder, _Loader())
    assert engine.identity.startswith("sha256:")
    change(folder)
    with pytest.raises(ModelError, match=str(folder)):
        _asked(engine, "a")


@pytest.mark.parametrize("change", [*CHANGES, *APPEARING])
def test_what_changes_while_it_is_loaded_is_refused(folder: Path, change: Change) -> None:
    engine = _engine(folder, _Loader(loading=lambda: change(folder)))
    with pytest.raises(ModelError, match=str(folder)):
        _asked(engine, "a")


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_while_it_is_asked_keeps_no_reply_made_since(
    folder: Path, change: Change
) -> None:
    engine = _engine(folder, _Loader(asking=lambda: change(folder)))
    arrived: list[str] = []
    requests = [Request(prompt=Prompt.of(text)) for text in ("aaa", "b", "c")]
    with pytest.raises(ModelError, match="overwritten or replaced meanwhile"):
        arrived.extend(reply.text for _, reply in engine.stream(requests))
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
    engine = _engine(folder, _Loader(**{when: lambda: change(folder)}))
    assert engine.identity
    if when == "before":
        change(folder)
    assert _asked(engine, "a", "b", "c") == ["A", "B", "C"]


def test_a_deleted_checkpoint_that_is_loaded_answers_to_the_end(folder: Path) -> None:
    engine = _engine(folder, _Loader(asking=lambda: _gone(folder)))
    assert _asked(engine, "a", "b", "c") == ["A", "B", "C"]


def test_a_folder_swapped_while_loading_and_swapped_back_is_refused(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "a")
    other = write_checkpoint(tmp_path / "b", b"4321")

    def swap_twice() -> None:
        folder.rename(tmp_path / "c")
        other.rename(folder)
        folder.rename(other)
        (tmp_path / "c").rename(folder)

    with pytest.raises(ModelError, match="overwritten or replaced meanwhile"):
        _asked(_engine(folder, _Loader(loading=swap_twice)), "a")


@pytest.mark.parametrize("when", ["before", "loading", "asking"])
def test_a_link_that_is_set_to_another_folder_is_refused(tmp_path: Path, when: str) -> None:
    write_checkpoint(tmp_path / "a")
    write_checkpoint(tmp_path / "b", b"4321")
    latest = tmp_path / "latest"
    latest.symlink_to("a")

    def move_on() -> None:
        latest.unlink()
        latest.symlink_to("b")

    engine = _engine(latest, _Loader(**{when: move_on}))
    assert engine.identity
    if when == "before":
        move_on()
    with pytest.raises(ModelError, match="overwritten or replaced meanwhile"):
        _asked(engine, "a", "b", "c")


def _base_overwritten(tmp_path: Path) -> None:
    _overwritten(tmp_path / "base")


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
def test_every_folder_of_a_checkpoint_is_sealed(tmp_path: Path, change: Change) -> None:
    write_checkpoint(tmp_path / "base")
    folder = write_adapter(tmp_path / "run" / "step-1", base=str(tmp_path / "base"))
    (tmp_path / "run" / "tokenizer.json").write_text("{}")
    engine = _engine(folder, _Loader())
    assert engine.identity.count("sha256:") == 3
    change(tmp_path)
    with pytest.raises(ModelError, match="overwritten or replaced meanwhile"):
        _asked(engine, "a")


def test_a_gguf_file_is_sealed(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF1")
    spec = spec_of(tmp_path, text_only=True, gguf_file="m.gguf")
    engine = TransformersEngine(spec, str(tmp_path), ALBUM.read, _Loader().load)
    assert engine.identity
    (tmp_path / "m.gguf").write_bytes(b"GGUF2")
    with pytest.raises(ModelError, match=r"m\.gguf: not what it was"):
        _asked(engine, "a")


def test_a_chat_template_of_its_own_is_sealed(tmp_path: Path) -> None:
    folder, template = write_checkpoint(tmp_path / "a"), tmp_path / "chat.jinja"
    template.write_text("{{ messages }}")
    spec = spec_of(folder, text_only=True, chat_template=str(template))
    engine = TransformersEngine(spec, str(folder), ALBUM.read, _Loader().load)
    assert "template=" in engine.identity
    template.write_text("{{ messages[0] }}")
    with pytest.raises(ModelError, match=r"chat\.jinja: not what it was"):
        _asked(engine, "a")
