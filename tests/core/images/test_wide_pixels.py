"""Where a level of more than 8 bits becomes the next of 8: by pencil, to the last one."""

import struct

import numpy as np
import pytest

from bench_assets.core.images.decoding import decode
from tests.core.images.written_images import numbers, tiff


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        # 4095 / 255 is 16.06: 4086 is 254.44 of them.
        pytest.param(tiff(2, 12, bytes.fromhex("ff6ff7")), [254, 255], id="12 bits"),
        # 32767 / 255 is 128.5: 32702 is 254.494, 32703 is 254.502.
        *(
            pytest.param(
                tiff(2, 16, struct.pack(f"{order}2h", 32702, 32703), kind=2, order=order),
                [254, 255],
                id=f"16 bits, one of them a sign, {order}",
            )
            for order in "<>"
        ),
        # 65535 / 255 is 257: 65406 is 254.498, 65407 is 254.502.
        pytest.param(numbers([65406, 65407], np.uint16), [254, 255], id="16 bits"),
        pytest.param(numbers([65406, 65407], ">u2"), [254, 255], id="in the other byte order"),
        pytest.param(numbers([0, 255], np.uint16), [0, 1], id="16 bits that are dark"),
        pytest.param(b"P5 2 1 65535\n\0\0\0\xff", [0, 1], id="a PGM of 16 that is dark"),
    ],
)
def test_levels_are_rounded_to_the_nearest(data, expected):
    image = decode(data).image
    assert [image.getpixel((x, 0)) for x in range(2)] == [(level,) * 3 for level in expected]
