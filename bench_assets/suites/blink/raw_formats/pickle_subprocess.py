"""Reads one pickle from standard input, and writes what it holds as JSON to standard output.

Run as a program of its own (``python -I -S``), with little memory and time, by ``pickles``: it
imports nothing but the standard library. In the place of NumPy's classes stand classes of ours,
which take numbers out of an array's bytes; NumPy never sees what a stranger says an array is.
"""

import base64
import json
import pickle
import resource
import struct
import sys
from typing import Any, BinaryIO

_MEMORY = 2 * 2**30  # bytes
_SECONDS = 20  # of the processor
_MOST_VALUES = 500_000
_DEEPEST = 50
_WRITTEN = (float, int, str, bool, type(None))  # by JSON as they are
_CODES = {
    "b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q",
    "u8": "Q", "f2": "e", "f4": "f", "f8": "d",
}  # fmt: skip


def plain(pickled: BinaryIO) -> object:
    """Read a pickle as what JSON can say: arrays as nested lists, bytes as base64.

    Raises:
        Exception: Of any kind, if it is none, or holds or asks for anything else.
    """
    return _Plain().of(_PlainUnpickler(pickled).load())


class _Dtype:
    """The type of an array's numbers."""

    def __init__(self, name: str, align: object = False, copy: object = True) -> None:
        if name not in _CODES:
            raise ValueError(f"an array of {name!r:.40} instead of numbers")
        self.code, self.order = _CODES[name], "<"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = ">" if state[1] == ">" else "<"
        if any(part is not None for part in state[2:5]):
            raise ValueError("an array of records instead of numbers")


class _Array:
    """An array; its numbers as nested lists, or as one number without a shape."""

    def __init__(self) -> None:
        self.values: object = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, columns_first, data = state
        numbers = _numbers(dtype, data)
        sizes = list(map(_size, shape))
        total = 1
        for size in sizes:
            total *= size
        if total != len(numbers):
            raise ValueError(f"an array of shape {tuple(sizes)!s:.40} with {len(numbers)} numbers")
        if columns_first:
            numbers = _by_rows(numbers, sizes)
        self.values = _nested(numbers, sizes) if numbers else []


def _reconstruct(*_: object) -> _Array:
    return _Array()


def _scalar(dtype: _Dtype, data: object) -> object:
    (number,) = _numbers(dtype, data)
    return number


def _encode(text: str, encoding: str = "latin1") -> bytes:
    if encoding != "latin1":
        raise ValueError(f"bytes written as {encoding!r:.40}")
    return text.encode("latin1")


def _no_bytes() -> bytes:
    """What the oldest protocols call for where there are none."""
    return b""


_STAND_INS = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy.core.multiarray", "scalar"): _scalar,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "scalar"): _scalar,
    ("_codecs", "encode"): _encode,
    ("__builtin__", "bytes"): _no_bytes,
    ("__builtin__", "set"): set,
}


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        if (module, name) not in _STAND_INS:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return _STAND_INS[module, name]


class _Plain:
    """Makes what JSON can say out of what was read, and counts it."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def of(self, value: object, deep: int = 0) -> object:
        self._left -= 1
        if self._left < 0 or deep > _DEEPEST:
            raise ValueError(f"more than {_MOST_VALUES} values, or {_DEEPEST} in each other")
        if type(value) in _WRITTEN:
            return value
        match value:
            case _Array():
                return self.of(value.values, deep)
            case bytes() | bytearray():
                return base64.b64encode(value).decode("ascii")
            case dict():
                return {_key(key): self.of(one, deep + 1) for key, one in value.items()}
            case list() | tuple() | set() | frozenset():
                return [self.of(one, deep + 1) for one in value]
        raise ValueError(f"a value of the type {type(value).__name__}")


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, int):
        return str(key)
    raise ValueError(f"a key of the type {type(key).__name__}")


def _numbers(dtype: object, data: object) -> list[Any]:
    if not isinstance(dtype, _Dtype) or not isinstance(data, bytes | bytearray):
        raise ValueError("an array without the bytes of its numbers")
    code = dtype.order + dtype.code
    return [one for (one,) in struct.iter_unpack(code, data)]


def _size(size: object) -> int:
    if not isinstance(size, int) or size < 0:
        raise ValueError("an array with a size that is none")
    return size


def _by_rows(numbers: list[Any], sizes: list[int]) -> list[Any]:
    """Put numbers whose first index runs fastest into the order in which the last one does."""
    if len(sizes) < 2 or not numbers:
        return numbers
    step = sizes[0]
    return [one for row in range(step) for one in _by_rows(numbers[row::step], sizes[1:])]


def _nested(numbers: list[Any], sizes: list[int]) -> object:
    if not sizes:
        return numbers[0]
    if len(sizes) == 1:
        return numbers
    each = len(numbers) // sizes[0]
    return [_nested(numbers[n * each : (n + 1) * each], sizes[1:]) for n in range(sizes[0])]


def _main() -> int:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        written = json.dumps(plain(sys.stdin.buffer))
    except Exception as why:  # noqa: BLE001 - pickle names no kind that all others are of
        said = str(why) or type(why).__name__
        sys.stderr.write(said[:300])
        return 1
    sys.stdout.write(written)
    return 0


if __name__ == "__main__":
    sys.exit(_main())
