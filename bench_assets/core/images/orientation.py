"""Coordinates of images: EXIF orientation, stored pixels and shown pixels.

Images are shown upright (``decoding``). Annotations of released data are in pixels of the stored
file, unless the image size that they state fits only the upright image.
"""

from pathlib import Path
from typing import NamedTuple

from bench_assets.core.images.decoding import read_header
from bench_assets.core.images.drawing import Point
from bench_assets.core.schema.errors import ImageError

Size = tuple[int, int]  # width, height; px

_INVERSE = {6: 8, 8: 6}  # every other orientation undoes itself
_SIDEWAYS_ORIENTATIONS = (5, 6, 7, 8)
_MIRRORED = (2, 4, 5, 7)


class ImageFrame(NamedTuple):
    """Stored size (px) and EXIF orientation of an image."""

    width: int
    height: int
    orientation: int = 1  # 1 to 8; 1 is upright

    @property
    def shown(self) -> Size:
        """Width and height of the upright image, px."""
        sideways = self.orientation in _SIDEWAYS_ORIENTATIONS
        return (self.height, self.width) if sideways else (self.width, self.height)

    @property
    def is_mirrored(self) -> bool:
        """Whether left and right of the scene are exchanged when the image is turned upright."""
        return self.orientation in _MIRRORED

    def to_shown(self, point: Point) -> Point:
        """Map a point of the stored image to the upright one; px from the upper left corner.

        >>> ImageFrame(400, 300, 6).to_shown((10, 20))
        (280, 10)
        """
        x, y = point
        right, below = self.width - x, self.height - y  # px to the other two sides
        shown_points = {2: (right, y), 3: (right, below), 4: (x, below), 5: (y, x)}
        shown_points |= {6: (below, x), 7: (below, right), 8: (y, right)}
        return shown_points.get(self.orientation, point)

    def to_stored(self, point: Point) -> Point:
        """Map a point of the upright image to the stored one.

        >>> ImageFrame(400, 300, 6).to_stored((280, 10))
        (10, 20)
        """
        inverse = _INVERSE.get(self.orientation, self.orientation)
        return ImageFrame(*self.shown, orientation=inverse).to_shown(point)

    def annotation_frame(self, stated_size: Size | None) -> "ImageFrame":
        """The frame of an annotation's points, by the image size that it states.

        Raises:
            ImageError: If the annotation states another size.
        """
        if stated_size in (None, (self.width, self.height)):
            return self
        if stated_size == self.shown:
            return ImageFrame(*self.shown)
        width, height = stated_size
        turned = f", EXIF orientation {self.orientation}" if self.orientation > 1 else ""
        raise ImageError(
            f"the annotation is of {width} x {height} px, the image has "
            f"{self.width} x {self.height} px{turned}"
        )


def read_frame(data: bytes) -> ImageFrame:
    """Read the size and the EXIF orientation of an image.

    Raises:
        ImageError: If the image has no readable header.
    """
    header = read_header(data)
    return ImageFrame(width=header.width, height=header.height, orientation=header.orientation)


def read_annotated_frame(file: Path, stated_size: Size | None = None) -> ImageFrame:
    """Read the frame of an annotated image file.

    Raises:
        ImageError: If the file cannot be read, or does not have the size that is stated.
    """
    try:
        return read_frame(file.read_bytes()).annotation_frame(stated_size)
    except ImageError as error:
        raise ImageError(f"{file}: {error}") from error
    except OSError as error:
        raise ImageError(f"{file}: cannot be read: {error.strerror}") from error
