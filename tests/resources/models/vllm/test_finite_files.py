"""NaN and infinity in the files that vLLM loads; the numbers' bits are those of IEEE 754."""

import struct
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import pin
from bench_resources.models.vllm.loading import refuse_infinite_files
from tests.faults.checkpoints import headed
from tests.sensors.watched import write_checkpoint

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("dtype", "numbers", "finite"),
    [
        pytest.param("F32", struct.pack("<2f", 1, 3e38), True, id="the largest numbers"),
        pytest.param("F32", struct.pack("<2f", 1, NAN), False, id="NaN in 32 bits"),
        pytest.param("F32", struct.pack("<2f", -INF, 1), False, id="infinity in 32 bits"),
        pytest.param("F16", struct.pack("<2e", 1, 65504), True, id="the largest of 16 bits"),
        pytest.param("BF16", b"\x80\x3f\xc0\x7f", False, id="NaN in bfloat16"),
        pytest.param("BF16", b"\x80\x3f\x7f\x7f", True, id="the largest bfloat16"),
        pytest.param("F8_E4M3", b"\x38\xff", False, id="NaN in 8 bits"),
        pytest.param("F8_E4M3", b"\x38\x7e", True, id="the largest of 8 bits"),
        pytest.param("I32", b"\xff" * 8, True, id="whole numbers"),
    ],
)
def test_numbers_that_are_none_are_named_by_their_tensor(
    tmp_path: Path, dtype: str, numbers: bytes, finite: bool
) -> None:
    folder = write_checkpoint(tmp_path / "a", shards=2)
    header = {
        "a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
        "w": {"dtype": dtype, "shape": [2], "data_offsets": [4, 4 + len(numbers)]},
    }
    data = headed(header, weights=b"\xff" * 4 + numbers)
    (folder / "model-1-of-2.safetensors").write_bytes(data)
    if finite:
        refuse_infinite_files(pin(str(folder)))
        return
    with pytest.raises(ModelError, match=r"model-1-of-2\.safetensors: NaN or .* tensor 'w'"):
        refuse_infinite_files(pin(str(folder)))
