"""Weight files without loading them: tensor positions of safetensors, calls of pickles."""

import io
import json
import pickletools
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile, is_zipfile
from zlib import error as ZlibError  # noqa: N812 - an exception by another name

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.file_access import open_regular, quoted_name, regular_file_stat

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
        OSError: If reading breaks off.
    """
    from safetensors import SafetensorError, safe_open

    regular_file_stat(file)
    try:
        with safe_open(file, framework="np"):
            pass  # validates header, offsets and length
        with file.open("rb") as opened:
            start = _LENGTH + int.from_bytes(opened.read(_LENGTH), "little")
            header = json.loads(opened.read(start - _LENGTH))
    except (SafetensorError, ValueError, RecursionError) as why:
        raise ModelError(f"{file}: half-written or corrupt: {quoted_name(why)}") from why
    header.pop("__metadata__", None)
    return sorted(
        TensorSpan(start + begin, start + end, name, tensor["dtype"])
        for name, tensor in header.items()
        for begin, end in [tensor["data_offsets"]]
    )


_ZIP = b"PK\x03\x04"  # magic bytes of torch's files since 1.6
_MOST_BYTES = 16 * 2**20  # of pickles; the tensors' data lie elsewhere
_MOST_STEPS = 3_000_000  # of pickles; 100,000 tensors take half of it
_OLDER_PICKLES = 5  # at the start of a file of older torch
_BY_NAME = {"GLOBAL", "INST"}  # opcodes that name what they call
_UNNAMED = {"STACK_GLOBAL", "EXT1", "EXT2", "EXT4"}
"""Opcodes that do not name what they call; torch neither writes nor loads them."""
_HARMLESS = {
    *{"collections OrderedDict", "collections Counter", "_codecs encode"},
    *(f"{of} {kind}" for of in ("builtins", "__builtin__") for kind in ("bytearray", "complex")),
    *{"builtins set", "__builtin__ set"},
}
_UNREADABLE = (ArithmeticError, LookupError, MemoryError, RuntimeError, ValueError)


def refuse_foreign_code(file: Path) -> None:
    """Refuse a torch file that was cut short, or whose pickles call anything but torch's own.

    ``torch.load`` with ``weights_only`` refuses such calls, too; this names them before loading.

    Raises:
        ModelError: If so; names the first foreign call.
        OSError: If reading breaks off.
    """
    size = regular_file_stat(file).st_size
    with open_regular(file) as opened:
        is_zip = opened.read(len(_ZIP)) == _ZIP
        if size == 0 or (is_zip and not is_zipfile(opened)):
            raise ModelError(f"{file}: {size} bytes; half-written or corrupt")
        opened.seek(0)
        steps = 0
        for pickle in _zipped_pickles(opened, file) if is_zip else _plain_pickles(opened):
            for name, called in pickle:
                steps += 1
                if steps > _MOST_STEPS:
                    raise ModelError(f"{file}: more than {_MOST_STEPS} steps of pickles")
                if name in _UNNAMED or (name in _BY_NAME and not _is_harmless(str(called))):
                    raise ModelError(
                        f"{file}: its pickle calls {quoted_name(called or name)}, which is not"
                        " torch's. Save the weights as safetensors."
                    )


def _is_harmless(called: str) -> bool:
    """Whether a call is torch's or harmless; ``called`` is module, blank, name."""
    return called in _HARMLESS or called.partition(" ")[0].partition(".")[0] == "torch"


def _zipped_pickles(opened: BinaryIO, file: Path) -> Iterator[Iterator[tuple[str, object]]]:
    try:
        with ZipFile(opened) as archive:
            for entry in archive.infolist():
                if entry.filename.endswith(".pkl"):
                    with archive.open(entry) as written:
                        yield _steps(io.BytesIO(written.read(_MOST_BYTES)))
    except (*_UNREADABLE, BadZipFile, EOFError, OSError, ZlibError) as why:
        raise ModelError(f"{file}: not a zip file of torch: {quoted_name(why)}") from why


def _plain_pickles(opened: BinaryIO) -> Iterator[Iterator[tuple[str, object]]]:
    begins = io.BytesIO(opened.read(_MOST_BYTES))
    for _ in range(_OLDER_PICKLES):
        yield _steps(begins)


def _steps(pickle: BinaryIO) -> Iterator[tuple[str, object]]:
    """Opcodes and arguments up to where the pickle is unreadable; unpickling ends there, too."""
    try:
        for step, called, _ in islice(pickletools.genops(pickle), _MOST_STEPS + 1):
            yield step.name, called
    except _UNREADABLE:
        return
