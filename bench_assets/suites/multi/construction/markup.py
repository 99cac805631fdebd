"""Conversion of raw markup to the benchmark's Markdown (section 3.2, data pre-process), and OCR.

Formulas and comparison signs are hidden from the HTML parser. Tables that Markdown cannot express
are drawn ("a screenshot image after rendering"); text in images is recognised (section 4.5).
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from PIL import Image, ImageDraw, ImageFont

from bench_assets.core.extras import require_extra
from bench_assets.core.images.decoding import MAX_PIXELS
from bench_assets.core.images.drawing import encode_png
from bench_assets.core.schema.errors import ImageError, SettingsError
from bench_assets.suites.multi.construction.formulas import (
    FORMULA,
    Formulas,
    join_indices,
    lost_characters,
    visible_text,
)
from bench_assets.suites.multi.dataset.source import MultiItem, image_name

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag


def parse_html(html: str) -> "BeautifulSoup":
    """Parse HTML.

    Raises:
        MissingExtraError: If the packages that read HTML are not installed.
    """
    require_extra("HTML (MULTI)", "bs4", "markdownify")
    from bs4 import BeautifulSoup

    # As a file: BeautifulSoup warns of a short text that could be a file name or an address.
    return BeautifulSoup(io.StringIO(html), "html.parser")


_PARTS = ("general", "specific", "answer", "analysis")

_BLANK_TO_FILL = re.compile(
    r"<u>\s*</u>|_{3,}"
    # An empty pair of brackets after a name is a call: main(), "void main( )", "run( );".
    r"|(?<![A-Za-z0-9_])[（(]\s*[）)]|(?<=[A-Za-z0-9_])[（(]\s+[）)](?!\s*[;{])"
)
_DECLARED = re.compile(
    r"\b(?:void|int|char|float|double|bool|def|function|class|new|return)\s+\w+\s*\(\s*\)"
)
_SCRIPTS: Mapping[str, str] = {"sub": "_", "sup": "^"}
_LIST_ENTRY = re.compile(r"( +)(?:\d+\.|[*+-]) +\S")
_SPANS = ("rowspan", "colspan")
_LEFTOVER = re.compile(
    r"</?(?:\w+:)?(?:p|div|span|font|br|table|tr|td|th|img|b|i|strong|em|sup|sub|center|a|math|ruby|rt|svg"
    r"|m(?:i|n|o|row|frac|sup|sub|subsup|sqrt|root|text|fenced|over|under|underover|table|tr|td))"
    r"(?:\s+[a-z-]+\s*=[^<>]*)?\s*/?>"
)


class MarkdownItem(NamedTuple):
    """A converted item, and the tables to draw for it."""

    item: MultiItem
    tables: Mapping[str, str]  # image name -> HTML of the table to draw


def convert_item(item: MultiItem) -> MarkdownItem:
    """Convert a raw item to Markdown.

    Markdown stays as it is, and so does HTML whose tags are nested too deeply, which is a defect.
    Layout is removed, ``<u>`` is kept. Bold, italic and simple tables become Markdown, indices and
    formulas LaTeX. Images, and tables that Markdown cannot express, become ``[IMAGE_n]``; places to
    fill in become ``[MASK]``. Characters that got lost are in ``lost``.
    """
    if item.format == "markdown":
        return MarkdownItem(item, {})
    images, tables = list(item.images), dict[str, str]()

    def add_image(name: str) -> str:
        images.append(name)
        return f"[IMAGE_{len(images)}]"

    def add_table(html: str) -> str:
        name = f"tables/{item.item_id}_{len(tables) + 1}.png"
        tables[name] = html
        return add_image(name)

    def convert(text: str) -> str:
        is_html = item.format == "html"
        return _convert_html(text, add_image, add_table) if is_html else _convert_text(text)

    try:
        parts: dict[str, Any] = {name: convert(getattr(item, name)) for name in _PARTS}
    except RecursionError:
        return MarkdownItem(item, {})
    lost = _lost_characters(item, parts, tables.values())
    changes = {**parts, "images": tuple(images), "format": "markdown", "lost": lost}
    return MarkdownItem(replace(item, **changes), tables)


def leftover_tags(text: str) -> list[str]:
    """Find HTML tags that the conversion left; ``<u>`` is kept on purpose.

    >>> leftover_tags("<u>x</u> < 3 and <font>y</font>")
    ['<font>', '</font>']
    """
    return _LEFTOVER.findall(text)


def _lost_characters(item: MultiItem, parts: Mapping[str, str], tables: Iterable[str]) -> str:
    """Return the characters of an item that neither its converted parts nor its tables have."""
    extract_text = visible_text if item.format == "html" else str
    before = "\n".join(_mask_blanks(extract_text(getattr(item, name))) for name in _PARTS)
    after = "\n".join([*parts.values(), *map(visible_text, tables)])
    return lost_characters(before.replace("[MASK]", ""), after.replace("[MASK]", ""))


def _convert_text(text: str) -> str:
    formulas = Formulas()
    return _restore_formulas(formulas, _normalize_lines(formulas.keep(text)))


def _convert_html(
    html: str, add_image: Callable[[str], str], add_table: Callable[[str], str]
) -> str:
    """Convert HTML; ``add_image`` and ``add_table`` return the token of an image or drawn table."""
    formulas = Formulas()
    soup = parse_html(formulas.hide(html))
    from bs4 import Comment
    from markdownify import MarkdownConverter

    for hidden in soup(["script", "style"]) + soup(string=lambda text: isinstance(text, Comment)):
        hidden.extract()
    _keep_formula_images(soup, formulas)
    _move_captions(soup)
    # Outermost tables only: all nested ones would take too long.
    for table in [tag for tag in soup("table") if tag.find_parent("table") is None]:
        if not _is_simple_table(table):
            table.replace_with(add_table(formulas.show(str(table))))
    for text in soup(string=lambda text: text.find_parent("table") is not None):
        text.replace_with(formulas.escape_pipes(text))
    for image in soup("img"):
        image.replace_with(add_image(image_name(formulas.show(str(image.get("src", ""))))))
    for index in [tag for tag in soup(_SCRIPTS) if tag.find_parent(_SCRIPTS) is None]:
        latex = _convert_index(index, formulas)
        index.replace_with(f"${latex}$" if latex else "")
    for underlined in soup("u"):
        underlined.insert_before("<u>")
        underlined.insert_after("</u>")
        underlined.unwrap()
    _write_ruby_readings(soup)
    _close_list_entries(soup)
    _write_list_letters(soup)
    to_markdown = MarkdownConverter(
        escape_asterisks=False, escape_underscores=False, escape_misc=False
    )
    markdown: str = to_markdown.convert_soup(parse_html(str(soup)))
    return join_indices(_restore_formulas(formulas, _normalize_lines(markdown)))


def _keep_formula_images(soup: "BeautifulSoup", formulas: Formulas) -> None:
    """Replace images of formulas by placeholders of their LaTeX."""
    for image in soup("img"):
        if latex := image.get("data-latex"):
            image.replace_with(formulas.keep(f"${latex}$"))


def _move_captions(soup: "BeautifulSoup") -> None:
    """Put captions before their tables: tables in Markdown and drawn ones have none."""
    for caption in soup("caption"):
        table = caption.find_parent("table")
        if table is not None:
            caption.name = "p"
            table.insert_before(caption)


def _convert_index(tag: "Tag", formulas: Formulas) -> str:
    """Convert an index, with nested ones, to LaTeX without formatting; "" if it is empty."""
    from bs4 import Tag

    content = ""
    for child in tag.children:
        if isinstance(child, Tag):
            content += _convert_index(child, formulas)
        else:
            content += _in_formula(formulas.show(str(child)))
    if not content.strip():
        return ""
    return f"{_SCRIPTS[tag.name]}{{{content}}}" if tag.name in _SCRIPTS else content


def _in_formula(text: str) -> str:
    """Write text for the inside of a formula: no dollar signs, LaTeX's special signs escaped."""
    parts, end = [], 0
    for match in FORMULA.finditer(text):
        parts += [_escape_latex(text[end : match.start()]), match[0].strip("$")]
        end = match.end()
    return "".join([*parts, _escape_latex(text[end:])])


