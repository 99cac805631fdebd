"""Pickles of the raw data: arrays of every protocol are read, and nothing in them is run."""

import os
import pickle
import sys

import numpy as np
import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.raw_files import read_arrays

ROTATION = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 2.5]])


class Calls:
    """Pickles as a call of a function."""

    def __init__(self, function, *args):
        self.made_by = (function, args)

    def __reduce__(self):
        return self.made_by


@pytest.fixture
def read(tmp_path):
    def of(value, protocol=4):
        file = tmp_path / "poses.pkl"
        file.write_bytes(value if isinstance(value, bytes) else pickle.dumps(value, protocol))
        return read_arrays(file)

    return of


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(ROTATION, id="an array"),
        pytest.param(np.asfortranarray(ROTATION), id="one by columns"),
        pytest.param(np.asfortranarray(np.arange(24).reshape(2, 3, 4)), id="of three dimensions"),
        pytest.param(np.array([1, -2], ">i2"), id="the other byte order"),
        pytest.param(np.array([1.5], np.float16), id="half precision"),
        pytest.param(np.array([True, False]), id="booleans"),
        pytest.param(np.float32(0.5), id="one number of NumPy"),
        pytest.param(np.array(7), id="an array without a shape"),
        pytest.param(np.empty((0, 3)), id="an empty array"),
        pytest.param(ROTATION[::2, ::2], id="a part of an array"),
    ],
)
@pytest.mark.parametrize("protocol", range(6))
def test_arrays_are_read_as_they_were_written(read, array, protocol):
    (found,) = read([array], protocol)
    assert np.asarray(found).tolist() == array.tolist()
    assert np.shape(found) == np.shape(array)


@pytest.mark.parametrize("protocol", range(6))
def test_plain_data_are_read_as_they_were_written(read, protocol):
    value = {"a": [1, 2.5, "b", None, True], "b": (b"\0\1", {2}, 10**20)}
    assert read(value, protocol) == value


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(np.array([{}]), id="an array of objects"),
        pytest.param(np.array([(1, 2.0)], "i4,f8"), id="an array of records"),
        pytest.param(Calls(os.system, "true"), id="a command"),
        pytest.param(Calls(eval, "1"), id="a program"),
        pytest.param(Calls(sys.exit, 0), id="the end"),
        pytest.param(1j, id="a complex number"),
        pytest.param(b"\x80\x04K\x01r\xff\xff\xff\x7f.", id="a memo of two thousand million"),
        pytest.param(b"\x80\x05\x96" + b"\0\0\0\0\0\1\0\0.", id="a tebibyte to come"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"Once upon a time", id="a text"),
        pytest.param(pickle.dumps(ROTATION)[:-20], id="a torn pickle"),
    ],
)
def test_anything_else_is_an_error_of_that_file(read, value):
    with pytest.raises(SourceError, match=r"poses\.pkl: not a pickle of plain data and arrays: ."):
        read(value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"gone\.pkl: cannot be read"):
        read_arrays(tmp_path / "gone.pkl")


def test_a_damaged_pickle_gives_no_other_error(read):
    rng = np.random.default_rng(3)
    whole = pickle.dumps({"annotations": [{"rotation": ROTATION}]}, 4)
    for _ in range(300):
        spoilt = np.frombuffer(whole, np.uint8).copy()
        spoilt[rng.integers(0, len(spoilt), 3)] = rng.integers(0, 256, 3)
        try:
            read(spoilt.tobytes())
        except SourceError:
            continue
