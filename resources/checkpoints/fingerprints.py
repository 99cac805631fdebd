"""What tells one checkpoint from another without reading all of it, and whether its files end well.

The headers alone would not do: two steps of one training run have the same. So a few blocks of
every tensor are read too; a step that changed a tensor changed some of them.
"""

import os
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from resources.checkpoints.file_access import open_regular
from resources.checkpoints.files import content_digest, names_of, watched_files
from resources.checkpoints.pickles import refuse_foreign_code
from resources.checkpoints.safetensors_headers import Span, tensor_spans

_BLOCK = 4096  # bytes
_SMALL = 1 << 20  # bytes; files up to here are read whole
_SPREAD = 64  # blocks of a file of weights that does not say where its tensors are


def fingerprint(folder: Path, *, full: bool = False) -> str:
    """Name the content of a checkpoint in eight hexadecimal digits; its own name is not in it.

    Of an adapter its own files count, which name the base; the base itself is not read.

    Args:
        folder: The checkpoint.
        full: Read every byte of it.

    Raises:
        ModelError: If a file is missing, cut short, has no readable header, or would run code.
        OSError: If a file disappears meanwhile.
    """
    files = watched_files(folder)
    spans = {file: tensor_spans(file) for file in files if file.suffix == ".safetensors"}
    for file in files:
        if file.suffix == ".bin":
            refuse_foreign_code(file)
    if full:
        return content_digest(files)[:8]
    state = sha256()
    for file, name in zip(files, names_of(files), strict=True):
        state.update(f"{name} {file.stat().st_size}\n".encode())
        for block in _samples(file, spans.get(file)):
            state.update(block)
    return state.hexdigest()[:8]


def _samples(file: Path, spans: list[Span] | None) -> Iterator[bytes]:
    with open_regular(file) as opened:
        size = os.fstat(opened.fileno()).st_size
        if size <= _SMALL:
            yield opened.read(_SMALL)
        elif spans is None:
            yield from _blocks(opened, range(0, size, size // _SPREAD))
        else:
            yield opened.read(spans[0].start if spans else size)
            for span in spans:
                last = max(span.start, span.end - _BLOCK)
                yield from _blocks(opened, sorted({span.start, (span.start + last) // 2, last}))


def _blocks(opened: BinaryIO, offsets: Iterable[int]) -> Iterator[bytes]:
    for offset in offsets:
        opened.seek(offset)
        yield opened.read(_BLOCK)
