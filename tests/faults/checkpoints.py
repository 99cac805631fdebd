"""A checkpoint of a few bytes, and its file of weights, for those that damage them."""

import json
import struct
from pathlib import Path
from typing import Any


def headed(header: object, length: int | None = None, weights: bytes = b"1234") -> bytes:
    """A file of safetensors with this header, said to be so long."""
    written = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(written) if length is None else length
    return struct.pack("<Q", size % 2**64) + written + weights


def tensor(first: Any, end: Any, **more: Any) -> dict[str, Any]:
    """A header of one tensor."""
    return {"w": {"dtype": "U8", "shape": [4], "data_offsets": [first, end], **more}}


def written_checkpoint(folder: Path, weights: bytes) -> Path:
    """Write a checkpoint of a few bytes, which is whole."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"model_type": "llava"}')
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(headed(tensor(0, 4), weights=weights))
    return folder
