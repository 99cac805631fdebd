"""Headers of safetensors files.

What is read here comes from strangers. A header that safetensors itself would refuse is refused
before anything is read by it: https://github.com/huggingface/safetensors, section "Format".

Looks through the pickles of a file that torch saved, without unpickling anything.

Loading (``torch.load`` with ``weights_only``) makes nothing but tensors and refuses the rest; here
it is said before anybody waits for a model, and by name.
"""

import io
import math
import os
import pickletools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile, is_zipfile
from zlib import error as ZlibError  # noqa: N812 - an exception by another name

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.file_access import open_regular, parse_json, quoted_name

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
class TensorSpan:
    """One tensor."""

    start: int  # bytes from the file's beginning
    end: int
    name: str
    dtype: str  # as safetensors calls it


def tensor_spans(file: Path) -> list[TensorSpan]:
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


def _spans(header: object, start: int) -> list[TensorSpan]:
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
            raise ValueError(f"tensor {quoted_name(span.name)} {what}")
        at = span.end
    return spans


def _span(name: str, tensor: object, start: int) -> TensorSpan:
    if not name.isascii() and name.encode("utf-8", "replace").decode() != name:
        raise ValueError(f"tensor {quoted_name(name)}: its name is not UTF-8")
    if not isinstance(tensor, dict):
        raise ValueError(f"tensor {quoted_name(name)}: no JSON object")
    first, end = _counts(tensor, "data_offsets", name, 2)
    dtype, shape = tensor.get("dtype"), _counts(tensor, "shape", name)
    if not isinstance(dtype, str):
        raise ValueError(f"tensor {quoted_name(name)}: no dtype")
    if end < first:
        raise ValueError(f"tensor {quoted_name(name)}: data_offsets {first} and {end}")
    if (bits := _BITS.get(dtype)) is not None and math.prod(shape) * bits != (end - first) * 8:
        raise ValueError(f"tensor {quoted_name(name)}: {end - first} bytes are not its shape")
    return TensorSpan(start + first, start + end, name, dtype)


def _counts(tensor: Mapping[str, Any], field: str, name: str, n: int | None = None) -> list[int]:
    """A list of whole numbers of 64 bits, none negative."""
    written = tensor.get(field)
    if (
        not isinstance(written, list)
        or len(written) > _MOST_DIMENSIONS
        or (n is not None and len(written) != n)
        or not all(type(one) is int and 0 <= one < 2**63 for one in written)
    ):
        raise ValueError(f"tensor {quoted_name(name)}: {field} {quoted_name(written)}")
    return written


_ZIP = b"PK\x03\x04"  # how a file that torch saved since 1.6 begins
_MOST_BYTES = 16 * 2**20  # of pickles; the tensors' numbers lie elsewhere
_MOST_STEPS = 3_000_000  # of pickles; 100,000 tensors take half of it
_OLDER_PICKLES = 5  # that a file of older torch begins with
_BY_NAME = {"GLOBAL", "INST"}  # steps that say what they call
_UNSEEN = {"STACK_GLOBAL", "EXT1", "EXT2", "EXT4"}
"""Steps that do not say what they call; torch neither writes nor loads them."""
_HARMLESS = {
    *{"collections OrderedDict", "collections Counter", "_codecs encode"},
    *(f"{of} {kind}" for of in ("builtins", "__builtin__") for kind in ("bytearray", "complex")),
    *{"builtins set", "__builtin__ set"},
}
_UNREADABLE = (ArithmeticError, LookupError, MemoryError, RuntimeError, ValueError)


def refuse_foreign_code(file: Path) -> None:
    """Refuse a file that was cut short, or whose pickles call anything but torch's own.

    Raises:
        ModelError: If so; names the first thing it would call.
        OSError: If reading breaks off.
    """
    with open_regular(file) as opened:
        size = os.fstat(opened.fileno()).st_size
        is_zip = opened.read(len(_ZIP)) == _ZIP
        if size == 0 or (is_zip and not is_zipfile(opened)):
            raise ModelError(f"{file}: {size} bytes; half-written or corrupt")
        opened.seek(0)
        steps = 0
        for pickle in _in_a_zip(opened, file) if is_zip else _one_after_another(opened):
            for name, called in pickle:
                steps += 1
                if steps > _MOST_STEPS:
                    raise ModelError(f"{file}: more than {_MOST_STEPS} steps of pickles")
                if name in _UNSEEN or (name in _BY_NAME and not _is_harmless(str(called))):
                    raise ModelError(
                        f"{file}: its pickle calls {quoted_name(called or name)}, which is none of"
                        " torch's; it is not opened: save the weights as safetensors"
                    )


def _is_harmless(called: str) -> bool:
    """Whether a pickle may call what it says: module, blank, name."""
    return called in _HARMLESS or called.partition(" ")[0].partition(".")[0] == "torch"


def _in_a_zip(opened: BinaryIO, file: Path) -> Iterator[Iterator[tuple[str, object]]]:
    try:
        with ZipFile(opened) as archive:
            for entry in archive.infolist():
                if entry.filename.endswith(".pkl"):
                    with archive.open(entry) as written:
                        yield _steps(io.BytesIO(written.read(_MOST_BYTES)))
    except (*_UNREADABLE, BadZipFile, EOFError, OSError, ZlibError) as why:
        raise ModelError(f"{file}: no zip file that torch saved: {quoted_name(why)}") from why


def _one_after_another(opened: BinaryIO) -> Iterator[Iterator[tuple[str, object]]]:
    begins = io.BytesIO(opened.read(_MOST_BYTES))
    for _ in range(_OLDER_PICKLES):
        yield _steps(begins)


def _steps(pickle: BinaryIO) -> Iterator[tuple[str, object]]:
    """What a pickle would do, up to where it cannot be read: nothing after that is done."""
    try:
        for step, called, _ in islice(pickletools.genops(pickle), _MOST_STEPS + 1):
            yield step.name, called
    except _UNREADABLE:
        return
