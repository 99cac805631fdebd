"""Options inside a text: ``(a) x (b) y``, ``A. x`` on lines of their own, ``A: x, B: y``."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_MARKS = (
    re.compile(r"(?:(?<=\s)|^)\(([A-Ma-m])\)\s*"),
    re.compile(r"^[ \t]*([A-Ma-m])[.:)]\s+", re.M),
    re.compile(r"(?:(?<=\s)|^)([A-M])[.:)]\s+"),
)
_ANNOUNCED = re.compile(r"\s*\b(?:options?|choices)\s*(?:are)?\s*:?\s*\Z", re.I)
_LEAST = 2


class SplitText(NamedTuple):
    """A text and the options that were in it."""

    text: str
    options: tuple[str, ...]


def split_options(text: str) -> SplitText:
    r"""Split the options off a text; () if it has no consecutive letters from A on.

    The last option ends with its line. Text after the options stays in the text.

    >>> split_options("Is it open? (a) Open (b) Closed")
    SplitText(text='Is it open?', options=('Open', 'Closed'))
    >>> split_options("Which?\nA. Left\nB. Right\n\nAnswer with the letter.").text
    'Which?\n\nAnswer with the letter.'
    >>> split_options("Where?\nOptions: A: on the bed., B: in a box.").options
    ('on the bed.', 'in a box.')
    """
    for marks in (run for style in _MARKS for run in _runs(list(style.finditer(text)))):
        ends = [mark.start() for mark in marks[1:]]
        last = re.compile(r"\n|\Z").search(text, marks[-1].end())
        end = last.start() if last else len(text)
        spans = zip((mark.end() for mark in marks), (*ends, end), strict=True)
        options = tuple(text[start:stop].strip().rstrip(",;").rstrip() for start, stop in spans)
        if all(options):
            before = _ANNOUNCED.sub("", text[: marks[0].start()]).strip()
            after = text[end:].strip()
            return SplitText("\n\n".join(part for part in (before, after) if part), options)
    return SplitText(text, ())


def _runs(marks: Sequence[re.Match[str]]) -> Iterator[Sequence[re.Match[str]]]:
    """Runs of consecutive letters from A on, the last run first."""
    starts = [n for n, mark in enumerate(marks) if mark[1] in "Aa"]
    for start in reversed(starts):
        run = [marks[start]]
        for mark in marks[start + 1 :]:
            if ord(mark[1]) != ord(run[-1][1]) + 1:
                break
            run.append(mark)
        if len(run) >= _LEAST:
            yield run
