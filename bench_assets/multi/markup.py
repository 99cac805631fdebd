"""Raw markup to the markdown of the benchmark (section 3.2, data pre-process)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from bs4 import BeautifulSoup, Comment, Tag

from bench_assets.core.errors import SourceError
from bench_assets.multi.source import Item, image_name

FORMATS = ("html", "markdown", "text")
"""What raw material may be written in."""

_BLANK_TO_FILL = re.compile(r"<u>\s*</u>|_{3,}|[（(]\s*[）)]")
_SPANS = ("rowspan", "colspan")
_LEFTOVER = re.compile(
    r"</?(?:p|div|span|font|br|table|tr|td|th|img|b|i|strong|em|sup|sub|center|a)"
    r"(?:\s+[a-z-]+\s*=[^<>]*)?\s*/?>"
)


class Prepared(NamedTuple):
    """An item in the benchmark's markdown, and the tables that have to be drawn for it."""

    item: Item
    tables: Mapping[str, str]  # picture name -> HTML of the table it is to show


def prepare(item: Item) -> Prepared:
    """Bring a raw item into markdown; what is markdown already stays as it is.

    Layout goes, ``<u>`` stays, bold, italic and tables become markdown, indices and formulas
    LaTeX. Pictures, and tables with joined cells or pictures in them, become ``[IMAGE_n]``. Places
    to fill in become ``[MASK]``.

    Raises:
        SourceError: If the item is in another format.
    """
    if item.format not in FORMATS:
        raise SourceError(
            f"item {item.item_id}: format {item.format!r}, expected one of {', '.join(FORMATS)}"
        )
    images, tables = list(item.images), dict[str, str]()

    def picture(name: str) -> str:
        images.append(name)
        return f"[IMAGE_{len(images)}]"

    def table(html: str) -> str:
        name = f"tables/{item.item_id}_{len(tables) + 1}.png"
        tables[name] = html
        return picture(name)

    convert: Mapping[str, Callable[[str], str]] = {
        "html": lambda text: _tidy(_markdown(text, picture, table)),
        "markdown": str,
        "text": _tidy,
    }
    change = convert[item.format]
    changed = replace(
        item,
        general=change(item.general),
        specific=change(item.specific),
        answer=change(item.answer),
        analysis=change(item.analysis),
        format="markdown",
    )
    return Prepared(replace(changed, images=tuple(images)), tables)


def leftover_tags(text: str) -> list[str]:
    """Find HTML that no one removed; ``<u>`` is meant to stay.

    >>> leftover_tags("<u>x</u> < 3 and <font>y</font>")
    ['<font>', '</font>']
    """
    return _LEFTOVER.findall(text)


def _markdown(html: str, picture: Callable[[str], str], table: Callable[[str], str]) -> str:
    from markdownify import markdownify

    soup = BeautifulSoup(html, "html.parser")
    for part in soup(["script", "style"]) + soup(string=lambda text: isinstance(text, Comment)):
        part.extract()
    for drawn in [one for one in soup("table") if not _is_plain(one)]:
        if not drawn.decomposed and drawn.find_parent("table") is None:
            drawn.replace_with(table(str(drawn)))
    for image in soup("img"):
        latex = image.get("data-latex")
        source = image_name(str(image.get("src", "")))
        image.replace_with(f"${latex}$" if latex else picture(source))
    for name, before, after in (("u", "<u>", "</u>"), ("sub", "$_{", "}$"), ("sup", "$^{", "}$")):
        for tag in soup(name):
            tag.insert_before(before)
            tag.insert_after(after)
            tag.unwrap()
    text: str = markdownify(
        str(soup), escape_asterisks=False, escape_underscores=False, escape_misc=False
    )
    return text


def _is_plain(table: Tag) -> bool:
    """Whether markdown can say it: as many cells in each row, none joined, only text in them."""
    rows = [row.find_all(["td", "th"]) for row in table.find_all("tr")]
    joined = any(str(cell.get(span, "1")) != "1" for row in rows for cell in row for span in _SPANS)
    return not joined and len({len(row) for row in rows}) == 1 and not table(["table", "img"])


def _tidy(text: str) -> str:
    """Mark the places to fill in; take out blanks at line ends, and empty lines."""
    masked = _BLANK_TO_FILL.sub("[MASK]", text.replace("\xa0", " ").replace("\u3000", " "))
    lines = [re.sub(r"[ \t]+", " ", line).strip() for line in masked.splitlines()]
    return "\n".join(line for line in lines if line)
