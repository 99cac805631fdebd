"""What a checkpoint is made of: weights, an adapter, a processor that lies elsewhere."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import pin
from tests.sensors.watched import safetensors, write_adapter, write_checkpoint, write_files


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


def test_names_of_folders_are_no_part_of_the_content(tmp_path: Path, adapter: Path) -> None:
    before = pin(str(adapter)).content
    adapter = adapter.rename(tmp_path / "run" / "best")
    (tmp_path / "base").rename(tmp_path / "moved")
    assert pin(str(adapter), base=str(tmp_path / "moved")).content == before


def test_a_processor_in_the_run_is_found_where_the_checkpoint_has_none(tmp_path: Path) -> None:
    folder = _without_tokenizer(write_checkpoint(tmp_path / "runs" / "sft" / "v0" / "step-1"))
    alone = pin(str(folder))
    assert alone.processor == ""
    write_files(tmp_path / "runs", "tokenizer.json")  # three above: of another run
    assert pin(str(folder)) == alone
    write_files(tmp_path / "runs" / "sft", "tokenizer.json", "processor_config.json")
    found = pin(str(folder))
    assert found.processor == str(tmp_path / "runs" / "sft")
    assert found.content.startswith(f"{alone.content}+processor:sha256:")
    (tmp_path / "runs" / "sft" / "processor_config.json").write_text("[]")
    assert pin(str(folder)).content != found.content


def test_a_processor_that_is_named_comes_before_all_others(tmp_path: Path, adapter: Path) -> None:
    write_files(tmp_path / "mine", "tokenizer.json")
    write_files(adapter, "tokenizer.json", "processor_config.json")
    assert pin(str(adapter)).processor == str(adapter)
    assert pin(str(adapter), processor=str(tmp_path / "mine")).processor == str(tmp_path / "mine")


def test_an_adapters_tokenizer_alone_does_not_do_where_the_base_sees(
    tmp_path: Path, adapter: Path
) -> None:
    write_files(adapter, "tokenizer.json")
    assert pin(str(adapter)).processor == str(adapter)  # the base is a language model
    write_files(tmp_path / "base", "preprocessor_config.json")
    assert pin(str(adapter)).processor == ""


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
