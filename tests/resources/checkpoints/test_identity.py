"""Finding, checking and identifying checkpoints."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Request
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.files import content_digest
from bench_resources.checkpoints.identity import pin
from tests.fakes.checkpoint_files import safetensors, write_adapter, write_checkpoint, write_files
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.resources.models.transformers.tiny_engine import (
    MIXED,
    engine_of,
    identity_of,
    responses_of,
)


@pytest.fixture(scope="module")
def vlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_vlm(tmp_path_factory.mktemp("vlm"))


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


def _with_half_the_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:200_000])


def _without_a_tensor(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    del tensors[min(tensors)]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def _without_processor(folder: Path) -> None:
    (folder / "processor_config.json").unlink()


def _without_chat_template(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        pytest.param(shutil.rmtree, "no such folder", id="no folder"),
        pytest.param(_with_half_the_weights, "half-written or", id="half a file of weights"),
        pytest.param(_without_a_tensor, "1 tensors are missing", id="a tensor missing"),
        pytest.param(_without_processor, "does not load: no processor of", id="only a tokenizer"),
        pytest.param(_without_chat_template, "no chat template", id="a base model"),
    ],
)
def test_a_checkpoint_that_is_not_whole_is_named(
    vlm: Path, tmp_path: Path, damage: Callable[[Path], None], says: str
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(vlm, folder)
    damage(folder)
    with pytest.raises(ModelError, match=says) as raised:
        responses_of(engine_of(folder), [Request(prompt=MIXED[0])])
    sentence, *_ = str(raised.value).splitlines()  # the library's report of loading comes below it
    assert str(folder) in sentence


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


def _overwrite(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(safetensors(b"4321"))


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


def _without_tokenizer(folder: Path) -> Path:
    (folder / "tokenizer.json").unlink()
    return folder


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    write_checkpoint(tmp_path / "base")
    return write_adapter(tmp_path / "run" / "step-1", base="../../base")


def test_an_adapter_is_pinned_with_its_base(tmp_path: Path, adapter: Path) -> None:
    pinned = pin(str(adapter))
    assert (pinned.location, pinned.adapter) == (str(tmp_path / "base"), str(adapter))
    assert pinned.processor == ""  # with the base
    assert pinned.content.startswith(f"{pin(str(tmp_path / 'base')).content}+adapter:sha256:")


def _other_base_weights(base: Path, _: Path) -> None:
    (base / "model.safetensors").write_bytes(safetensors(b"4321"))


def _other_adapter_weights(_: Path, adapter: Path) -> None:
    (adapter / "adapter_model.safetensors").write_bytes(safetensors(b"4321"))


def _other_scale(_: Path, adapter: Path) -> None:
    config = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps(config | {"lora_alpha": 99}))


def _processor_in_the_root(_: Path, adapter: Path) -> None:
    write_files(adapter.parent, "tokenizer.json")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_other_base_weights, id="the base's weights"),
        pytest.param(_other_adapter_weights, id="the adapter's weights"),
        pytest.param(_other_scale, id="the adapter's configuration"),
        pytest.param(_processor_in_the_root, id="a tokenizer in the run's root"),
    ],
)
def test_whatever_is_read_changes_the_content(
    tmp_path: Path, adapter: Path, change: Callable[[Path, Path], None]
) -> None:
    before = pin(str(adapter)).content
    change(tmp_path / "base", adapter)
    assert pin(str(adapter)).content != before


def test_a_processor_in_the_run_is_found_where_the_checkpoint_has_none(tmp_path: Path) -> None:
    folder = _without_tokenizer(write_checkpoint(tmp_path / "runs" / "sft" / "v0" / "step-1"))
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


def _without_a_base(adapter: Path) -> None:
    (adapter / "adapter_config.json").write_text('{"peft_type": "LORA"}')


def _without_weights(adapter: Path) -> None:
    (adapter / "adapter_model.safetensors").unlink()


def _of_llava(adapter: Path) -> None:
    write_files(adapter, "config.json", "non_lora_trainables.bin")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        pytest.param(_without_a_base, "Set base to ", id="no base"),
        pytest.param(_without_weights, "adapter_model.safetensors is missing", id="no weights"),
        pytest.param(_of_llava, "a LLaVA LoRA whose projector", id="a LoRA of LLaVA"),
    ],
)
def test_an_adapter_that_cannot_be_put_on_its_base_is_named(
    adapter: Path, damage: Callable[[Path], None], says: str
) -> None:
    damage(adapter)
    with pytest.raises(ModelError, match=says) as raised:
        pin(str(adapter))
    assert str(adapter) in str(raised.value)


def test_a_base_is_for_adapters(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "a")
    with pytest.raises(ModelError, match="this is not an adapter"):
        pin(str(folder), base="org/vlm")


def test_a_folder_without_a_processor_is_named(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "a")
    with pytest.raises(ModelError, match="no tokenizer and no processor"):
        pin(str(folder), processor=str(tmp_path))
