import json
import os
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_resources.checkpoints.identity import fingerprint
from bench_resources.checkpoints.watched_folders import CheckpointSurvey, find_checkpoint
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.registry.named_models import base_of_checkpoints, resolve_name
from tests.fakes.checkpoint_files import (
    look,
    safetensors,
    write_adapter,
    write_checkpoint,
    write_files,
)
from tests.sensors.watched import watch_runs


def finished_names(survey: CheckpointSurvey) -> list[str]:
    return [checkpoint.name for checkpoint in survey.finished]


def test_checkpoints_are_found_at_any_depth_and_named_by_their_path(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "runs" / "a" / "step-1", b"1")
    write_checkpoint(tmp_path / "runs" / "b" / "c" / "step-2", b"2", shards=3)
    write_checkpoint(tmp_path / "final", b"3")
    write_checkpoint(tmp_path / "final" / "optimizer", b"4")
    write_checkpoint(tmp_path / "runs" / ".trash" / "step-3", b"5")
    (tmp_path / "runs" / "latest").symlink_to(tmp_path / "runs" / "a" / "step-1")
    survey = look(tmp_path / "runs", tmp_path / "final")
    assert finished_names(survey) == ["a/step-1", "b/c/step-2", "final"]
    assert survey.unfinished == {}


def test_a_checkpoint_is_finished_when_its_files_are_at_rest(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "step-1")
    for file in folder.iterdir():
        os.utime(file, (0, 0))  # a copy keeps the old time; its inode has changed now
    assert "changed a moment ago" in look(tmp_path, settle_seconds=60).unfinished["step-1"]
    assert look(tmp_path, settle_seconds=0).finished != []


def test_a_copy_of_the_loaded_files_has_the_same_fingerprint(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "a")
    digest = fingerprint(folder)
    assert fingerprint(write_checkpoint(tmp_path / "b")) == digest
    (folder / "README.md").write_text("read by nothing")
    assert fingerprint(folder) == digest


@pytest.mark.parametrize("position", [0, 1_500_000, 2_999_999], ids=["first", "middle", "last"])
def test_a_change_of_one_weight_changes_the_fingerprint(tmp_path: Path, position: int) -> None:
    weights = bytearray(3_000_000)
    before = fingerprint(write_checkpoint(tmp_path, bytes(weights)))
    weights[position] = 1
    assert fingerprint(write_checkpoint(tmp_path, bytes(weights))) != before


def test_a_change_of_the_tokenizer_changes_the_fingerprint(tmp_path: Path) -> None:
    before = fingerprint(write_checkpoint(tmp_path))
    (tmp_path / "tokenizer.json").write_text("[]")
    assert fingerprint(tmp_path) != before


def test_a_replaced_file_of_the_same_time_and_size_is_noticed(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "a")
    (before,) = look(tmp_path).digests
    weights = folder / "model.safetensors"
    weights_stat = weights.stat()
    replacement = tmp_path / "replacement"
    replacement.write_bytes(weights.read_bytes()[:-1] + b"5")
    os.utime(replacement, ns=(weights_stat.st_atime_ns, weights_stat.st_mtime_ns))
    replacement.replace(weights)
    assert before not in look(tmp_path).digests


def test_a_checkpoint_is_found_by_its_name_or_its_content(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "run" / "step-1")
    write_checkpoint(tmp_path / "run" / "step-2", b"5678")
    (key,) = (
        checkpoint.key for checkpoint in look(tmp_path).finished if checkpoint.name == "run/step-1"
    )
    assert find_checkpoint(key, [tmp_path]) == folder
    renamed = folder.rename(tmp_path / "run" / "best")
    assert find_checkpoint(key, [tmp_path]) == renamed


def test_an_overwritten_checkpoint_is_not_found(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "step-1")
    (checkpoint,) = look(tmp_path).finished
    write_checkpoint(folder, b"new!")
    with pytest.raises(ModelError, match="deleted, overwritten or unfinished"):
        find_checkpoint(checkpoint.key, [tmp_path])


def test_a_checkpoint_has_the_settings_of_the_model_that_like_names(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "runs" / "a" / "step-1")
    settings = watch_runs(
        tmp_path / "home",
        'like = "base"\n[models.base]\nkind = "transformers"\npath = "x"\nmax_tokens = 7\n',
    )
    (checkpoint,) = look(tmp_path / "runs").finished
    spec = resolve_name(checkpoint.key, settings).spec
    assert isinstance(spec, TransformersSpec)
    assert Path(spec.path).resolve() == folder
    assert spec.max_tokens == 7


LIKE = (
    'like = "base"\n[models.base]\nkind = "transformers"\npath = "org/vlm"\nrevision = "v2"\n'
    'gguf_file = "m.gguf"\nbase = "../vlm"\n'
)


def test_an_adapter_has_the_base_that_like_names(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "vlm")
    folder = write_adapter(tmp_path / "runs" / "a" / "step-1", base="not/there/any/more")
    write_checkpoint(tmp_path / "runs" / "a" / "merged", b"5678")
    settings = watch_runs(tmp_path / "home", LIKE)
    merged, adapter = look(tmp_path / "runs", base=base_of_checkpoints(settings)).finished
    merged_spec = resolve_name(merged.key, settings).spec
    assert isinstance(merged_spec, TransformersSpec)
    assert merged_spec.base == ""
    adapter_spec = resolve_name(adapter.key, settings).spec
    assert isinstance(adapter_spec, TransformersSpec)
    assert Path(adapter_spec.path).resolve() == folder
    assert Path(adapter_spec.base).resolve() == tmp_path / "vlm"
    # Revision and file of the model that like names are of its own weights only.
    assert (adapter_spec.revision, adapter_spec.gguf_file) == ("main", None)


