"""Reads pickles of plain data and NumPy arrays, and refuses anything that could run code."""

import io
import pickle
from pathlib import Path

from bench_assets.core.errors import SourceError

_ALLOWED = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("_codecs", "encode"),
}
_BROKEN = (AttributeError, ImportError, TypeError, ValueError)  # what a torn pickle can end in


def read_arrays(file: Path) -> object:
    """Read a pickle of lists, dictionaries, texts, numbers and arrays.

    Raises:
        SourceError: If it cannot be read, is no pickle, or asks for anything else.
    """
    try:
        return _PlainUnpickler(io.BytesIO(file.read_bytes())).load()
    except OSError as why:
        raise SourceError(f"{file}: cannot be read: {why.strerror}") from why
    except (pickle.UnpicklingError, EOFError, LookupError, *_BROKEN) as why:
        raise SourceError(f"{file}: not a pickle of plain data and arrays: {why}") from why


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return super().find_class(module, name)
