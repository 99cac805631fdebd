"""Which files count: those that loading reads, in the folder and in folders of it, none outside."""

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.files import loaded_files
from bench_resources.checkpoints.identity import fingerprint, pin, pin_served
from tests.fakes.checkpoint_files import safetensors, write_checkpoint

BELOW = {
    "a template": "additional_chat_templates/default.jinja",
    "a second tokenizer": "qformer_tokenizer/vocab.txt",
    "trusted code": "custom_generate/generate.py",
}
Tell = Callable[[Path], str]
TELLERS: dict[str, Tell] = {
    "identity": lambda folder: pin(str(folder)).content,
    "fingerprint": fingerprint,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "step-1")


def _write(file: Path, text: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def _name_weights(folder: Path, name: str) -> None:
    _write(folder / "config.json", json.dumps({"transformers_weights": name}))


@pytest.mark.parametrize("tell", TELLERS.values(), ids=TELLERS)
@pytest.mark.parametrize("name", BELOW.values(), ids=BELOW)
def test_what_is_read_in_a_folder_below_counts(folder: Path, name: str, tell: Tell) -> None:
    digests = [tell(folder)]
    for text in "12":
        _write(folder / name, text)
        digests.append(tell(folder))
    (folder / name).rename(folder / f"another{Path(name).suffix}")
    digests.append(tell(folder))
    assert len(set(digests)) == 4


@pytest.mark.parametrize("below", ["tokenizer", "original", "optimizer"])
def test_what_is_read_nowhere_does_not_change_what_a_checkpoint_is_known_by(
    folder: Path, below: str
) -> None:
    _write(folder / below / "tokenizer.json", "{}")
    names = ("config.json", "model.safetensors", "tokenizer.json")
    lines = [f"{name} {sha256((folder / name).read_bytes()).hexdigest()}" for name in names]
    by_hand = sha256("\n".join(lines).encode()).hexdigest()[:16]
    assert pin(str(folder)).content == f"sha256:{by_hand}"


def test_a_link_in_a_folder_below_is_followed_as_any(folder: Path, tmp_path: Path) -> None:
    link = folder / BELOW["a template"]
    link.parent.mkdir()
    link.symlink_to(_write(tmp_path / "elsewhere.jinja", "1"))
    before = pin(str(folder)).content
    _write(tmp_path / "elsewhere.jinja", "2")
    assert pin(str(folder)).content != before
    (tmp_path / "elsewhere.jinja").unlink()
    with pytest.raises(ModelError, match=r"default\.jinja is missing"):
        pin(str(folder))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_below_that_cannot_be_read_is_named(folder: Path) -> None:
    closed = _write(folder / BELOW["a template"], "x").parent
    closed.chmod(0)
    try:
        with pytest.raises(ModelError, match="additional_chat_templates: Permission"):
            pin(str(folder))
    finally:
        closed.chmod(0o700)


@pytest.mark.parametrize("tell", TELLERS.values(), ids=TELLERS)
def test_weights_that_the_configuration_names_count_instead(folder: Path, tell: Tell) -> None:
    (folder / "config.json").write_text('{"transformers_weights": null}')
    assert folder / "model.safetensors" in loaded_files(folder)
    _name_weights(folder, "sub/real.safetensors")
    (folder / "sub").mkdir()
    digests = []
    for weights in (b"1234", b"4321"):
        (folder / "sub" / "real.safetensors").write_bytes(safetensors(weights))
        digests.append(tell(folder))
    assert digests[0] != digests[1]


def test_of_an_index_that_the_configuration_names_index_and_shards_count(folder: Path) -> None:
    _name_weights(folder, "sub/of.safetensors.index.json")
    index = _write(folder / "sub" / "of.safetensors.index.json", '{"weight_map": {"w": "w.bin"}}')
    with pytest.raises(ModelError, match=r"tensor w: expected a \.safetensors file, got 'w\.bin'"):
        loaded_files(folder)
    index.write_text('{"weight_map": {"w": "w.safetensors"}}')
    with pytest.raises(ModelError, match=r"w\.safetensors is missing"):
        loaded_files(folder)
    (folder / "w.safetensors").write_bytes(safetensors(b"1234"))
    assert {index, folder / "w.safetensors"} <= set(loaded_files(folder))
    index.write_text('{"weight_map": {"w": "../m.safetensors"}}')
    with pytest.raises(ModelError, match="outside the checkpoint"):
        loaded_files(folder)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("../m.safetensors", "outside the checkpoint"),
        ("/m.safetensors", "outside the checkpoint"),
        ("model.bin", "neither a .safetensors file nor"),
        (7, "neither a .safetensors file nor"),
        ("m.safetensors", "m.safetensors is missing"),
    ],
)
def test_weights_that_the_configuration_names_lie_in_its_folder(
    folder: Path, name: object, says: str
) -> None:
    _write(folder / "config.json", json.dumps({"transformers_weights": name}))
    with pytest.raises(ModelError, match=says) as raised:
        loaded_files(folder)
    assert str(folder) in str(raised.value)


def test_every_shard_of_a_split_gguf_is_part_of_its_identity(tmp_path: Path) -> None:
    shards = [tmp_path / f"m-Q8-{i:05}-of-00002.gguf" for i in (1, 2)]
    for shard in (*shards, tmp_path / "other-00001-of-00002.gguf"):
        shard.write_bytes(b"GGUF")
    before = pin_served(str(shards[0])).content
    shards[1].write_bytes(b"GGUF of other weights")
    assert pin_served(str(shards[0])).content != before
    shards[1].unlink()
    with pytest.raises(ModelError, match=r"m-Q8-00002-of-00002\.gguf is missing"):
        pin_served(str(shards[0]))


@pytest.mark.parametrize("tell", TELLERS.values(), ids=TELLERS)
def test_the_weights_of_each_layer_of_sentence_transformers_count(folder: Path, tell: Tell) -> None:
    _write(folder / "modules.json", '[{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Dense"}]')
    _write(folder / "1_Pooling" / "config.json", "{}")
    (folder / "2_Dense").mkdir()
    digests = set()
    for numbers in (b"1234", b"4321"):
        (folder / "2_Dense" / "model.safetensors").write_bytes(safetensors(numbers))
        digests.add(tell(folder))
    assert len(digests) == 2
