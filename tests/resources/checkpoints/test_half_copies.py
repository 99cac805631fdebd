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


def random_tensors(**replaced):
    random = np.random.default_rng(0)
    tensors = {name: random.normal(size=(256, 96)).astype(np.float32) for name in NAMES}
    tensors |= {name: random.normal(size=8192).astype(np.float32) for name in ("b_norm", "e_bias")}
    return tensors | replaced


def write_checkpoint(folder: Path, **replaced) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text('{"model_type": "llava"}')
    (folder / "tokenizer.json").write_text("{}")
    save_file(random_tensors(**replaced), folder / "model.safetensors")
    return folder


@pytest.mark.parametrize("share", [0.02, 0.1, 0.23, 0.38, 0.5, 0.61, 0.77, 0.85, 0.92, 0.97])
@pytest.mark.parametrize("block_size", [1, 4096])
def test_weights_that_end_in_zeros_are_half_written_wherever_these_begin(
    tmp_path, share, block_size
):
    folder = write_checkpoint(tmp_path / "step-1")
    file = folder / "model.safetensors"
    data = file.read_bytes()
    n_copied = int(len(data) * share) // block_size * block_size
    file.write_bytes(data[:n_copied] + bytes(len(data) - n_copied))
    with pytest.raises(ModelError, match=r"model\.safetensors: half-written"):
        fingerprint(folder)
    with pytest.raises(ModelError, match=r"model\.safetensors: half-written"):
        pin(str(folder))
    survey = survey_folders([tmp_path], now=time.time() + 1, settle_seconds=0, remembered={})
    assert not survey.finished
    assert "half-written" in survey.unfinished["step-1"]


def test_weights_that_are_all_zero_are_refused(tmp_path):
    zeros = {name: np.zeros_like(tensor) for name, tensor in random_tensors().items()}
    folder = write_checkpoint(tmp_path, **zeros)
    with pytest.raises(ModelError, match="all its tensors are zero"):
        fingerprint(folder)


@pytest.mark.parametrize("name", ["c_layer", "f_head"])
def test_a_single_matrix_of_zeros_is_accepted(tmp_path, name):
    folder = write_checkpoint(tmp_path, **{name: np.zeros((256, 96), np.float32)})
    assert len(fingerprint(folder)) == 8
    assert pin(str(folder)).content.startswith("sha256:")


def append_until(stopped: threading.Event, file: Path) -> None:
    with file.open("a") as stream:
        while not stopped.wait(0.02):
            stream.write("more\n")
            stream.flush()


def test_a_checkpoint_that_grows_during_a_survey_is_unfinished(tmp_path):
    """Its files look old enough: their times are those of another machine's clock."""
    folder = write_checkpoint(tmp_path / "step-1")
    write_checkpoint(tmp_path / "step-2")
    (folder / "merges.txt").touch()
    stopped = threading.Event()
    writer = threading.Thread(target=append_until, args=(stopped, folder / "merges.txt"))
    writer.start()
    try:
        in_a_minute = time.time() + 60
        survey = survey_folders([tmp_path], now=in_a_minute, settle_seconds=0.3, remembered={})
    finally:
        stopped.set()
        writer.join()
    assert [checkpoint.name for checkpoint in survey.finished] == ["step-2"]
    assert survey.unfinished["step-1"].endswith("still change")
