"""What training frameworks leave behind that is no checkpoint yet: named, with a sentence."""

from pathlib import Path

import pytest

from tests.sensors.watched import look, write_files

ZERO = "zero_pp_rank_0_mp_rank_00_optim_states.pt"
MODEL_CONFIG = '{"model_type": "llava"}'


@pytest.mark.parametrize(
    ("files", "name", "says"),
    [
        pytest.param(
            ["a/config.json", f"a/global_step5/bf16_{ZERO}", "a/latest", "a/zero_to_fp32.py"],
            "a",
            "{at}: DeepSpeed ZeRO, weights not gathered; DeepSpeed's zero_to_fp32.py",
            id="DeepSpeed ZeRO-3 through Trainer",
        ),
        pytest.param([ZERO], "", "a DeepSpeed ZeRO step", id="one step of DeepSpeed"),
        pytest.param(
            ["a/pytorch_model_fsdp_0/__0_0.distcp", "a/optimizer_0/__0_0.distcp", "a/config.json"],
            "a",
            "{at}: FSDP shards; each file has one rank's part",
            id="FSDP through Trainer",
        ),
        pytest.param(
            ["a/step-5/.metadata", "a/step-5/__0_0.distcp"],
            "a/step-5",
            "torch.distributed.checkpoint joins them",
            id="FSDP 2, torchtitan",
        ),
        pytest.param(
            ["a/checkpoints/epoch=1-step=5.ckpt"],
            "a/checkpoints",
            "epoch=1-step=5.ckpt has the weights under the names of",
            id="Lightning",
        ),
        pytest.param(["a/model.pt"], "a", "load model.pt into the model", id="plain torch"),
        pytest.param(
            ["g/actor/huggingface/config.json", "g/actor/model_world_size_8_rank_0.pt"],
            "g/actor",
            "{at}: verl FSDP shards; each file has one rank's part",
            id="verl, FSDP",
        ),
        pytest.param(
            ["a/latest_checkpointed_iteration.txt", "a/iter_5/mp_rank_00/model_optim_rng.pt"],
            "a",
            "{at}: Megatron shards; the trainer's own export",
            id="Megatron",
        ),
        pytest.param(
            ["a/iter_5/common.pt", "a/iter_5/__0_0.distcp", "a/iter_5/metadata.json"],
            "a",
            "Megatron shards",
            id="Megatron, torch_dist",
        ),
        pytest.param(["m.Q4_K.gguf"], "", 'gguf_file = "m.Q4_K.gguf"', id="GGUF alone"),
        pytest.param(["a/consolidated.safetensors", "a/params.json"], "a", "Mistral", id="Mistral"),
        pytest.param(
            ["a/model_index.json", "a/unet/config.json", "a/unet/model.safetensors"],
            "a",
            "a diffusers pipeline",
            id="diffusers",
        ),
        pytest.param(["a/open_clip_config.json"], "a", "a CLIPModel", id="OpenCLIP"),
        pytest.param(["a/config.json", "a/onnx/model.onnx"], "a", "exported from", id="ONNX"),
        pytest.param(["a/config.json", "a/tf_model.h5"], "a", "up to version 4", id="TensorFlow"),
        pytest.param(["a/m.nemo"], "a", "NeMo's export", id="NeMo"),
        pytest.param(["a/Modelfile"], "a", 'kind = "ollama"', id="Ollama"),
        pytest.param(
            ["a/config.json", "a/model.safetensors.part"],
            "a",
            "an incomplete download",
            id="half a copy",
        ),
        pytest.param(
            ["a/config.json", "a/tokenizer.json"], "a", "without weights", id="weights to come"
        ),
    ],
)
def test_what_is_no_checkpoint_yet_is_named_with_a_sentence(
    tmp_path: Path, files: list[str], name: str, says: str
) -> None:
    runs = tmp_path / "runs"
    write_files(runs, *files)
    for config in runs.rglob("config.json"):
        config.write_text(MODEL_CONFIG)
    found = look(runs)
    assert found.finished == []
    assert list(found.unfinished) == [name or "runs"]
    assert says.format(at=runs / name) in found.unfinished[name or "runs"]
