import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints import content_checksums
from bench_resources.checkpoints.files import content_digest
from bench_resources.checkpoints.identity import pin
from tests.fakes.checkpoint_files import safetensors, write_adapter, write_checkpoint, write_files
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.resources.models.transformers.tiny_engine import engine_of, identity_of


def test_name_unread_files_and_batch_size_are_no_part_of_the_identity(vlm, tmp_path):
    copy = shutil.copytree(vlm, tmp_path / "another name")
    (copy / "README.md").write_text("not read by anything")
    (copy / "trainer_state.json").write_text("{}")
    identity = identity_of(engine_of(vlm))
    assert identity.startswith("sha256:")
    assert identity_of(engine_of(copy)) == identity
    assert identity_of(engine_of(copy, batch_size=1)) == identity


def test_weights_and_options_that_change_responses_are_part_of_the_identity(vlm, tmp_path):
    trained = save_tiny_vlm(tmp_path / "trained", seed=1)
    identities = [
        identity_of(engine_of(vlm)),
        identity_of(engine_of(trained)),
        identity_of(engine_of(vlm, dtype="bfloat16")),
        identity_of(engine_of(vlm, max_image_pixels=100)),
        identity_of(engine_of(vlm, text_only=True)),
    ]
    assert len(set(identities)) == 5


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(
        ModelError, match="package:no_such_package is not installed: pip install no-such-package"
    ):
        identity_of(engine_of("package:no_such_package"))


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _cache_repository(hf_home: Path, name: str, file: str, text: str) -> None:
    """Write a repository with one file into a local cache of the hub."""
    repository = hf_home / "hub" / f"models--some--{name}"
    (repository / "snapshots" / COMMIT).mkdir(parents=True)
    (repository / "snapshots" / COMMIT / file).write_text(text)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)


def test_a_hub_id_is_pinned_to_the_commit_in_the_cache(tmp_path: Path) -> None:
    _cache_repository(tmp_path, "model", "config.json", "{}")
    assert _offline_identity(tmp_path, "some/model") == f"some/model@{COMMIT}"


def test_a_hub_id_that_is_not_in_the_cache_is_named_when_offline(tmp_path: Path) -> None:
    message = _offline_identity(tmp_path, "other/model")
    assert message.startswith("other/model: no such folder; the hub cannot be reached")


def test_an_adapter_of_a_hub_is_pinned_with_its_base(tmp_path: Path) -> None:
    _cache_repository(tmp_path, "model", "config.json", "{}")
    adapter_config = '{"peft_type": "LORA", "base_model_name_or_path": "some/model"}'
    _cache_repository(tmp_path, "lora", "adapter_config.json", adapter_config)
    snapshot = tmp_path / "hub" / "models--some--lora" / "snapshots" / COMMIT
    (snapshot / "adapter_model.bin").write_bytes(b"x")
    identity = _offline_identity(tmp_path, "some/lora")
    assert identity.startswith(f"some/model@{COMMIT}+adapter:sha256:")


def _offline_identity(hf_home: Path, hub_id: str) -> str:
    """The identity of a model of the hub's local cache, or the message why there is none.

    A new process finds it, as huggingface_hub reads the environment only when it is imported.
    """
    program = (
        "import sys\n"
        "from bench_assets.core.schema.errors import ModelError\n"
        "from bench_resources.checkpoints.identity import pin\n"
        "try: print(pin(sys.argv[1]).content)\n"
        "except ModelError as why: print(why)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", program, hub_id],
        env={"HF_HOME": str(hf_home), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    return process.stdout.strip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "step-1")


