"""Raw markup to the markdown of the benchmark (section 3.2, data pre-process)."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from bench_assets.core.errors import SourceError
from bench_assets.suites.multi.html_tree import parsed
from bench_assets.suites.multi.protect import Formulas, lost, visible
from bench_assets.suites.multi.source import Item, image_name

if TYPE_CHECKING:
    from bs4 import Tag

_PARTS = ("general", "specific", "answer", "analysis")

FORMATS = ("html", "markdown", "text")
"""What raw material may be written in."""

_BLANK_TO_FILL = re.compile(
    r"<u>\s*</u>|_{3,}"
    # An empty pair of brackets after a name is a call: main(), "void main( )", "run( );".
    r"|(?<![A-Za-z0-9_])[（(]\s*[）)]|(?<=[A-Za-z0-9_])[（(]\s+[）)](?!\s*[;{])"
)
_DECLARED = re.compile(
    r"\b(?:void|int|char|float|double|bool|def|function|class|new|return)\s+\w+\s*\(\s*\)"
)
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
        "html": lambda text: _from_html(text, picture, table),
        "markdown": str,
        "text": _from_text,
    }
    change = convert[item.format]
    try:
        parts: dict[str, Any] = {name: change(getattr(item, name)) for name in _PARTS}
    except RecursionError:  # tags in tags in tags; who looks for defects rejects it
        return Prepared(replace(item, format="markdown", lost="tags nested too deeply"), {})
    missing = "" if item.format == "markdown" else _missing(item, parts, tables.values())
    changed = replace(item, **parts, format="markdown", lost=missing)
    return Prepared(replace(changed, images=tuple(images)), tables)


def leftover_tags(text: str) -> list[str]:
    """Find HTML that no one removed; ``<u>`` is meant to stay.

    >>> leftover_tags("<u>x</u> < 3 and <font>y</font>")
    ['<font>', '</font>']
    """
    return _LEFTOVER.findall(text)


def _missing(item: Item, parts: Mapping[str, str], tables: Iterable[str]) -> str:
    """The characters of an item that stand nowhere in its parts or in its drawn tables."""
    read = visible if item.format == "html" else str
    before = "\n".join(_mask(read(getattr(item, name))) for name in _PARTS)
    after = "\n".join([*parts.values(), *map(visible, tables)])
    return lost(before.replace("[MASK]", ""), after.replace("[MASK]", ""))


def _from_text(text: str) -> str:
    formulas = Formulas()
    return _shown(formulas, _tidy(formulas.keep(text)))


def _from_html(html: str, picture: Callable[[str], str], table: Callable[[str], str]) -> str:
    from bs4 import Comment
    from markdownify import MarkdownConverter

    formulas = Formulas()
    soup = parsed(formulas.hide(html))
    for part in soup(["script", "style"]) + soup(string=lambda text: isinstance(text, Comment)):
        part.extract()
    for drawn in [one for one in soup("table") if one.find_parent("table") is None]:
        if not _is_plain(drawn):  # only of the outermost: of each in each it would take forever
            drawn.replace_with(table(formulas.show(str(drawn))))
    for text in soup(string=lambda text: text.find_parent("table") is not None):
        text.replace_with(formulas.escape_pipes(text))
    for image in soup("img"):
        latex = image.get("data-latex")
        source = image_name(formulas.show(str(image.get("src", ""))))
        image.replace_with(f"${latex}$" if latex else picture(source))
    for name, before, after in (("u", "<u>", "</u>"), ("sub", "$_{", "}$"), ("sup", "$^{", "}$")):
        for tag in soup(name):
            tag.insert_before(before)
            tag.insert_after(after)
            tag.unwrap()
    to_markdown = MarkdownConverter(
        escape_asterisks=False, escape_underscores=False, escape_misc=False
    )
    markdown: str = to_markdown.convert_soup(parsed(str(soup)))
    return _shown(formulas, _tidy(markdown))


def _shown(formulas: Formulas, text: str) -> str:
    """Put formulas back; a line to fill in belongs to the question, wherever it is drawn."""
    return re.sub(r"_{3,}", "[MASK]", formulas.show(text))


def _is_plain(table: "Tag") -> bool:
    """Whether markdown can say it: as many cells in each row, none joined, only text in them."""
    if table.find(["table", "img"]):  # first: with tables in each other, cells would be countless
        return False
    rows = [row.find_all(["td", "th"]) for row in table.find_all("tr")]
    joined = any(str(cell.get(span, "1")) != "1" for row in rows for cell in row for span in _SPANS)
    return not joined and len({len(row) for row in rows}) == 1


def _tidy(text: str) -> str:
    """Mark the places to fill in; take out blanks at line ends, and empty lines."""
    masked = _mask(text.replace("\xa0", " ").replace("\u3000", " "))
    lines = [re.sub(r"[ \t]+", " ", line).strip() for line in masked.splitlines()]
    return "\n".join(line for line in lines if line)


def _mask(text: str) -> str:
    called = [found.span() for found in _DECLARED.finditer(text)]

    def mark(found: re.Match[str]) -> str:
        inside = any(start <= found.start() < end for start, end in called)
        return found[0] if inside else "[MASK]"

    return _BLANK_TO_FILL.sub(mark, text)
