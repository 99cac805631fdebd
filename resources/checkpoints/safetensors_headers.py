"""Headers of safetensors files.

What is read here comes from strangers. A header that safetensors itself would refuse is refused
before anything is read by it: https://github.com/huggingface/safetensors, section "Format".
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.file_access import open_regular, parse_json, quoted

_LENGTH = 8  # bytes at the start of a file: how long its header is
_LONGEST = 100_000_000  # bytes, as safetensors has it
_MOST_DIMENSIONS = 64  # that torch has
_BITS = {
    **{"F64": 64, "I64": 64, "U64": 64, "C64": 64, "F32": 32, "I32": 32, "U32": 32},
    **{"F16": 16, "BF16": 16, "I16": 16, "U16": 16, "BOOL": 8, "U8": 8, "I8": 8},
    **{"F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F6_E2M3": 6, "F6_E3M2": 6, "F4": 4},
}
"""Of one number; a type that is not here is believed."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """One tensor."""

    start: int  # bytes from the file's beginning
    end: int
    name: str
    dtype: str  # as safetensors calls it


def tensor_spans(file: Path) -> list[Span]:
    """Where each tensor of a safetensors file starts and ends, in the order of the file.

    Raises:
        ModelError: If the header cannot be read, tensors overlap or leave holes, or the file is not
            as long as it says.
        OSError: If reading breaks off.
    """
    with open_regular(file) as opened:
        size = os.fstat(opened.fileno()).st_size
        length = int.from_bytes(opened.read(_LENGTH), "little")
        if size < _LENGTH or length > min(size - _LENGTH, _LONGEST):
            raise ModelError(f"{file}: {size} bytes do not hold a header; half-written or corrupt")
        header = opened.read(length)
    complaint = f"{file}: its header is not one of safetensors"
    try:
        spans = _spans(parse_json(header, complaint), _LENGTH + length)
    except ValueError as why:
        raise ModelError(f"{complaint}: {why}") from why
    expected = spans[-1].end if spans else _LENGTH + length
    if size != expected:
        raise ModelError(f"{file}: {size} bytes; its header says {expected}")
    return spans


def _spans(header: object, start: int) -> list[Span]:
    if not isinstance(header, dict):
        raise ValueError("no JSON object")
    about = header.pop("__metadata__", {})
    if not isinstance(about, dict) or not all(isinstance(one, str) for one in about.values()):
        raise ValueError("its __metadata__ are not texts by name")
    spans = sorted(_span(name, tensor, start) for name, tensor in header.items())
    at = start
    for span in spans:
        if span.start != at:
            what = "overlaps the one before it" if span.start < at else "leaves a hole before it"
            raise ValueError(f"tensor {quoted(span.name)} {what}")
        at = span.end
    return spans


def _span(name: str, tensor: object, start: int) -> Span:
    if not name.isascii() and name.encode("utf-8", "replace").decode() != name:
        raise ValueError(f"tensor {quoted(name)}: its name is not UTF-8")
    if not isinstance(tensor, dict):
        raise ValueError(f"tensor {quoted(name)}: no JSON object")
    first, end = _counts(tensor, "data_offsets", name, 2)
    dtype, shape = tensor.get("dtype"), _counts(tensor, "shape", name)
    if not isinstance(dtype, str):
        raise ValueError(f"tensor {quoted(name)}: no dtype")
    if end < first:
        raise ValueError(f"tensor {quoted(name)}: data_offsets {first} and {end}")
    if (bits := _BITS.get(dtype)) is not None and math.prod(shape) * bits != (end - first) * 8:
        raise ValueError(f"tensor {quoted(name)}: {end - first} bytes are not its shape")
    return Span(start + first, start + end, name, dtype)


def _counts(tensor: Mapping[str, Any], field: str, name: str, n: int | None = None) -> list[int]:
    """A list of whole numbers of 64 bits, none negative."""
    written = tensor.get(field)
    if (
        not isinstance(written, list)
        or len(written) > _MOST_DIMENSIONS
        or (n is not None and len(written) != n)
        or not all(type(one) is int and 0 <= one < 2**63 for one in written)
    ):
        raise ValueError(f"tensor {quoted(name)}: {field} {quoted(written)}")
    return written