def test_files_at_rest_are_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading 100 GB takes minutes; comparing sizes and times takes no time."""
    in_an_hour = folder.stat().st_ctime_ns + 3600 * 10**9
    monkeypatch.setattr("time.time_ns", lambda: in_an_hour)
    read_files: list[Path] = []

    def recording_digest(files: Iterable[Path]) -> str:
        read_files.extend(files)
        return content_digest(files)

    monkeypatch.setattr(content_checksums, "content_digest", recording_digest)
    pinned = pin(str(folder))
    loaded = ["config.json", "model.safetensors", "tokenizer.json"]
    assert sorted(file.name for file in read_files) == loaded
    for checksum in pinned.checksums:
        assert checksum.verify() is checksum
        assert checksum.verify_existing() is checksum
    assert len(read_files) == len(loaded)


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    write_checkpoint(tmp_path / "base")
    return write_adapter(tmp_path / "run" / "step-1", base="../../base")


def test_an_adapter_is_pinned_with_its_base(tmp_path: Path, adapter: Path) -> None:
    pinned = pin(str(adapter))
    assert (pinned.location, pinned.adapter) == (str(tmp_path / "base"), str(adapter))
    assert pinned.processor == ""  # that of the base
    base = pin(str(tmp_path / "base"))
    assert pinned.content.startswith(f"{base.content}+adapter:sha256:")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("base/model.safetensors", safetensors(b"4321")),
        ("run/step-1/adapter_model.safetensors", safetensors(b"4321")),
        (
            "run/step-1/adapter_config.json",
            b'{"peft_type": "LORA", "base_model_name_or_path": "../../base", "lora_alpha": 99}',
        ),
        ("run/tokenizer.json", b"{}"),
    ],
)
def test_a_change_of_base_adapter_or_processor_changes_the_identity(tmp_path, adapter, name, data):
    before = pin(str(adapter)).content
    (tmp_path / name).write_bytes(data)
    assert pin(str(adapter)).content != before


@pytest.fixture
def without_processor(tmp_path: Path) -> Path:
    """A checkpoint in runs/sft/v0/step-1 that has no processor."""
    folder = write_checkpoint(tmp_path / "runs" / "sft" / "v0" / "step-1")
    (folder / "tokenizer.json").unlink()
    return folder


def test_a_processor_two_folders_above_is_found(tmp_path: Path, without_processor: Path) -> None:
    before = pin(str(without_processor))
    assert before.processor == ""
    write_files(tmp_path / "runs" / "sft", "tokenizer.json", "processor_config.json")
    pinned = pin(str(without_processor))
    assert pinned.processor == str(tmp_path / "runs" / "sft")
    assert pinned.content.startswith(f"{before.content}+processor:sha256:")
    (tmp_path / "runs" / "sft" / "processor_config.json").write_text("[]")
    assert pin(str(without_processor)).content != pinned.content


def test_a_processor_three_folders_above_is_that_of_another_run(tmp_path, without_processor):
    before = pin(str(without_processor))
    write_files(tmp_path / "runs", "tokenizer.json")
    assert pin(str(without_processor)) == before


def test_a_processor_that_is_named_comes_before_all_others(tmp_path: Path, adapter: Path) -> None:
    write_files(tmp_path / "named", "tokenizer.json")
    write_files(adapter, "tokenizer.json", "processor_config.json")
    assert pin(str(adapter)).processor == str(adapter)
    assert pin(str(adapter), processor=str(tmp_path / "named")).processor == str(tmp_path / "named")


def test_a_missing_weights_file_of_an_adapter_is_named(adapter: Path) -> None:
    (adapter / "adapter_model.safetensors").unlink()
    with pytest.raises(ModelError, match=f"{adapter}.*adapter_model.safetensors is missing"):
        pin(str(adapter))


@pytest.mark.parametrize(
    ("name", "data", "expected_message"),
    [
        ("adapter_config.json", b'{"peft_type": "LORA"}', "Set base to "),
        ("non_lora_trainables.bin", b"x", "a LLaVA LoRA whose projector"),
    ],
)
def test_an_adapter_that_cannot_be_put_on_its_base_is_named(adapter, name, data, expected_message):
    write_files(adapter, "config.json")  # which makes it no whole model
    (adapter / name).write_bytes(data)
    with pytest.raises(ModelError, match=expected_message) as raised:
        pin(str(adapter))
    assert str(adapter) in str(raised.value)


def test_a_base_for_what_is_no_adapter_is_refused(folder: Path) -> None:
    with pytest.raises(ModelError, match="this is not an adapter"):
        pin(str(folder), base="org/vlm")


def test_a_processor_folder_without_a_processor_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no tokenizer and no processor"):
        pin(str(folder), processor=str(tmp_path))
