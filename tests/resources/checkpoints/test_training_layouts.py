"""Folders of trainers and converters that are no checkpoint yet: one true sentence on each."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from bench_resources.checkpoints.half_copies import inspect_weights
from bench_resources.checkpoints.watched_folders import survey_folders
from tests.cases import read_cases
from tests.fakes.checkpoint_files import look, write_checkpoint, write_files


def test_empty_tensors_are_no_finished_checkpoint(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "step-1")
    empty = {name: np.zeros(0, np.float16) for name in ("a.weight", "b.weight")}
    save_file(empty | {"norm": np.ones(4, np.float16)}, folder / "model.safetensors")
    survey = survey_folders([tmp_path], now=4e9, settle_seconds=0, remembered={})
    assert not survey.finished
    assert "DeepSpeed ZeRO-3" in survey.unfinished["step-1"]


@pytest.mark.parametrize(("step", "warned"), [(0.0, True), (0.1, False)])
def test_an_adapter_of_zeros_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, step: float, *, warned: bool
) -> None:
    file = tmp_path / "adapter_model.safetensors"
    first, second = np.ones((4, 8), np.float32), np.full((8, 4), step, np.float32)
    save_file({"q.lora_A.weight": first, "q.lora_B.weight": second}, file)
    inspect_weights([file])
    assert ("the adapter changes nothing" in caplog.text) == warned


MODEL_CONFIG = '{"model_type": "llava"}'


@pytest.mark.parametrize(("files", "name", "says"), read_cases(__file__, "no_checkpoints.jsonl"))
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
