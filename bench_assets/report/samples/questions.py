"""The questions of a task as the page reads them: what a list needs at once, the rest in chunks."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

CHUNK = 400
"""Questions of which texts, or the responses of one model, are loaded at once."""

_SHORT = 160  # characters of a question's text, in the list
_MANY = 200  # values of a label that somebody would still choose from
_LONG = 60  # characters of a label's value, at which it is a text and nothing to choose

Columns = Mapping[str, Sequence[Any]]


def listed(columns: Columns) -> dict[str, Any]:
    """What the list of samples shows, searches and filters by.

    Args:
        columns: Those of ``Question``.

    Returns:
        ``ids`` and ``texts`` (short): one a question. ``kinds``, ``categories``,
        ``groups`` and each of ``labels``: ``values``, and for each question the number of its
        value. ``images``: digests, each once; ``shown``: the numbers of each question's.
    """
    digests: dict[str, int] = {}
    shown = [
        [digests.setdefault(digest, len(digests)) for digest in images]
        for images in columns["images"]
    ]
    return {
        "ids": columns["question_id"],
        "texts": [_cut(text) for text in columns["text"]],
        "kinds": coded(columns["kind"]),
        "categories": coded(columns["category"]),
        "groups": coded(columns["group_id"]),
        "labels": _labels(columns["labels"]),
        "images": list(digests),
        "shown": shown,
    }


def coded(values: Sequence[Hashable]) -> dict[str, Any]:
    """Write values of which there are few as numbers.

    >>> coded(["b", "a", "b"])
    {'values': ['b', 'a'], 'codes': [0, 1, 0]}
    """
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(value, len(numbers)) for value in values]
    return {"values": list(numbers), "codes": codes}


def texts(columns: Columns) -> Iterator[list[dict[str, Any]]]:
    """Everything that is to be read of the questions, in chunks; what is empty is left out."""
    names = ("text", "context", "options", "answer", "image_texts", "labels")
    rows = zip(*(columns[name] for name in names), strict=True)
    written = (
        {name: value for name, value in zip(names, row, strict=True) if value or name == "answer"}
        for row in rows
    )
    chunk: list[dict[str, Any]] = []
    for row in written:
        chunk.append(row)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _labels(labels: Sequence[Sequence[tuple[str, str]]]) -> dict[str, Any]:
    """Labels that questions can be chosen by: those with few short values, more than one."""
    given = [dict(pairs) for pairs in labels]
    found = {}
    for name in sorted({name for pairs in given for name in pairs}):
        values = [pairs.get(name, "") for pairs in given]
        distinct = set(values)
        if 1 < len(distinct) <= _MANY and max(map(len, distinct)) <= _LONG:
            found[name] = coded(values)
    return found


def _cut(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 2 * _SHORT].split())
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 1]}…"
