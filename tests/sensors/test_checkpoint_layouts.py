"""Checkpoints as training frameworks write them: taken, or said what is wrong with them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_resources.checkpoints.watched_folders import CheckpointSurvey
from tests.sensors.watched import look, safetensors, write_adapter, write_checkpoint, write_files


def names(found: CheckpointSurvey) -> list[str]:
    return [one.name for one in found.finished]


def _trainer(runs: Path) -> None:
    for step in (500, 1000):
        folder = write_checkpoint(runs / "sft" / f"checkpoint-{step}", f"{step:04}".encode())
        write_files(folder, "optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin")
        (folder / "trainer_state.json").write_text("{}")


def _trainer_that_ended(runs: Path) -> None:
    _trainer(runs)
    write_checkpoint(runs / "sft", b"1500")
    write_files(runs / "sft", "all_results.json", "training_args.bin")


def _config_of_a_script(runs: Path) -> None:
    write_checkpoint(runs / "sft" / "checkpoint-500")
    (runs / "sft" / "config.json").write_text('{"lr": 1e-5}')


def _lora(runs: Path) -> None:
    folder = write_adapter(runs / "sft" / "checkpoint-500")
    write_files(folder, "optimizer.pt", "README.md", "tokenizer.json")


def _zero_two(runs: Path) -> None:
    folder = write_checkpoint(runs / "sft" / "checkpoint-500")
    write_files(folder, "global_step500/mp_rank_00_model_states.pt", "latest", "zero_to_fp32.py")


def _swift(runs: Path) -> None:
    write_checkpoint(runs / "out" / "v0-20261121" / "checkpoint-500")
    write_files(runs / "out" / "v0-20261121", "args.json", "logging.jsonl", "images/loss.png")


def _llama_factory(runs: Path) -> None:
    write_adapter(runs / "saves" / "qwen" / "lora" / "sft" / "checkpoint-500")
    write_files(runs / "saves" / "qwen" / "lora" / "sft", "trainer_log.jsonl", "all_results.json")


def _hub_folder_with_originals(runs: Path) -> None:
    folder = write_checkpoint(runs / "llama")
    write_files(folder, "original/consolidated.00.pth", ".cache/huggingface/x.incomplete")


def _bin_shards(runs: Path) -> None:
    folder = write_checkpoint(runs / "a")
    (folder / "model.safetensors").unlink()
    shards = [f"pytorch_model-0000{n}-of-00002.bin" for n in (1, 2)]
    write_files(folder, *shards)
    index = {"weight_map": {name: name for name in shards}}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))


def _verl_with_weights(runs: Path) -> None:
    actor = runs / "exp" / "global_step_100" / "actor"
    write_checkpoint(actor / "huggingface")
    write_files(actor, "model_world_size_8_rank_0.pt", "optim_world_size_8_rank_0.pt")


@pytest.mark.parametrize(
    ("write", "taken"),
    [
        pytest.param(
            _trainer, ["sft/checkpoint-1000", "sft/checkpoint-500"], id="HF Trainer while it runs"
        ),
        pytest.param(
            _trainer_that_ended,
            ["sft/checkpoint-1000", "sft/checkpoint-500", "sft"],
            id="HF Trainer when it has saved the model into the run's root",
        ),
        pytest.param(_config_of_a_script, ["sft/checkpoint-500"], id="a script's own config.json"),
        pytest.param(_lora, ["sft/checkpoint-500"], id="LoRA of PEFT"),
        pytest.param(_zero_two, ["sft/checkpoint-500"], id="DeepSpeed, weights gathered"),
        pytest.param(_swift, ["out/v0-20261121/checkpoint-500"], id="ms-swift"),
        pytest.param(
            _llama_factory, ["saves/qwen/lora/sft/checkpoint-500"], id="LLaMA-Factory, LoRA"
        ),
        pytest.param(_hub_folder_with_originals, ["llama"], id="a release with original/"),
        pytest.param(_bin_shards, ["a"], id="shards of .bin"),
        pytest.param(
            _verl_with_weights, ["exp/global_step_100/actor/huggingface"], id="verl with weights"
        ),
    ],
)
def test_what_holds_weights_is_taken(
    tmp_path: Path, write: Callable[[Path], None], taken: list[str]
) -> None:
    write(tmp_path)
    found = look(tmp_path)
    assert names(found) == taken
    assert found.unfinished == {}


MODEL_CONFIG = '{"model_type": "llava"}'


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        pytest.param("non_lora_trainables.bin", "Merge it with LLaVA's own script", id="LLaVA"),
        pytest.param("model.safetensors", "an adapter and a complete model", id="beside a model"),
    ],
)
def test_an_adapter_that_peft_alone_would_spoil_is_not_taken(
    tmp_path: Path, damage: str, says: str
) -> None:
    folder = write_adapter(tmp_path / "a")
    (folder / "config.json").write_text(MODEL_CONFIG)
    write_files(folder, damage)
    (folder / damage).write_bytes(safetensors(b"1"))
    assert says in look(tmp_path).unfinished["a"]


def test_an_adapter_whose_base_is_not_there_is_not_taken_until_like_says_where(
    tmp_path: Path,
) -> None:
    write_adapter(tmp_path / "runs" / "a", base="/no/longer/there")
    base = write_checkpoint(tmp_path / "base")
    assert "its base /no/longer/there does not exist" in look(tmp_path / "runs").unfinished["a"]
    assert names(look(tmp_path / "runs", base=str(base))) == ["a"]


def test_one_that_cannot_be_taken_costs_the_others_nothing(tmp_path: Path) -> None:
    write_files(tmp_path, "bad/adapter_config.json", "worse/model.safetensors", "nest/model.pt")
    write_checkpoint(tmp_path / "nest" / "checkpoint-500")
    found = look(tmp_path)
    assert names(found) == ["nest/checkpoint-500"]
    assert sorted(found.unfinished) == ["bad", "nest", "worse"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        pytest.param("pytorch_model-00002-of-00002.bin", "is missing", id="a shard of .bin"),
        pytest.param("pytorch_model.bin.index.json", "index.json is missing", id="their index"),
    ],
)
def test_a_missing_part_of_bin_weights_is_noticed(tmp_path: Path, name: str, says: str) -> None:
    _bin_shards(tmp_path)
    (tmp_path / "a" / name).unlink()
    assert says in look(tmp_path).unfinished["a"]


def test_a_bin_that_was_cut_short_is_noticed(tmp_path: Path) -> None:
    _bin_shards(tmp_path)
    (tmp_path / "a" / "pytorch_model-00001-of-00002.bin").write_bytes(b"PK\x03\x04 and no end")
    assert "half-written" in look(tmp_path).unfinished["a"]
