from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from bench_resources.checkpoints.half_copies import inspect_weights
from bench_resources.checkpoints.watched_folders import survey_folders
from tests.cases import read_cases
from tests.fakes.checkpoint_files import look, write_checkpoint, write_files


def test_a_checkpoint_with_empty_tensors_is_unfinished(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "step-1")
    empty = {name: np.zeros(0, np.float16) for name in ("a.weight", "b.weight")}
    save_file(empty | {"norm": np.ones(4, np.float16)}, folder / "model.safetensors")
    survey = survey_folders([tmp_path], now=4e9, settle_seconds=0, remembered={})
    assert not survey.finished
    assert "DeepSpeed ZeRO-3" in survey.unfinished["step-1"]


@pytest.mark.parametrize(("weight", "n_warnings"), [(0.0, 1), (0.1, 0)])
def test_only_an_adapter_whose_second_matrix_is_zero_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, weight: float, n_warnings: int
) -> None:
    file = tmp_path / "adapter_model.safetensors"
    lora_a, lora_b = np.ones((4, 8), np.float32), np.full((8, 4), weight, np.float32)
    save_file({"q.lora_A.weight": lora_a, "q.lora_B.weight": lora_b}, file)
    inspect_weights([file])
    assert caplog.text.count("the adapter changes nothing") == n_warnings


MODEL_CONFIG = '{"model_type": "llava"}'


@pytest.mark.parametrize(("files", "name", "reason"), read_cases(__file__, "no_checkpoints.jsonl"))
def test_a_folder_that_is_no_checkpoint_yet_is_unfinished_with_the_reason(
    tmp_path: Path, files: list[str], name: str, reason: str
) -> None:
    runs = tmp_path / "runs"
    write_files(runs, *files)
    for config in runs.rglob("config.json"):
        config.write_text(MODEL_CONFIG)
    survey = look(runs)
    assert survey.finished == []
    (unfinished_name,) = survey.unfinished
    assert unfinished_name == (name or "runs")
    assert reason.format(folder=runs / name) in survey.unfinished[unfinished_name]
