"""List and JSON answers, compared as values."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from bench_assets.core.answer_types.definition import AnswerType, Gold, Grade, RowContext
from bench_assets.core.answer_types.options import format_cell, parse_list
from bench_assets.core.metrics.short_answers import normalize_answer
from bench_assets.core.reading.json_values import boxed_texts, read_json
from bench_assets.core.reading.numbers import parse_number
from bench_assets.core.schema.errors import SourceError

_BULLET = re.compile(r"(?m)^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]+(.+)$")
_SEPARATOR = re.compile(
    r"(?:[;、；，\n]|->|→|,(?!(?<=\d,)\d{3}(?!\d)))\s*(?:(?:and|&)\s+)?", re.IGNORECASE
)
_AND = re.compile(r"(?<=\s)(?:and|&)\s", re.IGNORECASE)
_BRACKETED_LIST = re.compile(r"\A(?:[^:\n\[\]()]{0,80}:)?[\s*_]*[\[(]([^\[\]()]*)[\])]\W*\Z")
_LEAD = re.compile(
    r"\A(?:[^:\n]{0,80}\b(?:are|is|list|order|include)\b[^:\n]{0,40}:\s*"
    r"|(?:the|these|there|they|it)\b[^,:\n]{0,60}?\b(?:are|is)\s+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ListAnswer(AnswerType):
    """A list of texts or numbers, compared in order or as a multiset."""

    ordered: bool = False

    @property
    def instruction(self) -> str:
        """Ask for a list."""
        order = ", in order" if self.ordered else ""
        return f"Answer with a list, separated by commas{order}."

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read a list, or a text with commas or semicolons."""
        listed = parse_list(value)
        if not isinstance(listed, list | tuple):
            listed = re.split(r"\s*[,;]\s*", format_cell(listed))
        items = [format_cell(entry) for entry in listed]
        if not items or "" in items:
            raise SourceError(f"answer {value!r:.60} (expected a list without empty entries)")
        return Gold("text", (json.dumps(items, ensure_ascii=False),))

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give 1 for the same entries, as often, and in order if ``ordered``."""
        entries = read_list(response)
        if not entries:
            return Grade(points=None, read=(), reason="no list")
        split_entries = [part.strip() for entry in entries for part in _AND.split(entry)]
        right = self._comparable(parse_list(gold.answer[0]))
        is_unsplit = self._comparable(entries) == right  # "rock and roll" may be one entry
        items = entries if is_unsplit else split_entries
        points = float(self._comparable(items) == right)
        return Grade(points=points, read=(json.dumps(items, ensure_ascii=False),), reason="")

    def _comparable(self, items: object) -> object:
        """A list for comparisons: a multiset unless its order counts."""
        plain = _plain(items)
        return Counter(plain) if isinstance(plain, list) and not self.ordered else plain


@dataclass(frozen=True, slots=True)
class JsonAnswer(AnswerType):
    """A JSON value; names of fields count, their order does not."""

    instruction: str = "Answer with JSON only."

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read an object or a list, as a cell or as text."""
        entries = parse_list(value)
        if not isinstance(entries, list | tuple | Mapping):
            raise SourceError(f"answer {value!r:.60} (expected a JSON object or list)")
        return Gold("text", (json.dumps(entries, ensure_ascii=False, sort_keys=True),))

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give a point for the same value; texts are compared without case, numbers as numbers."""
        value = read_json(response)
        if value is None:
            return Grade(points=None, read=(), reason="no JSON, or several values")
        read = (json.dumps(value, ensure_ascii=False, sort_keys=True),)
        points = float(_plain(value) == _plain(parse_list(gold.answer[0])))
        return Grade(points=points, read=read, reason="")


def read_list(response: str) -> list[str]:
    """Read the entries of a list: JSON, bullets, or separated by commas, semicolons or arrows.

    "a and b" is one entry.

    >>> read_list("The objects are: a cup, a mug, and a plate."), read_list('["a", "b"]')
    (['a cup', 'a mug', 'a plate'], ['a', 'b'])
    """
    text = ", ".join(boxed_texts(response)) or response
    parsed = read_json(text)
    if isinstance(parsed, dict) and len(parsed) == 1:
        (parsed,) = parsed.values()
    if isinstance(parsed, list):
        return [
            format_cell(entry) if isinstance(entry, str | int | float) else json.dumps(entry)
            for entry in parsed
        ]
    bullets = _BULLET.findall(text)
    listed = _BRACKETED_LIST.sub(r"\1", _LEAD.sub("", text.strip()))
    entries = bullets if len(bullets) > 1 else _SEPARATOR.split(listed)
    return list(filter(None, map(normalize_answer, entries)))


def _plain(value: object) -> object:
    """A value for comparisons: texts without case, texts of numbers as numbers."""
    match value:
        case Mapping():
            return {name: _plain(entry) for name, entry in value.items()}
        case list():
            return list(map(_plain, value))
        case str() | int() | float() if not isinstance(value, bool):
            text = normalize_answer(value if isinstance(value, str) else format_cell(value))
            number = parse_number(text)
            return text if number is None else number
    return repr(value)
