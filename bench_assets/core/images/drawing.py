"""Draws visual prompts on images (circles, boxes, masks, labels), and concatenates images.

Positions are px from the upper left corner; boxes are left, top, right, bottom. Functions do not
modify their images.
"""

import io
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

from PIL import Image, ImageDraw, ImageFont

Point: TypeAlias = tuple[float, float]
Box: TypeAlias = tuple[float, float, float, float]

_LABEL_SIZE = 30  # px: readable where an image 1024 px high is shown on a screen
_GAP = 4  # px between a circle and its label
_BOX_GAP = 8  # px between the edge of a box and its label


class Mark(NamedTuple):
    """A point to circle, and the label beside the circle."""

    label: str
    point: Point


class LabelledBox(NamedTuple):
    """A box to outline, and the label inside one of its corners."""

    label: str
    box: Box
    colour: str


def box_between(first: Point, second: Point) -> Box:
    """Box with two opposite corners, in any order.

    >>> box_between((10, 2), (0, 8))
    (0, 2, 10, 8)
    """
    (x1, y1), (x2, y2) = first, second
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


def scale_to_height(image: Image.Image, height: int) -> Image.Image:
    """Scale an image to a height, its proportions kept.

    >>> scale_to_height(Image.new("RGB", (300, 200)), 1024).size
    (1536, 1024)
    """
    width = max(1, round(image.width * height / image.height))
    return image.resize((width, height), Image.Resampling.LANCZOS)


def draw_labelled_circles(
    image: Image.Image, marks: Sequence[Mark], *, radius: int, colour: str
) -> Image.Image:
    """Circle points of an image and label them.

    A label is placed to the right of its circle, or on the first other side, if there is one, where
    it stays inside the image and covers no other circle or label. ``radius`` is in px, to the outer
    edge of the line; ``colour`` is a CSS name.
    """
    canvas = image.convert("RGB")
    pen = ImageDraw.Draw(canvas)
    points = (mark.point for mark in marks)
    occupied = [(x - radius, y - radius, x + radius, y + radius) for x, y in points]
    for circle in occupied:
        pen.ellipse(circle, outline=colour, width=max(2, round(radius * 0.3)))
    for mark in marks:
        spot = _label_spot(pen, mark, radius, canvas.size, occupied)
        _draw_label(pen, mark.label, spot, colour)
        occupied.append(_label_box(pen, mark.label, spot))
    return canvas


def draw_labelled_boxes(image: Image.Image, boxes: Sequence[LabelledBox]) -> Image.Image:
    """Outline boxes, 4 px inwards, and label each inside the first corner without another label.

    If there is none, labels overlap in the upper left corner.
    """
    canvas = image.convert("RGB")
    pen = ImageDraw.Draw(canvas)
    for box in boxes:
        pen.rectangle(box.box, outline=box.colour, width=4)
    occupied: list[Box] = []
    for box in boxes:
        spots = _corner_spots(pen, box, canvas.size)
        free = (s for s in spots if not _overlaps(_label_box(pen, box.label, s), occupied))
        spot = next(free, spots[0])
        _draw_label(pen, box.label, spot, box.colour)
        occupied.append(_label_box(pen, box.label, spot))
    return canvas


def mask_box(image: Image.Image, box: Box) -> Image.Image:
    """Cover a box in black, right and bottom exclusive."""
    canvas = image.convert("RGB")
    left, top, right, bottom = box
    ImageDraw.Draw(canvas).rectangle((left, top, right - 1, bottom - 1), fill="black")
    return canvas


def encode_jpeg(image: Image.Image) -> bytes:
    """Encode at quality 95 with full colour resolution; equal images give equal bytes."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=95, subsampling=0)
    return file.getvalue()


def encode_png(image: Image.Image) -> bytes:
    """Encode without loss."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _label_spot(
    pen: ImageDraw.ImageDraw,
    mark: Mark,
    radius: int,
    size: tuple[int, int],
    occupied: Sequence[Box],
) -> Point:
    """Upper left corner of the label: the first free spot, else the first, moved into the image."""
    _, _, wide, high = _label_box(pen, mark.label, (0, 0))
    x, y = mark.point
    offset = radius + _GAP
    columns = {"right": x + offset, "left": x - offset - wide, "middle": x - wide / 2}
    rows = {"middle": y - high / 2, "below": y + offset, "above": y - offset - high}
    spots = [
        (columns[column], rows[row])
        for row, column in product(rows, columns)
        if (column, row) != ("middle", "middle")
    ]
    free = (
        spot
        for spot in spots
        if _shift_into_image(spot, pen, mark.label, size) == spot
        and not _overlaps(_label_box(pen, mark.label, spot), occupied)
    )
    return next(free, _shift_into_image(spots[0], pen, mark.label, size))


def _corner_spots(pen: ImageDraw.ImageDraw, box: LabelledBox, size: tuple[int, int]) -> list[Point]:
    """Upper left corners of the label in each corner of the box."""
    left, top, right, bottom = box.box
    _, _, wide, high = _label_box(pen, box.label, (0, 0))
    columns = (left + _BOX_GAP, right - _BOX_GAP - wide)
    rows = (top + _BOX_GAP, bottom - _BOX_GAP - high)
    return [_shift_into_image((x, y), pen, box.label, size) for y in rows for x in columns]


def _shift_into_image(
    spot: Point, pen: ImageDraw.ImageDraw, label: str, size: tuple[int, int]
) -> Point:
    """The nearest spot from which the whole label lies in the image."""
    left, top, right, bottom = _label_box(pen, label, spot)
    width, height = size
    x, y = spot
    return (
        x - max(0.0, right - (width - 1)) + max(0.0, -left),
        y - max(0.0, bottom - (height - 1)) + max(0.0, -top),
    )


def _label_box(pen: ImageDraw.ImageDraw, label: str, spot: Point) -> Box:
    """Box that a label covers whose upper left corner is at a spot."""
    return pen.textbbox(spot, label, font=_font(), stroke_width=2, anchor="lt")


def _draw_label(pen: ImageDraw.ImageDraw, label: str, spot: Point, colour: str) -> None:
    """Write with an outline, so that the label is readable on any background."""
    edge = "black" if colour == "white" else "white"
    pen.text(spot, label, fill=colour, font=_font(), stroke_width=2, stroke_fill=edge, anchor="lt")


def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(_LABEL_SIZE)


def _overlaps(box: Box, occupied: Iterable[Box]) -> bool:
    left, top, right, bottom = box
    return any(
        left < other_right and other_left < right and top < other_bottom and other_top < bottom
        for other_left, other_top, other_right, other_bottom in occupied
    )


MARGIN = 10
"""px of black between two images (BLINK, appendix C.1, and its authors' code)."""


def concatenate_images(images: Sequence[Image.Image]) -> Image.Image:
    """Concatenate images in a row on black, vertically centred.

    >>> concatenate_images([Image.new("RGB", (30, 20)), Image.new("RGB", (50, 80))]).size
    (90, 80)
    """
    width = sum(image.width for image in images) + MARGIN * (len(images) - 1)
    height = max(image.height for image in images)
    row = Image.new("RGB", (width, height))
    left = 0
    for image in images:
        row.paste(image, (left, (height - image.height) // 2))
        left += image.width + MARGIN
    return row