def _escape_latex(text: str) -> str:
    return re.sub(r"(?<!\\)([%&#{}])", r"\\\1", text)


def _write_ruby_readings(soup: "BeautifulSoup") -> None:
    """Put ruby readings in brackets, which Markdown lacks."""
    for reading in soup("rt"):
        has_brackets = reading.parent is not None and reading.parent.find("rp") is not None
        if not has_brackets and reading.get_text(strip=True):
            reading.insert(0, "（")
            reading.append("）")


def _close_list_entries(soup: "BeautifulSoup") -> None:
    """Put an entry inside another one behind it: HTML may leave out ``</li>``."""
    for entry in soup("li"):
        if entry.parent is not None and entry.parent.name == "li":
            entry.parent.insert_after(entry.extract())


def _write_list_letters(soup: "BeautifulSoup") -> None:
    """Write out the letters of lists, as capitals; Markdown has only numbers."""
    for numbered in soup("ol"):
        if numbered.get("type") in ("A", "a"):
            letters = ascii_uppercase[_positive_number(numbered, "start") - 1 :]
            for letter, entry in zip(letters, numbered("li", recursive=False), strict=False):
                entry.insert(0, f"{letter}. ")
                entry.name = "p"
            numbered.name = "div"


def _restore_formulas(formulas: Formulas, text: str) -> str:
    """Restore formulas; a line to fill in becomes ``[MASK]``, also inside a formula."""
    return re.sub(r"_{3,}", "[MASK]", formulas.show(text))


