"""Questions of the sample browser, in chunks, with one outcome letter per question and model."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

CHUNK = 400
"""Questions of which texts, or the responses of one model, are loaded at once."""

_SHORT = 160  # characters of a question's text, in the list
_MANY = 200  # most values of a label that a filter offers
_LONG = 60  # characters of a label's value, at which it is a text and nothing to choose

Columns = Mapping[str, Sequence[Any]]


def listed(columns: Columns) -> dict[str, Any]:
    """Columns that the list of samples shows, searches and filters.

    Args:
        columns: Columns of ``Question``.

    Returns:
        ``ids`` and shortened ``texts`` by question; ``kinds``, ``categories``, ``groups`` and each
        of ``labels``, encoded by ``coded``; distinct digests as ``images``, and each question's
        indices as ``shown``.
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
    """Dictionary-encode values.

    >>> coded(["b", "a", "b"])
    {'values': ['b', 'a'], 'codes': [0, 1, 0]}
    """
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(value, len(numbers)) for value in values]
    return {"values": list(numbers), "codes": codes}


def texts(columns: Columns) -> Iterator[list[dict[str, Any]]]:
    """All texts of the questions, in chunks; empty ones are left out."""
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
    """Labels to filter by: those with two or more, but few and short, values."""
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


ABSENT = "-"  # not asked, or the tables know nothing of it
FAILED = "e"  # no response, or one that could not be judged for want of a connection
UNSCORED = "u"
NO_ANSWER = "n"  # cut off, or no answer at all
REFUSED = "x"  # by the provider, for good; counted as wrong
NOTHING_TO_GAIN = "o"  # no points are given for it
RIGHT, PARTLY, WRONG = "r", "p", "w"
CUT_SHORT = "length"  # a response's finish_reason where it came to the longest it may have


class Sample(NamedTuple):
    """Outcome of one response: its score, and its finish."""

    row: int  # of the question
    points: float | None
    max_points: float
    no_answer: bool
    error: str
    finish_reason: str
    refused: str = ""
    unread: bool = False


class Outcomes(NamedTuple):
    """The outcome of every question for one model."""

    letters: str
    """One a question, in order; a capital where a response was cut short at its longest."""
    shares: list[float]
    """The share of the points that were gained, of each question that is partly right, in order."""
    unread: list[int]
    """Questions with a response that nobody read."""


def outcomes(n_questions: int, samples: Sequence[Sample]) -> Outcomes:
    """Outcome of each question; several samples count by their mean.

    >>> outcomes(2, [Sample(1, 1.0, 4.0, False, "", "length")])
    Outcomes(letters='-P', shares=[0.25], unread=[])
    """
    of_row: dict[int, list[Sample]] = {}
    for sample in samples:
        of_row.setdefault(sample.row, []).append(sample)
    letters, shares = [ABSENT] * n_questions, []
    for row in sorted(of_row):
        letter, share = _outcome(of_row[row])
        letters[row] = letter
        shares += [share] if letter in (PARTLY, PARTLY.upper()) else []
    unread = [row for row, of in sorted(of_row.items()) if any([one.unread for one in of])]
    return Outcomes("".join(letters), shares, unread)


def samples_of(
    rows: Mapping[str, int],
    scores: Mapping[str, Sequence[Any]],
    ends: Mapping[tuple[str, int], str],
) -> list[Sample]:
    """Samples from columns of ``Score``; those of other questions are left out.

    Args:
        rows: Index of each question, by id.
        scores: Columns by name.
        ends: Finish of responses, by question and sample.
    """
    names = ("question_id", "sample", "points", "max_points", "no_answer", "error")
    told = zip(scores["refused"], scores["unread"], strict=True)
    each = zip(*(scores[name] for name in names), told, strict=True)
    return [
        Sample(
            row=rows[question],
            points=points,
            max_points=most,
            no_answer=no_answer,
            error=error,
            finish_reason=ends.get((question, sample), ""),
            refused=refused,
            unread=unread,
        )
        for question, sample, points, most, no_answer, error, (refused, unread) in each
        if question in rows
    ]


def _outcome(samples: Sequence[Sample]) -> tuple[str, float]:
    letter, share = _whatever_its_end(samples)
    cut = any([sample.finish_reason == CUT_SHORT for sample in samples])
    return (letter.upper() if cut else letter), share


def _whatever_its_end(samples: Sequence[Sample]) -> tuple[str, float]:
    if any([sample.error for sample in samples]):
        return FAILED, 0.0
    most = sum([sample.max_points for sample in samples])
    if not most:
        return NOTHING_TO_GAIN, 0.0
    points = [sample.points for sample in samples if sample.points is not None]
    if len(points) < len(samples):
        return UNSCORED, 0.0
    if all([sample.no_answer for sample in samples]):
        return (REFUSED if all([one.refused for one in samples]) else NO_ANSWER), 0.0
    share = sum(points) / most
    if share >= 1.0:
        return RIGHT, 1.0
    return (PARTLY, round(share, 4)) if share > 0.0 else (WRONG, 0.0)
