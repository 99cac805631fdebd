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

FILES_BELOW = {
    "a template": "additional_chat_templates/default.jinja",
    "a second tokenizer": "qformer_tokenizer/vocab.txt",
    "trusted code": "custom_generate/generate.py",
}
Digest = Callable[[Path], str]


def identity(folder: Path) -> str:
    return pin(str(folder)).content


EACH_DIGEST = pytest.mark.parametrize("digest", [identity, fingerprint])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "step-1")


def _write(file: Path, text: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def _name_weights(folder: Path, name: object) -> None:
    _write(folder / "config.json", json.dumps({"transformers_weights": name}))


@EACH_DIGEST
@pytest.mark.parametrize("name", FILES_BELOW.values(), ids=FILES_BELOW)
def test_a_file_that_is_loaded_from_a_folder_below_changes_the_digest(folder, name, digest):
    file = folder / name
    without_file = digest(folder)
    _write(file, "1")
    with_file = digest(folder)
    _write(file, "2")
    with_other_text = digest(folder)
    file.rename(folder / f"another{file.suffix}")
    with_renamed_file = digest(folder)
    assert len({without_file, with_file, with_other_text, with_renamed_file}) == 4


@pytest.mark.parametrize("subfolder", ["tokenizer", "original", "optimizer"])
def test_a_file_that_loading_does_not_read_is_no_part_of_the_identity(folder, subfolder):
    before = identity(folder)
    _write(folder / subfolder / "tokenizer.json", "{}")
    assert identity(folder) == before


def test_the_identity_is_a_digest_of_the_digests_of_the_loaded_files(folder: Path) -> None:
    names = ("config.json", "model.safetensors", "tokenizer.json")
    lines = [f"{name} {sha256((folder / name).read_bytes()).hexdigest()}" for name in names]
    digest = sha256("\n".join(lines).encode()).hexdigest()
    assert identity(folder) == f"sha256:{digest[:16]}"


@pytest.fixture
def link_target(folder: Path, tmp_path: Path) -> Path:
    """A file outside of the checkpoint, to which a template of the checkpoint links."""
    target = _write(tmp_path / "elsewhere.jinja", "1")
    link = folder / FILES_BELOW["a template"]
    link.parent.mkdir()
    link.symlink_to(target)
    return target


def test_a_link_counts_by_the_content_of_its_target(folder: Path, link_target: Path) -> None:
    before = identity(folder)
    _write(link_target, "2")
    assert identity(folder) != before


def test_a_link_without_a_target_is_named(folder: Path, link_target: Path) -> None:
    link_target.unlink()
    with pytest.raises(ModelError, match=r"default\.jinja is missing"):
        pin(str(folder))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_below_is_named(folder: Path) -> None:
    subfolder = _write(folder / FILES_BELOW["a template"], "x").parent
    subfolder.chmod(0)
    try:
        with pytest.raises(ModelError, match="additional_chat_templates: Permission"):
            pin(str(folder))
    finally:
        subfolder.chmod(0o700)


def test_without_a_name_of_weights_the_usual_file_is_loaded(folder: Path) -> None:
    _name_weights(folder, name=None)
    assert folder / "model.safetensors" in loaded_files(folder)


@EACH_DIGEST
def test_weights_that_the_configuration_names_change_the_digest(folder, digest):
    _name_weights(folder, "sub/real.safetensors")
    weights = _write(folder / "sub" / "real.safetensors", "")
    weights.write_bytes(safetensors(b"1234"))
    before = digest(folder)
    weights.write_bytes(safetensors(b"4321"))
    assert digest(folder) != before


def _write_named_index(folder: Path, shard: str) -> Path:
    """Write an index of one shard, and a configuration that names it as the weights."""
    _name_weights(folder, "sub/of.safetensors.index.json")
    index = json.dumps({"weight_map": {"w": shard}})
    return _write(folder / "sub" / "of.safetensors.index.json", index)


def test_an_index_that_the_configuration_names_is_loaded_with_its_shards(folder: Path) -> None:
    index = _write_named_index(folder, "w.safetensors")
    (folder / "w.safetensors").write_bytes(safetensors(b"1234"))
    assert {index, folder / "w.safetensors"} <= set(loaded_files(folder))


@pytest.mark.parametrize(
    ("shard", "expected_message"),
    [
        ("w.bin", r"tensor w: expected a \.safetensors file, got 'w\.bin'"),
        ("w.safetensors", r"w\.safetensors is missing"),
        ("../m.safetensors", "outside the checkpoint"),
    ],
)
def test_a_shard_of_a_named_index_that_cannot_be_loaded_is_refused(folder, shard, expected_message):
    _write_named_index(folder, shard)
    with pytest.raises(ModelError, match=expected_message):
        loaded_files(folder)


@pytest.mark.parametrize(
    ("name", "expected_message"),
    [
        ("../m.safetensors", "outside the checkpoint"),
        ("/m.safetensors", "outside the checkpoint"),
        ("model.bin", "neither a .safetensors file nor"),
        (7, "neither a .safetensors file nor"),
        ("m.safetensors", "m.safetensors is missing"),
    ],
)
def test_a_name_of_weights_that_cannot_be_loaded_is_refused(folder, name, expected_message):
    _name_weights(folder, name)
    with pytest.raises(ModelError, match=expected_message) as raised:
        loaded_files(folder)
    assert str(folder) in str(raised.value)


@pytest.fixture
def gguf_shards(tmp_path: Path) -> list[Path]:
    """Both shards of a model in GGUF, beside a shard of another model."""
    shards = [tmp_path / f"m-Q8-{i:05}-of-00002.gguf" for i in (1, 2)]
    for file in (*shards, tmp_path / "other-00001-of-00002.gguf"):
        file.write_bytes(b"GGUF")
    return shards


def test_every_shard_of_a_split_gguf_is_part_of_its_identity(gguf_shards: list[Path]) -> None:
    first_shard, second_shard = gguf_shards
    before = pin_served(str(first_shard)).content
    second_shard.write_bytes(b"GGUF of other weights")
    assert pin_served(str(first_shard)).content != before


def test_a_missing_shard_of_a_split_gguf_is_named(gguf_shards: list[Path]) -> None:
    first_shard, second_shard = gguf_shards
    second_shard.unlink()
    with pytest.raises(ModelError, match=r"m-Q8-00002-of-00002\.gguf is missing"):
        pin_served(str(first_shard))


@EACH_DIGEST
def test_the_weights_of_a_layer_of_sentence_transformers_change_the_digest(folder, digest):
    _write(folder / "modules.json", '[{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Dense"}]')
    _write(folder / "1_Pooling" / "config.json", "{}")
    weights = _write(folder / "2_Dense" / "model.safetensors", "")
    weights.write_bytes(safetensors(b"1234"))
    before = digest(folder)
    weights.write_bytes(safetensors(b"4321"))
    assert digest(folder) != before