def _is_simple_table(table: "Tag") -> bool:
    """Whether Markdown can express a table: equal rows, no joined cells, only text."""
    if table.find(["table", "img"]):  # first: nested tables would have too many cells
        return False
    rows = [row.find_all(["td", "th"]) for row in table.find_all("tr")]
    cells = [cell for row in rows for cell in row]
    has_joined_cells = any(str(cell.get(span, "1")) != "1" for cell in cells for span in _SPANS)
    return not has_joined_cells and len({len(row) for row in rows}) == 1


def _normalize_lines(text: str) -> str:
    """Mark places to fill in, collapse spaces outside of code blocks, and remove empty lines."""
    masked = _mask_blanks(text.replace("\xa0", " ").replace("\u3000", " "))
    lines, is_code = [], False
    for line in masked.splitlines():
        if line.startswith("```"):
            is_code = not is_code
        lines.append(line.rstrip() if is_code else _collapse_spaces(line))
    return "\n".join(line for line in lines if line)


def _collapse_spaces(line: str) -> str:
    """Collapse the spaces of a line; a nested list entry keeps its indentation."""
    nested = _LIST_ENTRY.match(line)
    return (nested[1] if nested else "") + re.sub(r"[ \t]+", " ", line).strip()


def _mask_blanks(text: str) -> str:
    """Replace places to fill in by ``[MASK]``; the brackets of a declared function stay."""
    declarations = [match.span() for match in _DECLARED.finditer(text)]

    def mask(match: re.Match[str]) -> str:
        is_declared = any(start <= match.start() < end for start, end in declarations)
        return match[0] if is_declared else "[MASK]"

    return _BLANK_TO_FILL.sub(mask, text)


_SIZE = 20  # px, font size
_MARGIN = 10  # px, inside a cell
_MAX_CELL_AREA = 10_000  # rows times columns that one cell may span
_MAX_CELL_CHARACTERS = 20_000  # characters in one cell, at most
_FONTS = ("NotoSansCJK-Regular.ttc", "NotoSansSC-Regular.otf", "wqy-microhei.ttc", "simhei.ttf")


class _Cell(NamedTuple):
    """A cell, and the numbers of rows and columns that it spans."""

    text: str
    rows: int
    columns: int


