"""Entries that a response fills into blanks: a box each, a line each, or a list in one line."""

import re
from collections.abc import Iterator

from bench_assets.core.reading.readings import Reading, plain_text
from bench_assets.core.reading.rules import part, rules_of

_BRACES = re.compile(r"\A\{([^{}]*)\}\Z")  # what is left of \text{...}
_MAX_PART = 12  # characters of a part of a line without a label; longer ones are a sentence
_SEPARATORS = (r"\s*[;；]\s*", r"\s*、\s*", r"\s*，\s*|,\s+", r"\s*,\s*", r"\s+")  # in this order
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_EDGES = " 。;；,，"


def read_blanks(response: str, n: int) -> Reading[str] | None:
    r"""Read the entries of n blanks, a line each; None unless exactly as many are found.

    >>> read_blanks("答案：光合作用；呼吸作用", 2).value, read_blanks(r"\boxed{\text{氧}}", 1).value
    ('光合作用\n呼吸作用', '氧')
    """
    plain = plain_text(response)
    boxes = [*part("box").finditer(plain.text)]
    if boxes and len(boxes) == n:
        start, end, form = boxes[0].start("answer"), boxes[-1].end("answer"), "box"
        entries = [box["answer"] for box in boxes]
    else:
        start, form = _after_last_label(plain.text)
        end = len(plain.text)
        entries = _entries(plain.text[start:], n, is_labelled=bool(form))
    if not entries or not all(entries):
        return None
    value = "\n".join(_BRACES.sub(r"\1", entry.strip()) for entry in entries)
    evidence = plain.span(start, end)
    return Reading(value=value, form=form or "a line each", evidence=evidence)


def _after_last_label(text: str) -> tuple[int, str]:
    """Start of the text after the last label, and the label's rule; 0 and "" without one."""
    starts = [
        (match.start("answer"), rule.name)
        for rule in rules_of("blanks")
        for match in rule.pattern.finditer(text)
        if match.start("answer") < len(text)
    ]
    return max(starts, default=(0, ""))


def _entries(text: str, n: int, *, is_labelled: bool) -> list[str]:
    """The n entries of a text; [] if it has another number.

    After a label, they are the lines of the text or of its first paragraph, the first line, or the
    parts of the first line. Otherwise, they are the lines of the text or of its last paragraph, or
    the parts, each of at most ``_MAX_PART`` characters, of a single line.
    """
    paragraphs = [_lines(paragraph) for paragraph in _PARAGRAPH.split(text)]
    lines = [line for paragraph in paragraphs for line in paragraph]
    candidates = [lines, paragraphs[0], lines[:1]] if is_labelled else [lines, paragraphs[-1]]
    if lines and (is_labelled or len(lines) == 1):
        parts = next((parts for parts in _splits(lines[0]) if len(parts) == n), [])
        if is_labelled or max(map(len, parts), default=0) <= _MAX_PART:
            candidates.append(parts)
    return next((entries for entries in candidates if len(entries) == n), [])


def _lines(text: str) -> list[str]:
    """Lines without list numbers and bullets; empty ones are left out."""
    lines = []
    for line in text.splitlines():
        list_number = part("list_number").match(line)
        rest = line[list_number.end() :] if list_number else line
        lines.append(rest.strip(_EDGES))
    return list(filter(None, lines))


def _splits(line: str) -> Iterator[list[str]]:
    """The parts of a line: numbered, or with one kind of separator between them."""
    numbered = [text.strip(_EDGES) for text in part("list_number").split(line)]
    yield [text for text in numbered if text]
    yield from (re.split(separator, line) for separator in _SEPARATORS)
