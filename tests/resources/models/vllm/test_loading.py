"""What vLLM is told of a checkpoint, and what of an adapter it would silently leave out."""

import json
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import VllmSpec
from bench_resources.models.vllm.loading import arguments, link_into_folder

LANGUAGE = "base_model.model.model.language_model.layers.0.self_attn.q_proj.lora_A.weight"
TOWER = "base_model.model.model.visual.blocks.0.attn.qkv.lora_A.weight"


def spec_of(folder: Path, **fields: object) -> VllmSpec:
    return VllmSpec.model_validate({"kind": "vllm", "path": str(folder), **fields})


def adapter_of(folder: Path, *tensors: str, **config: object) -> Checkpoint:
    import torch
    from safetensors.torch import save_file

    written = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "modules_to_save": None} | config
    (folder / "adapter_config.json").write_text(json.dumps(written))
    save_file({name: torch.zeros(1) for name in tensors}, folder / "adapter_model.safetensors")
    return Checkpoint(location=str(folder), content="", adapter=str(folder))


@pytest.mark.parametrize(("rank", "made"), [(1, 8), (8, 8), (9, 16), (100, 128), (512, 512)])
def test_an_adapter_gets_the_least_room_that_vllm_has_for_its_rank(
    tmp_path: Path, rank: int, made: int
) -> None:
    said = arguments(spec_of(tmp_path), adapter_of(tmp_path, LANGUAGE, r=rank), str(tmp_path))
    assert (said["enable_lora"], said["max_lora_rank"]) == (True, made)


@pytest.mark.parametrize(
    ("tensors", "config", "says"),
    [
        pytest.param([LANGUAGE], {"use_dora": True}, "does not support use_dora", id="DoRA"),
        pytest.param([LANGUAGE], {"r": 1024}, "rank 1024 is more than vLLM's 512", id="rank"),
        pytest.param([LANGUAGE, TOWER], {}, "ignores the adapter's vision weights", id="tower"),
    ],
)
def test_an_adapter_that_vllm_would_run_in_part_is_refused(
    tmp_path: Path, tensors: list[str], config: dict[str, object], says: str
) -> None:
    checkpoint = adapter_of(tmp_path, *tensors, **config)
    with pytest.raises(ModelError, match=says) as why:
        arguments(spec_of(tmp_path), checkpoint, str(tmp_path))
    assert "merge it into its base" in str(why.value)


def test_an_adapter_of_the_seeing_half_runs_where_vllm_is_told_to(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, extra={"enable_tower_connector_lora": True})
    assert arguments(spec, adapter_of(tmp_path, TOWER), str(tmp_path))["enable_lora"]


def test_a_processor_that_lies_elsewhere_is_put_beside_the_weights(tmp_path: Path) -> None:
    weights, root = tmp_path / "checkpoint-5", tmp_path / "root"
    for folder, names in (
        (weights, ("config.json", "model.safetensors", "tokenizer.json", "modeling_own.py")),
        (weights / "additional_chat_templates", ("default.jinja",)),
        (weights / "a_tokenizer", ("tokenizer.json",)),
        (root, ("config.json", "tokenizer.json", "processor_config.json", "optimizer.pt")),
        (root / "additional_chat_templates", ("other.jinja",)),
    ):
        folder.mkdir()
        for name in names:
            (folder / name).write_text(f'"{folder.name}"')
    apart = Checkpoint(location=str(weights), content="", processor=str(root))
    together = link_into_folder(apart)
    assert together is not None
    with together as folder:
        below = Path(folder, "additional_chat_templates")
        assert [file.name for file in below.iterdir()] == ["other.jinja"]
        assert {
            one.name: json.loads(one.read_text()) for one in Path(folder).iterdir() if one != below
        } == {
            "config.json": "checkpoint-5",
            "model.safetensors": "checkpoint-5",
            "modeling_own.py": "checkpoint-5",
            "tokenizer.json": "root",
            "processor_config.json": "root",
        }
    assert link_into_folder(Checkpoint(location=str(weights), content="")) is None
