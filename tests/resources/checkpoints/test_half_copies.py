"""Checkpoints that were copied by half: zeros where weights should be, files that still grow."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import fingerprint, pin
from bench_resources.checkpoints.watched_folders import survey_folders

NAMES = ("a_embed", "b_norm", "c_layer", "d_layer", "e_bias", "f_head")  # in the order of the file


def tensors(**changed):
    random = np.random.default_rng(0)
    tensors = {name: random.normal(size=(256, 96)).astype(np.float32) for name in NAMES}
    tensors |= {name: random.normal(size=8192).astype(np.float32) for name in ("b_norm", "e_bias")}
    return tensors | changed


def checkpoint(folder: Path, **changed) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text('{"model_type": "llava"}')
    (folder / "tokenizer.json").write_text("{}")
    save_file(tensors(**changed), folder / "model.safetensors")
    return folder


@pytest.mark.parametrize("part", [0.02, 0.1, 0.23, 0.38, 0.5, 0.61, 0.77, 0.85, 0.92, 0.97])
@pytest.mark.parametrize("block", [1, 4096])
def test_an_end_of_zeros_is_refused_wherever_it_begins(tmp_path, part, block):
    folder = checkpoint(tmp_path / "step-1")
    file = folder / "model.safetensors"
    data = file.read_bytes()
    at = int(len(data) * part) // block * block
    file.write_bytes(data[:at] + bytes(len(data) - at))
    for tell in (fingerprint, lambda one: pin(str(one))):
        with pytest.raises(ModelError, match=r"model\.safetensors: half-written"):
            tell(folder)
    survey = survey_folders([tmp_path], now=time.time() + 1, settle_seconds=0, remembered={})
    assert not survey.finished
    assert "half-written" in survey.unfinished["step-1"]


def test_weights_that_are_all_zero_are_refused(tmp_path):
    folder = checkpoint(tmp_path, **{name: np.zeros_like(one) for name, one in tensors().items()})
    with pytest.raises(ModelError, match="all its tensors are zero"):
        fingerprint(folder)


@pytest.mark.parametrize("name", ["c_layer", "f_head"])
def test_a_matrix_of_zeros_that_may_be_meant_is_taken(tmp_path, name):
    folder = checkpoint(tmp_path, **{name: np.zeros((256, 96), np.float32)})
    assert len(fingerprint(folder)) == 8
    pin(str(folder))


def test_a_checkpoint_that_grows_between_two_looks_waits(tmp_path):
    """Its times are no help: the clock of another machine wrote them."""
    folder = checkpoint(tmp_path / "step-1")
    checkpoint(tmp_path / "step-2")
    ended = threading.Event()

    def write():
        with (folder / "merges.txt").open("w") as file:
            while not ended.wait(0.02):
                file.write("more\n")
                file.flush()

    (folder / "merges.txt").write_text("")
    writer = threading.Thread(target=write)
    writer.start()
    try:
        later = time.time() + 60
        survey = survey_folders([tmp_path], now=later, settle_seconds=0.3, remembered={})
    finally:
        ended.set()
        writer.join()
    assert [checkpoint.name for checkpoint in survey.finished] == ["step-2"]
    assert survey.unfinished["step-1"].endswith("still change")
