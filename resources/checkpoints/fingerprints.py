"""What tells one checkpoint from another without reading all of it, and whether its files end well.

The headers alone would not do: two steps of one training run have the same. So a few blocks of
every tensor are read too; a step that changed a tensor changed some of them.
"""

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO
from zipfile import is_zipfile

from bench_assets.core.errors import ModelError
from resources.checkpoints.files import content_digest, watched_files

_BLOCK = 4096  # bytes
_SMALL = 1 << 20  # bytes; files up to here are read whole
_SPREAD = 64  # blocks of a file of weights that does not say where its tensors are
_LENGTH = 8  # bytes at the start of a safetensors file: how long its header is
_ZIP = b"PK\x03\x04"  # how a file that torch saved begins
_LONGEST_HEADER = 100_000_000  # bytes, as safetensors has it


def fingerprint(folder: Path, *, full: bool = False) -> str:
    """Name the content of a checkpoint in eight hexadecimal digits; its own name is not in it.

    Of an adapter its own files count, which name the base; the base itself is not read.

    Args:
        folder: The checkpoint.
        full: Read every byte of it.

    Raises:
        ModelError: If a file is missing, cut short or has no readable header.
        OSError: If a file disappears meanwhile.
    """
    files = watched_files(folder)
    spans = {file: tensor_spans(file) for file in files if file.suffix == ".safetensors"}
    for file in files:
        if file.suffix == ".bin":
            _ends_well(file)
    if full:
        return content_digest(files)[:8]
    state = sha256()
    for file in files:
        state.update(f"{file.name} {file.stat().st_size}\n".encode())
        for block in _samples(file, spans.get(file)):
            state.update(block)
    return state.hexdigest()[:8]


def tensor_spans(file: Path) -> list[tuple[int, int]]:
    """Where each tensor of a safetensors file starts and ends, in bytes of the file.

    Raises:
        ModelError: If the header cannot be read, or the file is not as long as it says.
    """
    size = file.stat().st_size
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(_LENGTH), "little")
        start = _LENGTH + length
        if size < _LENGTH or length > min(size, _LONGEST_HEADER):
            raise ModelError(f"{file}: {size} bytes do not hold a header; half-written or corrupt")
        try:
            header = json.loads(opened.read(length))
            tensors = [about for name, about in header.items() if name != "__metadata__"]
            offsets = [about["data_offsets"] for about in tensors]
            spans = sorted((start + int(first), start + int(end)) for first, end in offsets)
        except (ValueError, KeyError, TypeError, AttributeError) as why:
            raise ModelError(f"{file}: its header is not one of safetensors: {why}") from why
    expected = max((end for _, end in spans), default=start)
    if size != expected:
        raise ModelError(f"{file}: {size} bytes; its header says {expected}")
    return spans


def _ends_well(file: Path) -> None:
    """Raise if what torch saved as a zip file was cut short; its list of contents is at the end."""
    with file.open("rb") as opened:
        is_zip = opened.read(len(_ZIP)) == _ZIP
    if file.stat().st_size == 0 or (is_zip and not is_zipfile(file)):
        raise ModelError(f"{file}: {file.stat().st_size} bytes; half-written or corrupt")


def _samples(file: Path, spans: list[tuple[int, int]] | None) -> Iterator[bytes]:
    size = file.stat().st_size
    with file.open("rb") as opened:
        if size <= _SMALL:
            yield opened.read()
        elif spans is None:
            yield from _blocks(opened, range(0, size, size // _SPREAD))
        else:
            yield opened.read(spans[0][0] if spans else size)
            for start, end in spans:
                last = max(start, end - _BLOCK)
                yield from _blocks(opened, sorted({start, (start + last) // 2, last}))


def _blocks(opened: BinaryIO, offsets: Iterable[int]) -> Iterator[bytes]:
    for offset in offsets:
        opened.seek(offset)
        yield opened.read(_BLOCK)
