"""Blanks: the entries that a response fills in: a box each, a line each, or a list in one line."""

import re

from bench_assets.core.reading.readings import Reading, plain_text
from bench_assets.core.reading.rules import part, rules_of

_BRACES = re.compile(r"\A\{([^{}]*)\}\Z")  # what is left of \text{...}
_MAX_PART = 12  # characters of a part of a line without a label; longer ones are a sentence
_SEPARATORS = (r"\s*[;；]\s*", r"\s*、\s*", r"\s*，\s*|,\s+", r"\s*,\s*", r"\s+")  # in this order
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_EDGES = " 。;；,，"


def read_blanks(response: str, n: int) -> Reading[tuple[str, ...]] | None:
    r"""Read the entries of n blanks; None unless exactly as many are found.

    >>> read_blanks("答案：光合作用；呼吸作用", 2).value, read_blanks(r"\boxed{\text{氧}}", 1).value
    (('光合作用', '呼吸作用'), ('氧',))
    """
    if not n:
        return None
    plain = plain_text(response)
    boxes = [*part("box").finditer(plain.text)]
    if len(boxes) == n:
        values = tuple(_bare(box["answer"]) for box in boxes)
        span = plain.span(boxes[0].start("answer"), boxes[-1].end("answer"))
        return Reading(values, "box", span)
    start, form = _last_label(plain.text)
    entries = _entries(plain.text[start:], n, is_labelled=bool(form))
    if len(entries) != n or not all(entries):
        return None
    span = plain.span(start, len(plain.text))
    return Reading(tuple(map(_bare, entries)), form or "a line each", span)


def _last_label(text: str) -> tuple[int, str]:
    """Where the answer begins after the last label, and the label's rule; the start without one."""
    starts = [
        (match.start("answer"), rule.name)
        for rule in rules_of("blanks")
        for match in rule.pattern.finditer(text)
        if match.start("answer") < len(text)
    ]
    return max(starts, default=(0, ""))


def _entries(text: str, n: int, *, is_labelled: bool) -> list[str]:
    """The lines of a text, or the parts of its only line, if there are n."""
    paragraphs = [_lines(paragraph) for paragraph in _PARAGRAPH.split(text)]
    lines = [line for listed in paragraphs for line in listed]
    for listed in (lines, paragraphs[0] if is_labelled else paragraphs[-1]):
        if len(listed) == n:
            return listed
    if is_labelled and len(lines) > n == 1:
        return lines[:1]
    parts = _parts(lines[0], n) if lines and (is_labelled or len(lines) == 1) else []
    return parts if is_labelled or all(len(part) <= _MAX_PART for part in parts) else []


def _lines(text: str) -> list[str]:
    """Lines without list numbers and bullets."""
    return [
        part("list_number").sub("", line, count=1).strip(_EDGES)
        if part("list_number").match(line)
        else line.strip(_EDGES)
        for line in text.splitlines()
        if line.strip(_EDGES)
    ]


def _parts(line: str, n: int) -> list[str]:
    """The n parts of a line: numbered, or with one kind of separator between them."""
    numbered = [
        text.strip(_EDGES) for text in part("list_number").split(line) if text.strip(_EDGES)
    ]
    for parts in (numbered, *(re.split(separator, line) for separator in _SEPARATORS)):
        if len(parts) == n:
            return parts
    return []


def _bare(entry: str) -> str:
    return _BRACES.sub(r"\1", entry.strip())
