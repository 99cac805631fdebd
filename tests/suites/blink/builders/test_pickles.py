"""Pickles of strangers: plain data come out as they are, anything else is that file's error."""

import io
import os
import pickle
import struct
import sys

import numpy as np
import pytest

from bench_assets.core.schema.errors import BenchError, SourceError
from bench_assets.suites.blink.raw_formats.pickle_subprocess import plain
from bench_assets.suites.blink.raw_formats.pickles import read_arrays

RECONSTRUCT = np.empty(0).__reduce__()[0]


class Calls:
    """Pickles as a call, and what the state of its result is set to."""

    def __init__(self, function, args, state=None):
        self.made_by = (function, args, state)

    def __reduce__(self):
        return self.made_by


def forged(state):
    return {"annotations": [Calls(RECONSTRUCT, (np.ndarray, (0,), b"b"), state)]}


def dtype(name, state):
    return Calls(np.dtype, (name, False, True), state)


@pytest.fixture
def read(tmp_path):
    def of(value):
        file = tmp_path / "poses.pkl"
        file.write_bytes(value if isinstance(value, bytes) else pickle.dumps(value, 4))
        return read_arrays(file)

    return of


ROTATION = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 2.5]])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"a": [1, 2.5, "b", None, True]}, {"a": [1, 2.5, "b", None, True]}, id="data"),
        pytest.param(ROTATION, [[0, -1, 0], [1, 0, 0], [0, 0, 2.5]], id="an array"),
        pytest.param(np.asfortranarray(ROTATION), ROTATION.tolist(), id="one by columns"),
        pytest.param(
            np.asfortranarray(np.arange(24).reshape(2, 3, 4)),
            np.arange(24).reshape(2, 3, 4).tolist(),
            id="one by columns, of three dimensions",
        ),
        pytest.param(np.array([1, -2], ">i2"), [1, -2], id="the other byte order"),
        pytest.param(np.array([1.5], np.float16), [1.5], id="half precision"),
        pytest.param(np.array([True, False]), [True, False], id="truth"),
        pytest.param(np.float32(0.5), 0.5, id="one number of NumPy"),
        pytest.param(np.array(7), 7, id="an array without a shape"),
        pytest.param(np.empty((0, 3)), [], id="an empty array"),
        pytest.param((1, {2}), [1, [2]], id="tuples and sets are lists"),
        pytest.param([b"\0\1"], ["AAE="], id="bytes are base64"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_plain_data_and_arrays_are_read(value, expected, protocol):
    assert plain(io.BytesIO(pickle.dumps(value, protocol))) == expected


def test_what_was_read_apart_comes_back(read):
    pose = {"rotation": ROTATION, "name": "a/b/c/1", "translation": np.array([0.1, 2, 3e300])}
    assert read({"annotations": [pose]}) == {
        "annotations": [{key: np.asarray(value).tolist() for key, value in pose.items()}]
    }


BOOLEAN_ROW = struct.pack("<I", 2**31 - 1)
LAUGHS = [0] * 10
for _ in range(12):
    LAUGHS = [LAUGHS] * 10
DEEP = b"\x80\x04" + b"]" * 100_000 + b"a" * 99_999 + b"."


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(
            forged(
                (1, (4,), dtype("V8", (3, "|", None, ("a",), {"a": (np.dtype("O"), 0)}, 8, 1, 0)),
                 False, b"A" * 32)
            ),
            id="bytes that pass for pointers: ended the process",
        ),
        pytest.param(
            forged(
                (1, (1,), dtype("V8", (3, "|", None, ("a",), {"a": (np.dtype("f8"), 1 << 30)}, 8,
                 1, 0)), False, b"A" * 8)
            ),
            id="a field far behind its record: ended the process",
        ),
        pytest.param(forged((1, (2**40,), np.dtype("f8"), False, b"A" * 8)), id="too few numbers"),
        pytest.param(forged((1, (-1,), np.dtype("f8"), False, b"")), id="a size below zero"),
        pytest.param(forged((1, ("a",), np.dtype("f8"), False, b"")), id="a size that is a text"),
        pytest.param(forged((1, (1,), np.dtype("f8"), False, b"A" * 7)), id="a torn number"),
        pytest.param(forged((1, (1,), "f8", False, b"A" * 8)), id="a type that is a text"),
        pytest.param(forged(7), id="a state that is a number"),
        pytest.param(np.array([{}]), id="an array of objects"),
        pytest.param(np.array([(1, 2.0)], "i4,f8"), id="an array of records"),
        pytest.param(Calls(os.system, ("true",)), id="a command"),
        pytest.param(Calls(eval, ("1",)), id="a program"),
        pytest.param(Calls(sys.exit, (0,)), id="the end"),
        pytest.param({(1, 2): 3}, id="a key that is a tuple"),
        pytest.param(1j, id="a complex number"),
        pytest.param(LAUGHS, id="ten to the thirteenth zeros, each written once"),
        pytest.param(DEEP, id="a hundred thousand lists in each other"),
        pytest.param(b"\x80\x04r" + BOOLEAN_ROW + b".", id="a memory of nothing"),
        pytest.param(b"\x80\x04K\x01r" + BOOLEAN_ROW + b".", id="a memory of two thousand million"),
        pytest.param(b"\x80\x05\x96" + struct.pack("<Q", 2**40) + b".", id="a tebibyte to come"),
        pytest.param(b"\x80\x04P1\n.", id="something persistent"),
        pytest.param(b"\x80\x04\x82\x01.", id="an extension"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"Once upon a time", id="a text"),
        pytest.param(pickle.dumps(ROTATION)[:-20], id="a torn pickle"),
    ],
)  # fmt: skip
def test_anything_else_is_that_file_s_error(read, value):
    with pytest.raises(SourceError, match=r"poses\.pkl: not a pickle of plain data and arrays: ."):
        read(value)


@pytest.mark.parametrize("shape", [(0, 2**62), (2**62, 0)])
def test_nothing_is_nothing_however_wide(read, shape):
    assert read(forged((1, shape, np.dtype("f8"), False, b""))) == {"annotations": [[]]}


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"gone\.pkl: cannot be read"):
        read_arrays(tmp_path / "gone.pkl")


def test_whatever_is_done_to_a_pickle_nothing_but_our_error_comes_out(read):
    rng = np.random.default_rng(3)
    whole = pickle.dumps({"annotations": [{"rotation": ROTATION}]}, 4)
    for _ in range(10):
        spoilt = np.frombuffer(whole, np.uint8).copy()
        spoilt[rng.integers(0, len(spoilt), 3)] = rng.integers(0, 256, 3)
        try:
            read(spoilt.tobytes())
        except BenchError:
            continue