def draw_table(html: str, font: Path | None = None) -> bytes:
    """Draw the text of a table with its joined cells as a PNG, black on white.

    Args:
        html: One ``<table>``.
        font: Default: a Chinese font of the system or, for ASCII text, Pillow's.

    Raises:
        SettingsError: If there is no font for the text.
        ImageError: If the table has no cells or an image, or it or a cell is too large.
    """
    table = parse_html(html)
    if table.find("img"):
        raise ImageError("the table has an image, which would be lost")
    cells = _cells(table("tr"))
    if not cells:
        raise ImageError("the table has no cells")
    opened_font = _open_font(font, "".join(cell.text for cell in cells.values()))
    n_rows = max(row + cell.rows for (row, _), cell in cells.items())
    n_columns = max(column + cell.columns for (_, column), cell in cells.items())
    text_width = max(opened_font.getlength(cell.text) / cell.columns for cell in cells.values())
    column_width, row_height = int(text_width) + 2 * _MARGIN, _SIZE + 2 * _MARGIN
    width, height = n_columns * column_width + 1, n_rows * row_height + 1
    if width * height > MAX_PIXELS:
        raise ImageError(f"the table is too large: {width} x {height} px")
    image = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(image)
    for (row, column), cell in cells.items():
        left, top = column * column_width, row * row_height
        right, bottom = left + cell.columns * column_width, top + cell.rows * row_height
        pen.rectangle((left, top, right, bottom), outline="black")
        middle = ((left + right) / 2, (top + bottom) / 2)
        pen.text(middle, cell.text, fill="black", font=opened_font, anchor="mm")
    return encode_png(image)


def _cells(row_tags: list["Tag"]) -> Mapping[tuple[int, int], _Cell]:
    """Cells by row and column; one that spans rows shifts those of the rows below to the right.

    Raises ImageError if a cell is too long or spans too much.
    """
    cells: dict[tuple[int, int], _Cell] = {}
    occupied = set[tuple[int, int]]()
    for row, row_tag in enumerate(row_tags):
        column = 0
        for tag in row_tag.find_all(["td", "th"]):
            while (row, column) in occupied:
                column += 1
            text = " ".join(tag.get_text(" ", strip=True).splitlines())
            rows, columns = _positive_number(tag, "rowspan"), _positive_number(tag, "colspan")
            cell = _Cell(text=text, rows=rows, columns=columns)
            if len(text) > _MAX_CELL_CHARACTERS:
                raise ImageError(f"a cell is too long: {len(text)} characters")
            if cell.rows * cell.columns > _MAX_CELL_AREA:
                raise ImageError(f"a cell spans too much: {cell.rows} x {cell.columns}")
            cells[row, column] = cell
            occupied |= {
                (row + down, column + right)
                for down in range(cell.rows)
                for right in range(cell.columns)
            }
    return cells


def _positive_number(tag: "Tag", name: str) -> int:
    """Read an attribute, 1 if it is no such number; a long one is above ``_MAX_CELL_AREA``."""
    value = str(tag.get(name, "1"))
    if not value.isdecimal():
        return 1
    if len(value) >= len(str(_MAX_CELL_AREA)):  # perhaps too long for int
        return _MAX_CELL_AREA + 1
    return max(1, int(value))


def _open_font(file: Path | None, text: str) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Open the configured font, or one of the system's Chinese fonts, or Pillow's for ASCII."""
    for name in (str(file),) if file else _FONTS:
        try:
            return ImageFont.truetype(name, _SIZE)
        except OSError:
            continue
    if file or not text.isascii():
        missing = file or "a Chinese font of this system"
        raise SettingsError(f"{missing}: no such font. Set font in [suites.multi]")
    return ImageFont.load_default(_SIZE)


_LONGEST_SIDE = 960  # px, longest side of an image for OCR; smaller images are not enlarged


def ocr_engine() -> str:
    """Name the OCR engine and its version.

    The paper used EasyOCR, whose models are in no package.

    Raises:
        MissingExtraError: If it is not installed.
    """
    require_extra("OCR (MULTI)", "rapidocr")
    return f"rapidocr {version('rapidocr')}"


def recognize_texts(images: Iterable[tuple[str, Image.Image]]) -> Iterator[tuple[str, str]]:
    """Recognise Chinese and English text in named images, one at a time.

    Yields each name with its text, whose fragments are joined with 、 as in the release.

    Raises:
        MissingExtraError: If the OCR engine is not installed.
    """
    require_extra("OCR (MULTI)", "rapidocr", "onnxruntime")
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
    for name, image in images:
        # The engine expects the channels in OpenCV's order.
        result = cast(RapidOCROutput, engine(np.asarray(image.convert("RGB"))[:, :, ::-1]))
        yield name, "、".join(result.txts or ())
