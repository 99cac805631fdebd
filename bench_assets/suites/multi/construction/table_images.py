"""Draws tables that markdown cannot say (section 3.2: "a screenshot image after rendering").

What is written in images, for the ablation of section 4.5.
"""

import io
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from PIL import Image, ImageDraw, ImageFont

from bench_assets.core.images.decoding import MAX_PIXELS
from bench_assets.core.schema.errors import ImageError, SettingsError
from bench_assets.suites.multi.construction.markup import parsed

if TYPE_CHECKING:
    from bs4 import Tag


_SIZE = 20  # px of the writing
_MARGIN = 10  # px inside a cell
_MOST_JOINED = 10_000  # places that one cell may take
_MOST_WRITTEN = 20_000  # characters in one cell
_FONTS = ("NotoSansCJK-Regular.ttc", "NotoSansSC-Regular.otf", "wqy-microhei.ttc", "simhei.ttf")

_Place = tuple[int, int]  # row and column


class _Cell(NamedTuple):
    text: str
    rows: int
    columns: int


def draw_table(html: str, font: Path | None = None) -> bytes:
    """Draw a table with its joined cells as a PNG, black on white.

    Args:
        html: One ``<table>``.
        font: A font file; None takes a Chinese one that the system has, or for writing in ASCII
            the font that Pillow carries.

    Raises:
        SettingsError: If no font for what is written there can be found.
        ImageError: If it has no cells, or cannot be drawn because of its size.
    """
    cells = _cells(parsed(html).find_all("tr"))
    if not cells:
        raise ImageError("a table without cells")
    writing = _font(font, "".join(cell.text for cell in cells.values()))
    rows = max(row + cell.rows for (row, _), cell in cells.items())
    columns = max(column + cell.columns for (_, column), cell in cells.items())
    width = max(_needed(writing, cell.text) / cell.columns for cell in cells.values())
    step_x, step_y = int(width) + 2 * _MARGIN, _SIZE + 2 * _MARGIN
    size = (columns * step_x + 1, rows * step_y + 1)
    if size[0] * size[1] > MAX_PIXELS:
        raise ImageError(f"a table of {size[0]} x {size[1]} px")
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    for (row, column), cell in cells.items():
        left, top = column * step_x, row * step_y
        right, bottom = left + cell.columns * step_x, top + cell.rows * step_y
        pen.rectangle((left, top, right, bottom), outline="black")
        middle = ((left + right) / 2, (top + bottom) / 2)
        pen.text(middle, cell.text, fill="black", font=writing, anchor="mm")
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _cells(rows: list["Tag"]) -> Mapping[_Place, _Cell]:
    """Place every cell; one that is joined over rows pushes those below it to the right."""
    cells: dict[_Place, _Cell] = {}
    taken: set[_Place] = set()
    for row, tags in enumerate(rows):
        column = 0
        for tag in tags.find_all(["td", "th"]):
            while (row, column) in taken:
                column += 1
            text = " ".join(tag.get_text(" ", strip=True).splitlines())
            cell = _Cell(text, _span(tag, "rowspan"), _span(tag, "colspan"))
            if len(text) > _MOST_WRITTEN:
                raise ImageError(f"a cell of {len(text)} characters")
            if cell.rows * cell.columns > _MOST_JOINED:
                raise ImageError(f"a cell of {cell.rows} x {cell.columns} joined ones")
            cells[row, column] = cell
            taken |= {
                (row + down, column + right)
                for down in range(cell.rows)
                for right in range(cell.columns)
            }
    return cells


def _span(tag: "Tag", name: str) -> int:
    written = str(tag.get(name, "1"))
    if not written.isdecimal():
        return 1
    return max(1, int(written)) if len(written) < len(str(_MOST_JOINED)) else _MOST_JOINED + 1


def _needed(font: ImageFont.FreeTypeFont | ImageFont.ImageFont, text: str) -> float:
    return font.getlength(text)


def _font(file: Path | None, text: str) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    for name in (str(file),) if file else _FONTS:
        try:
            return ImageFont.truetype(name, _SIZE)
        except OSError:
            continue
    if file or not text.isascii():
        wanted = file or "a Chinese font of this system"
        raise SettingsError(f"{wanted}: no such font; name one as `font` in [suites.multi]")
    return ImageFont.load_default(_SIZE)


_LONGEST_SIDE = 960  # px that the detector looks at; smaller images are not blown up


def author() -> str:
    """Name the engine and its version. The paper has EasyOCR, whose models are no package."""
    return f"rapidocr {version('rapidocr')}"


def recognise(images: Iterable[Image.Image]) -> list[str]:
    """Read every image, Chinese and English; fragments joined with 、 as in the release.

    "" where nothing is written. The models come inside the package.
    """
    import numpy as np
    from rapidocr import RapidOCR
    from rapidocr.utils.output import RapidOCROutput

    engine = RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,  # nothing is upside down
            "Det.limit_type": "max",
            "Det.limit_side_len": _LONGEST_SIDE,
        }
    )
    # The engine expects the channels in OpenCV's order.
    results = (engine(np.asarray(image.convert("RGB"))[:, :, ::-1]) for image in images)
    return ["、".join(cast(RapidOCROutput, result).txts or ()) for result in results]
