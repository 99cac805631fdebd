import io

import numpy as np
import pytest
from PIL import Image, ImageOps

from bench_assets.core.images.decoding import decode
from bench_assets.core.images.orientation import ImageFrame, read_annotated_frame, read_frame
from bench_assets.core.schema.errors import ImageError
from tests.fakes.written_images import turned

ORIENTATIONS = range(1, 9)
WIDTH, HEIGHT = 40, 30


@pytest.mark.parametrize("image_format", ["PNG", "TIFF"])
@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_point_lies_where_its_pixel_is_shown(orientation, image_format):
    """The one white pixel, column 7 and row 22, has its middle at (7.5, 22.5)."""
    image = Image.new("RGB", (WIDTH, HEIGHT))
    image.putpixel((7, 22), (255, 255, 255))
    data = turned(orientation, image_format, image)
    frame = read_frame(data)
    assert (frame.width, frame.height, frame.orientation) == (WIDTH, HEIGHT, orientation)
    upright = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    ((row, column),) = np.argwhere(np.asarray(upright).any(axis=2))
    assert frame.shown == upright.size == decode(data).image.size
    assert frame.to_shown((7.5, 22.5)) == (column + 0.5, row + 0.5)
    assert frame.to_stored((column + 0.5, row + 0.5)) == (7.5, 22.5)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_only_a_mirrored_frame_reverses_the_order_of_corners(orientation):
    """Three corners in clockwise order stay so, unless the image is mirrored."""
    frame = ImageFrame(width=WIDTH, height=HEIGHT, orientation=orientation)
    corners = [(0, 0), (WIDTH, 0), (WIDTH, HEIGHT)]
    a, b, c = (np.array(frame.to_shown(corner)) for corner in corners)
    (ux, uy), (vx, vy) = b - a, c - b
    assert frame.is_mirrored == (ux * vy - uy * vx < 0)


@pytest.mark.parametrize(
    ("orientation", "stated", "expected"),
    [
        pytest.param(1, None, (40, 30, 1), id="nothing stated"),
        pytest.param(6, None, (40, 30, 6), id="nothing stated: as stored"),
        pytest.param(6, (40, 30), (40, 30, 6), id="as stored"),
        pytest.param(6, (30, 40), (30, 40, 1), id="as shown"),
        pytest.param(3, (40, 30), (40, 30, 3), id="as stored, upside down"),
    ],
)
def test_the_stated_size_decides_between_stored_and_shown_pixels(orientation, stated, expected):
    frame = ImageFrame(width=WIDTH, height=HEIGHT, orientation=orientation)
    assert frame.annotation_frame(stated) == expected


@pytest.mark.parametrize(
    ("orientation", "stated_size", "exif"),
    [
        (1, (30, 40), "$"),
        (2, (30, 40), ", EXIF orientation 2"),
        (3, (30, 40), ", EXIF orientation 3"),
        (6, (80, 60), ", EXIF orientation 6"),
        (8, (40, 31), ", EXIF orientation 8"),
    ],
    ids=["not turned", "mirrored", "upside down", "turned, of twice the size", "a px too high"],
)
def test_a_size_that_the_image_has_neither_stored_nor_shown_is_an_error(
    tmp_path, orientation, stated_size, exif
):
    file = tmp_path / "a.png"
    file.write_bytes(turned(orientation, "PNG", Image.new("RGB", (WIDTH, HEIGHT))))
    width, height = stated_size
    expected_message = (
        rf"a\.png: the annotation is of {width} x {height} px, the image has 40 x 30 px{exif}"
    )
    with pytest.raises(ImageError, match=expected_message):
        read_annotated_frame(file, stated_size)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ImageError, match=r"gone\.png: cannot be read"):
        read_annotated_frame(tmp_path / "gone.png")
