"""Pixels of more than 8 bits."""

import struct

import numpy as np
import pytest

from bench_assets.core.images.decoding import decode, decoding_changes
from bench_assets.core.schema.errors import ImageError
from tests.core.images.pixels import greys
from tests.core.images.written_images import chunk, numbers, png, tiff

UNSIGNED = numbers([0, -(2**31), -1], np.int32).replace(
    b"\x53\x01\x03\x00\x01\x00\x00\x00\x02\x00", b"\x53\x01\x03\x00\x01\x00\x00\x00\x01\x00"
)
WHITE_IS_ZERO = numbers([0, 65535], np.uint16).replace(
    b"\x06\x01\x03\x00\x01\x00\x00\x00\x01\x00", b"\x06\x01\x03\x00\x01\x00\x00\x00\x00\x00"
)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            numbers([0, 257, 32768, 65535], np.uint16, "PNG"), [0, 1, 128, 255], id="a PNG of 16"
        ),
        pytest.param(
            numbers([0, 128, 129, 65535], np.uint16, "PNG"),
            [0, 0, 1, 255],
            id="16 bits are rounded: 128 is below half a level, 129 above",
        ),
        pytest.param(
            numbers([0, 255], np.uint16, "PNG"), [0, 1], id="16 bits that are dark stay dark"
        ),
        pytest.param(numbers([0, 32768, 65535], np.uint16), [0, 128, 255], id="a TIFF of 16"),
        pytest.param(numbers([0, 32768, 65535], ">u2"), [0, 128, 255], id="the other byte order"),
        pytest.param(WHITE_IS_ZERO, [255, 0], id="a TIFF of 16 whose 0 is white"),
        pytest.param(
            tiff(4, 12, bytes.fromhex("000fff800fff")), [0, 255, 128, 255], id="a TIFF of 12"
        ),
        pytest.param(tiff(2, 12, bytes.fromhex("0000ff")), [0, 16], id="a dark TIFF of 12"),
        *(
            pytest.param(
                tiff(4, 16, struct.pack(f"{order}4h", 0, 255, 16384, 32767), kind=2, order=order),
                [0, 2, 128, 255],
                id=f"a TIFF of 16, one of them a sign, {order}",
            )
            for order in "<>"
        ),
        *(
            pytest.param(
                tiff(2, 16, struct.pack(f"{order}2h", 0, 255), kind=2, order=order),
                [0, 2],
                id=f"dark ones with a sign, {order}",
            )
            for order in "<>"
        ),
        pytest.param(b"P5 3 1 65535\n\0\0\x80\0\xff\xff", [0, 128, 255], id="a PGM of 16"),
        pytest.param(b"P5 3 1 1023\n\0\0\2\0\3\xff", [0, 128, 255], id="a PGM of 10"),
        pytest.param(b"P2 3 1 65535\n0 32768 65535\n", [0, 128, 255], id="a PGM in letters"),
        pytest.param(numbers([0, 51, 255], np.int32), [0, 51, 255], id="32 bits up to 255"),
        pytest.param(numbers([0, 257, 65535], np.int32), [0, 1, 255], id="32 bits up to 65535"),
        pytest.param(
            numbers([0, 2**30, 2**31 - 1], np.int32), [0, 64, 127], id="32 bits, all of them"
        ),
        pytest.param(UNSIGNED, [0, 128, 255], id="32 bits, of which none is a sign"),
        pytest.param(numbers([-7, 0, 255], np.int32), [0, 0, 255], id="below 0 is black"),
        pytest.param(numbers([0.0, 0.2, 1.0], np.float32), [0, 51, 255], id="floats up to 1"),
        pytest.param(numbers([0.0, 51.0, 255.0], np.float32), [0, 51, 255], id="floats up to 255"),
        pytest.param(
            numbers([0.0, 257.0, 65535.0], np.float32), [0, 1, 255], id="floats up to 65535"
        ),
        pytest.param(numbers([-1.0, 0.5, 1.0], np.float32), [0, 128, 255], id="floats below 0"),
        pytest.param(numbers([0.0, 1e20, 2e20], np.float32), [0, 128, 255], id="huge floats"),
        pytest.param(numbers([0.0, 0.0], np.float32), [0, 0], id="floats that are all 0"),
    ],
)
def test_more_than_8_bits_are_scaled(data, expected):
    assert greys(data) == expected


def test_a_clear_level_of_16_bits_is_white():
    assert greys(png(2, 1, 16, 0, [b"\0\0\x12\x34"], before=chunk(b"tRNS", b"\x12\x34"))) == [
        0,
        255,
    ]


def test_a_ramp_of_16_bits_is_a_ramp():
    ramp = greys(numbers(range(0, 65536, 257), np.uint16, "PNG"))
    assert ramp == list(range(256))


def test_scaling_is_a_change_only_where_a_pixel_changes():
    assert decode(numbers([0, 300], np.uint16, "PNG")).changes == {"scaled"}
    assert decoding_changes(numbers([0, 51, 255], np.int32)) == set()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_pixel_that_is_no_number_is_refused(value):
    with pytest.raises(ImageError, match="infinite or NaN pixels"):
        decode(numbers([0.5, value], np.float32))
