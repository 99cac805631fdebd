"""Weight files without loading them: tensor positions, files that were cut short."""

import json
from dataclasses import dataclass
from pathlib import Path
from zipfile import is_zipfile

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.files import shortened

_LENGTH = 8  # bytes at the start of a safetensors file: the size of its header


@dataclass(frozen=True, slots=True, order=True)
class TensorSpan:
    """Position of one tensor in a safetensors file."""

    start: int  # bytes from the file's beginning
    end: int
    name: str
    dtype: str  # as safetensors calls it


def tensor_spans(file: Path) -> list[TensorSpan]:
    """Positions of the tensors of a safetensors file, in the order of the file.

    Raises:
        ModelError: If safetensors refuses the header, or the file was cut short.
        OSError: If it cannot be read.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="np"):
            pass  # validates header, offsets and length
        with file.open("rb") as opened:
            start = _LENGTH + int.from_bytes(opened.read(_LENGTH), "little")
            header = json.loads(opened.read(start - _LENGTH))
    except (SafetensorError, ValueError, RecursionError) as why:
        raise ModelError(f"{file}: half-written or corrupt: {shortened(why)}") from why
    header.pop("__metadata__", None)
    return sorted(
        TensorSpan(start + begin, start + end, name, tensor["dtype"])
        for name, tensor in header.items()
        for begin, end in [tensor["data_offsets"]]
    )


def refuse_cut_archive(file: Path) -> None:
    """Refuse a file of torch that was cut short: a zip archive since torch 1.6.

    Raises:
        ModelError: If so.
        OSError: If it cannot be read.
    """
    with file.open("rb") as opened:
        begins = opened.read(4)
    if not begins or (begins == b"PK\x03\x04" and not is_zipfile(file)):
        raise ModelError(f"{file}: {file.stat().st_size} bytes; half-written or corrupt")