def test_an_adapter_whose_weights_changed_is_not_resolved(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "vlm")
    folder = write_adapter(tmp_path / "runs" / "a" / "step-1")
    settings = watch_runs(tmp_path / "home", LIKE)
    (adapter,) = look(tmp_path / "runs", base=base_of_checkpoints(settings)).finished
    (folder / "adapter_model.safetensors").write_bytes(safetensors(b"4321"))
    with pytest.raises(ModelError, match="deleted, overwritten or unfinished"):
        resolve_name(adapter.key, settings)


def test_like_must_name_a_model_of_transformers(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "runs" / "a" / "step-1")
    settings = watch_runs(tmp_path / "home", 'like = "random"')
    (checkpoint,) = look(tmp_path / "runs").finished
    with pytest.raises(SettingsError, match="like: random is a random model, not transformers"):
        resolve_name(checkpoint.key, settings)


def _write_bin_shards(runs: Path) -> None:
    folder = write_checkpoint(runs / "a")
    (folder / "model.safetensors").unlink()
    shards = [f"pytorch_model-0000{n}-of-00002.bin" for n in (1, 2)]
    write_files(folder, *shards)
    index = {"weight_map": {name: name for name in shards}}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))


SFT = "sft/checkpoint-500"


@pytest.mark.parametrize(
    ("checkpoints", "files", "finished"),
    [
        pytest.param(
            [SFT, "sft/checkpoint-1000", "sft"],
            [f"{SFT}/optimizer.pt", f"{SFT}/trainer_state.json", "sft/all_results.json"],
            ["sft/checkpoint-1000", SFT, "sft"],
            id="HF Trainer when it has saved the model into the run's root",
        ),
        pytest.param([SFT], ["sft/config.json"], [SFT], id="a script's own config.json"),
        pytest.param(
            [SFT],
            [f"{SFT}/global_step500/mp_rank_00_model_states.pt", f"{SFT}/zero_to_fp32.py"],
            [SFT],
            id="DeepSpeed, weights gathered",
        ),
        pytest.param(
            ["llama"],
            ["llama/original/consolidated.00.pth", "llama/.cache/huggingface/x.incomplete"],
            ["llama"],
            id="a release with original/",
        ),
        pytest.param(
            ["g/actor/huggingface"],
            ["g/actor/model_world_size_8_rank_0.pt", "g/actor/optim_world_size_8_rank_0.pt"],
            ["g/actor/huggingface"],
            id="verl with weights",
        ),
    ],
)
def test_each_folder_with_loadable_weights_is_a_checkpoint(tmp_path, checkpoints, files, finished):
    for n, name in enumerate(checkpoints):
        write_checkpoint(tmp_path / name, f"{n:04}".encode())
    write_files(tmp_path, *files)
    survey = look(tmp_path)
    assert finished_names(survey) == finished
    assert survey.unfinished == {}


def _write_lora(runs: Path) -> None:
    write_files(write_adapter(runs / "a"), "optimizer.pt", "README.md", "tokenizer.json")


@pytest.mark.parametrize("write_weights", [_write_lora, _write_bin_shards])
def test_adapters_and_bin_shards_are_checkpoints(tmp_path, write_weights):
    write_weights(tmp_path)
    survey = look(tmp_path)
    assert finished_names(survey) == ["a"]
    assert survey.unfinished == {}


def test_an_adapter_beside_a_complete_model_is_unfinished(tmp_path: Path) -> None:
    write_checkpoint(write_adapter(tmp_path / "a"))
    assert "an adapter and a complete model" in look(tmp_path).unfinished["a"]


def test_an_adapter_with_a_missing_base_is_unfinished_until_like_names_its_base(tmp_path):
    write_adapter(tmp_path / "runs" / "a", base="/no/longer/there")
    base = write_checkpoint(tmp_path / "base")
    assert "its base /no/longer/there does not exist" in look(tmp_path / "runs").unfinished["a"]
    assert finished_names(look(tmp_path / "runs", base=str(base))) == ["a"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("pytorch_model-00002-of-00002.bin", "is missing", id="a shard"),
        pytest.param("pytorch_model.bin.index.json", "index.json is missing", id="the index"),
    ],
)
def test_a_missing_file_of_bin_shards_is_named(tmp_path: Path, name: str, reason: str) -> None:
    _write_bin_shards(tmp_path)
    (tmp_path / "a" / name).unlink()
    assert reason in look(tmp_path).unfinished["a"]


def test_a_bin_shard_that_is_cut_short_is_half_written(tmp_path: Path) -> None:
    _write_bin_shards(tmp_path)
    (tmp_path / "a" / "pytorch_model-00001-of-00002.bin").write_bytes(b"PK\x03\x04 no end")
    assert "half-written" in look(tmp_path).unfinished["a"]
