"""Finding, checking and identifying checkpoints."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.files import content_digest
from bench_resources.checkpoints.identity import pin
from tests.fakes.checkpoint_files import safetensors, write_adapter, write_checkpoint, write_files
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.resources.models.transformers.tiny_engine import (
    engine_of,
    identity_of,
)


def test_identity_is_the_content_not_the_name(vlm: Path, tmp_path: Path) -> None:
    copy = tmp_path / "another name"
    shutil.copytree(vlm, copy)
    (copy / "README.md").write_text("not read by anything")
    (copy / "trainer_state.json").write_text("{}")
    trained = save_tiny_vlm(tmp_path / "trained", seed=1)
    same = identity_of(engine_of(vlm))
    assert same.startswith("sha256:")
    assert identity_of(engine_of(copy)) == same
    assert identity_of(engine_of(copy, batch_size=1)) == same
    variants = [
        identity_of(engine_of(trained)),
        identity_of(engine_of(vlm, dtype="bfloat16")),
        identity_of(engine_of(vlm, max_image_pixels=100)),
        identity_of(engine_of(vlm, text_only=True)),
    ]
    assert len({same, *variants}) == 5


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(
        ModelError, match="package:no_such_package is not installed: pip install no-such-package"
    ):
        identity_of(engine_of("package:no_such_package"))


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _cached(hf_home: Path, name: str, file: str, written: str) -> None:
    """Write a repository with one file into a local cache of the hub."""
    repository = hf_home / "hub" / f"models--some--{name}"
    (repository / "snapshots" / COMMIT).mkdir(parents=True)
    (repository / "snapshots" / COMMIT / file).write_text(written)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)


def test_a_hub_id_is_pinned_to_the_commit_in_the_cache(tmp_path: Path) -> None:
    _cached(tmp_path, "model", "config.json", "{}")
    assert _offline_identity(tmp_path, "some/model") == f"some/model@{COMMIT}"
    missing = _offline_identity(tmp_path, "other/model")
    assert missing.startswith("other/model: no such folder; the hub cannot be reached")


def test_an_adapter_of_a_hub_is_pinned_with_its_base(tmp_path: Path) -> None:
    _cached(tmp_path, "model", "config.json", "{}")
    says = '{"peft_type": "LORA", "base_model_name_or_path": "some/model"}'
    _cached(tmp_path, "lora", "adapter_config.json", says)
    snapshot = tmp_path / "hub" / "models--some--lora" / "snapshots" / COMMIT
    (snapshot / "adapter_model.bin").write_bytes(b"x")
    pinned = _offline_identity(tmp_path, "some/lora")
    assert pinned.startswith(f"some/model@{COMMIT}+adapter:sha256:")


def _offline_identity(hf_home: Path, hub_id: str) -> str:
    # A process of its own: huggingface_hub reads the environment once, when it is imported.
    program = (
        "import sys\n"
        "from bench_assets.core.schema.errors import ModelError\n"
        "from bench_resources.checkpoints.identity import pin\n"
        "try: print(pin(sys.argv[1]).content)\n"
        "except ModelError as why: print(why)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, hub_id],
        env={"HF_HOME": str(hf_home), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.strip()


# Checksums of files that were digested: read once, and again only where that decides something.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "step-1")


def test_files_at_rest_are_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """100 GB take minutes; a look at what the disk says of them takes none."""
    later = folder.stat().st_ctime_ns + 3600 * 10**9
    monkeypatch.setattr("time.time_ns", lambda: later)
    read: list[Path] = []

    def counted(files: Iterable[Path]) -> str:
        read.extend(files)
        return content_digest(files)

    pinned = pin(str(folder), digest=counted)
    assert len(read) == 3
    for one in pinned.checksums:
        assert one.intact() is one
        assert one.verify_existing() is one
    assert len(read) == 3


# What a checkpoint is made of: weights, an adapter, a processor that lies elsewhere.


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    write_checkpoint(tmp_path / "base")
    return write_adapter(tmp_path / "run" / "step-1", base="../../base")


def test_an_adapter_is_pinned_with_its_base(tmp_path: Path, adapter: Path) -> None:
    pinned = pin(str(adapter))
    assert (pinned.location, pinned.adapter) == (str(tmp_path / "base"), str(adapter))
    assert pinned.processor == ""  # with the base
    assert pinned.content.startswith(f"{pin(str(tmp_path / 'base')).content}+adapter:sha256:")
    config = json.loads((adapter / "adapter_config.json").read_text())
    changes = {
        tmp_path / "base" / "model.safetensors": safetensors(b"4321"),
        adapter / "adapter_model.safetensors": safetensors(b"4321"),
        adapter / "adapter_config.json": json.dumps(config | {"lora_alpha": 99}).encode(),
        adapter.parent / "tokenizer.json": b"{}",
    }
    contents = {pinned.content}
    for file, data in changes.items():
        file.write_bytes(data)
        contents.add(pin(str(adapter)).content)
    assert len(contents) == 1 + len(changes)


def test_a_processor_in_the_run_is_found_where_the_checkpoint_has_none(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "runs" / "sft" / "v0" / "step-1")
    (folder / "tokenizer.json").unlink()
    alone = pin(str(folder))
    assert alone.processor == ""
    write_files(tmp_path / "runs", "tokenizer.json")  # three above: of another run
    assert pin(str(folder)) == alone
    write_files(tmp_path / "runs" / "sft", "tokenizer.json", "processor_config.json")
    pinned = pin(str(folder))
    assert pinned.processor == str(tmp_path / "runs" / "sft")
    assert pinned.content.startswith(f"{alone.content}+processor:sha256:")
    (tmp_path / "runs" / "sft" / "processor_config.json").write_text("[]")
    assert pin(str(folder)).content != pinned.content


def test_a_processor_that_is_named_comes_before_all_others(tmp_path: Path, adapter: Path) -> None:
    write_files(tmp_path / "mine", "tokenizer.json")
    write_files(adapter, "tokenizer.json", "processor_config.json")
    assert pin(str(adapter)).processor == str(adapter)
    assert pin(str(adapter), processor=str(tmp_path / "mine")).processor == str(tmp_path / "mine")


@pytest.mark.parametrize(
    ("changed", "data", "says"),
    [
        ("adapter_config.json", b'{"peft_type": "LORA"}', "Set base to "),
        ("adapter_model.safetensors", None, "adapter_model.safetensors is missing"),
        ("non_lora_trainables.bin", b"x", "a LLaVA LoRA whose projector"),
    ],
)
def test_an_adapter_that_cannot_be_put_on_its_base_is_named(
    adapter: Path, changed: str, data: bytes | None, says: str
) -> None:
    write_files(adapter, "config.json")
    if data is None:
        (adapter / changed).unlink()
    else:
        (adapter / changed).write_bytes(data)
    with pytest.raises(ModelError, match=says) as raised:
        pin(str(adapter))
    assert str(adapter) in str(raised.value)


def test_a_base_is_for_adapters_and_a_processor_is_where_it_is_said_to_be(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "a")
    with pytest.raises(ModelError, match="this is not an adapter"):
        pin(str(folder), base="org/vlm")
    with pytest.raises(ModelError, match="no tokenizer and no processor"):
        pin(str(folder), processor=str(tmp_path))
