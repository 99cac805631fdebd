"""Looks through the pickles of a file that torch saved, without unpickling anything.

Loading (``torch.load`` with ``weights_only``) makes nothing but tensors and refuses the rest; here
it is said before anybody waits for a model, and by name.
"""

import io
import os
import pickletools
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile, is_zipfile
from zlib import error as ZlibError  # noqa: N812 - an exception by another name

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.file_access import open_regular, quoted

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
                        f"{file}: its pickle calls {quoted(called or name)}, which is none of"
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
        raise ModelError(f"{file}: no zip file that torch saved: {quoted(why)}") from why


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
