"""The first sheet of an ``.xlsx`` workbook as rows of texts (ECMA-376, part 1, section 18)."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from bench_assets.core.schema.errors import SourceError
from bench_assets.external_results.results import member_of

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_COLUMN = re.compile(r"[A-Z]+")
_SHEET = "xl/worksheets/sheet1.xml"


def read_sheet(file: Path) -> Iterator[dict[str, str]]:
    """Read rows by the names in the first one; empty cells are left out.

    Raises:
        SourceError: If it is no such workbook.
    """
    try:
        with zipfile.ZipFile(file) as workbook:
            shared = _shared_texts(workbook)
            rows = _rows(ElementTree.fromstring(member_of(workbook, _SHEET)), shared)
            head = next(rows, {})
            for cells in rows:
                yield {head[at]: cell for at, cell in cells.items() if at in head}
    except (OSError, KeyError, ValueError, zipfile.BadZipFile, ElementTree.ParseError) as why:
        raise SourceError(f"{file}: cannot be read as an .xlsx workbook: {why}") from why


def _shared_texts(workbook: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in workbook.namelist():
        return []
    root = ElementTree.fromstring(member_of(workbook, "xl/sharedStrings.xml"))
    return [_text(item) for item in root.iter(f"{_MAIN}si")]


def _rows(sheet: ElementTree.Element, shared: list[str]) -> Iterator[dict[str, str]]:
    """Cells of each row by their column's letters."""
    for row in sheet.iter(f"{_MAIN}row"):
        cells = {}
        for cell in row.iter(f"{_MAIN}c"):
            found = _COLUMN.match(cell.get("r", ""))
            if found and (value := _value(cell, shared)):
                cells[found[0]] = value
        yield cells


def _value(cell: ElementTree.Element, shared: list[str]) -> str:
    if cell.get("t") == "inlineStr":
        return _text(cell)
    value = cell.findtext(f"{_MAIN}v") or ""
    if cell.get("t") == "s":
        return shared[int(value)]
    return {"0": "False", "1": "True"}.get(value, value) if cell.get("t") == "b" else value


def _text(parts: ElementTree.Element) -> str:
    """The runs of a text; how it is pronounced (``rPh``) is no part of it."""
    spoken = {run for one in parts.iter(f"{_MAIN}rPh") for run in one.iter(f"{_MAIN}t")}
    return "".join(one.text or "" for one in parts.iter(f"{_MAIN}t") if one not in spoken)
