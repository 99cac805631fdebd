"""What lies in a watched folder: found, finished, named by its content, as frameworks write it."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_resources.checkpoints.identity import fingerprint
from bench_resources.checkpoints.watched_folders import (
    CheckpointSurvey,
    find_checkpoint,
)
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


def test_checkpoints_are_found_at_any_depth_and_named_by_their_place(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "runs" / "a" / "step-1", b"1")
    write_checkpoint(tmp_path / "runs" / "b" / "c" / "step-2", b"2", shards=3)
    write_checkpoint(tmp_path / "final", b"3")
    write_checkpoint(tmp_path / "final" / "optimizer", b"4")
    write_checkpoint(tmp_path / "runs" / ".trash" / "step-3", b"5")
    (tmp_path / "runs" / "latest").symlink_to(tmp_path / "runs" / "a" / "step-1")
    survey = look(tmp_path / "runs", tmp_path / "final")
    assert [checkpoint.name for checkpoint in survey.finished] == [
        "a/step-1",
        "b/c/step-2",
        "final",
    ]
    assert survey.unfinished == {}


def test_a_checkpoint_is_taken_when_its_files_are_at_rest(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "step-1")
    for file in folder.iterdir():
        os.utime(file, (0, 0))  # copied with its old time: still changed a moment ago
    assert "changed a moment ago" in look(tmp_path, settle_seconds=60).unfinished["step-1"]
    assert look(tmp_path, settle_seconds=0).finished != []


def test_the_content_names_a_checkpoint(tmp_path: Path) -> None:
    weights = bytes(3_000_000)
    folder = write_checkpoint(tmp_path / "a", weights)
    same = fingerprint(folder)
    assert fingerprint(write_checkpoint(tmp_path / "b", weights)) == same
    (folder / "README.md").write_text("read by nothing")
    assert fingerprint(folder) == same
    others = [
        write_checkpoint(tmp_path / "first", b"\x01" + weights[1:]),
        write_checkpoint(tmp_path / "middle", weights[:1_500_000] + b"\x01" + weights[1_500_001:]),
        write_checkpoint(tmp_path / "last", weights[:-1] + b"\x01"),
    ]
    others.append(write_checkpoint(tmp_path / "tokenizer", weights))
    (others[-1] / "tokenizer.json").write_text("[]")
    assert len({same, *(fingerprint(other) for other in others)}) == 5


def test_a_file_in_place_of_another_as_old_and_as_long_is_seen(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "a")
    (before,) = look(tmp_path).digests
    weights = folder / "model.safetensors"
    was = weights.stat()
    other = tmp_path / "other"
    other.write_bytes(weights.read_bytes()[:-1] + b"5")
    os.utime(other, ns=(was.st_atime_ns, was.st_mtime_ns))
    other.replace(weights)
    assert before not in look(tmp_path).digests


def test_a_checkpoint_is_found_again_by_its_name_or_its_content(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "run" / "step-1")
    write_checkpoint(tmp_path / "run" / "step-2", b"5678")
    (key,) = (
        checkpoint.key for checkpoint in look(tmp_path).finished if checkpoint.name == "run/step-1"
    )
    assert find_checkpoint(key, [tmp_path]) == folder
    renamed = folder.rename(tmp_path / "run" / "best")
    assert find_checkpoint(key, [tmp_path]) == renamed
    write_checkpoint(renamed, b"new!")
    with pytest.raises(ModelError, match="deleted, overwritten or unfinished"):
        find_checkpoint(key, [tmp_path])


def test_a_partition_runs_as_the_model_it_is_to_be_like(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "runs" / "a" / "step-1")
    settings = watch_runs(
        tmp_path / "home",
        'like = "base"\n[models.base]\nkind = "transformers"\npath = "x"\nmax_tokens = 7\n',
    )
    (checkpoint,) = look(tmp_path / "runs").finished
    spec = resolve_name(checkpoint.key, settings).spec
    assert isinstance(spec, TransformersSpec)
    assert (Path(spec.path).resolve(), spec.max_tokens) == (folder, 7)
    with pytest.raises(ModelError, match="no folder with these weights"):
        resolve_name("a/step-1@00000000", settings)


LIKE = (
    'like = "base"\n[models.base]\nkind = "transformers"\npath = "org/vlm"\nrevision = "v2"\n'
    'gguf_file = "m.gguf"\nbase = "../vlm"\n'
)


def test_an_adapter_is_a_checkpoint_like_any_other(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "vlm")
    folder = write_adapter(tmp_path / "runs" / "a" / "step-1", base="not/there/any/more")
    write_checkpoint(tmp_path / "runs" / "a" / "merged", b"5678")
    settings = watch_runs(tmp_path / "home", LIKE)
    base = base_of_checkpoints(settings)
    survey = look(tmp_path / "runs", base=base)
    merged, adapter = (
        resolve_name(checkpoint.key, settings).spec for checkpoint in survey.finished
    )
    assert isinstance(adapter, TransformersSpec)
    assert isinstance(merged, TransformersSpec)
    assert (Path(adapter.path).resolve(), Path(adapter.base).resolve()) == (
        folder,
        tmp_path / "vlm",
    )
    assert (adapter.revision, adapter.gguf_file) == ("main", None)  # those of like's own weights
    assert merged.base == ""
    (folder / "adapter_model.safetensors").write_bytes(safetensors(b"4321"))
    with pytest.raises(ModelError, match="deleted, overwritten or unfinished"):
        resolve_name(survey.finished[1].key, settings)


def test_checkpoints_cannot_be_like_a_model_that_is_none_of_transformers(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "runs" / "a" / "step-1")
    settings = watch_runs(tmp_path / "home", 'like = "random"')
    (survey,) = look(tmp_path / "runs").finished
    with pytest.raises(SettingsError, match="like: random is a random model, not transformers"):
        resolve_name(survey.key, settings)


def names(survey: CheckpointSurvey) -> list[str]:
    return [checkpoint.name for checkpoint in survey.finished]


def _bin_shards(runs: Path) -> None:
    folder = write_checkpoint(runs / "a")
    (folder / "model.safetensors").unlink()
    shards = [f"pytorch_model-0000{n}-of-00002.bin" for n in (1, 2)]
    write_files(folder, *shards)
    index = {"weight_map": {name: name for name in shards}}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))


SFT = "sft/checkpoint-500"


@pytest.mark.parametrize(
    ("checkpoints", "files", "taken"),
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
def test_what_holds_weights_is_taken(
    tmp_path: Path, checkpoints: list[str], files: list[str], taken: list[str]
) -> None:
    for n, name in enumerate(checkpoints):
        write_checkpoint(tmp_path / name, f"{n:04}".encode())
    write_files(tmp_path, *files)
    survey = look(tmp_path)
    assert names(survey) == taken
    assert survey.unfinished == {}


def _lora(runs: Path) -> None:
    write_files(write_adapter(runs / "a"), "optimizer.pt", "README.md", "tokenizer.json")


@pytest.mark.parametrize("write", [_lora, _bin_shards])
def test_weights_of_other_kinds_are_taken(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path)
    assert (names(look(tmp_path)), look(tmp_path).unfinished) == (["a"], {})


def test_an_adapter_beside_a_model_is_not_taken(tmp_path: Path) -> None:
    write_checkpoint(write_adapter(tmp_path / "a"))
    assert "an adapter and a complete model" in look(tmp_path).unfinished["a"]


def test_an_adapter_whose_base_is_not_there_is_not_taken_until_like_says_where(
    tmp_path: Path,
) -> None:
    write_adapter(tmp_path / "runs" / "a", base="/no/longer/there")
    base = write_checkpoint(tmp_path / "base")
    assert "its base /no/longer/there does not exist" in look(tmp_path / "runs").unfinished["a"]
    assert names(look(tmp_path / "runs", base=str(base))) == ["a"]


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        pytest.param("pytorch_model-00002-of-00002.bin", None, "is missing", id="a shard of .bin"),
        pytest.param("pytorch_model.bin.index.json", None, "index.json is missing", id="the index"),
        pytest.param(
            "pytorch_model-00001-of-00002.bin", b"PK\x03\x04 no end", "half-written", id="cut short"
        ),
    ],
)
def test_a_missing_part_of_bin_weights_is_noticed(
    tmp_path: Path, name: str, data: bytes | None, says: str
) -> None:
    _bin_shards(tmp_path)
    (tmp_path / "a" / name).unlink()
    if data is not None:
        (tmp_path / "a" / name).write_bytes(data)
    assert says in look(tmp_path).unfinished["a"]
