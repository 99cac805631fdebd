"""What became of each question, a letter each: small enough to be read for all models at once."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

ABSENT = "-"  # not asked, or the tables know nothing of it
FAILED = "e"  # no response, or one that could not be judged for want of a connection
UNSCORED = "u"
NO_ANSWER = "n"  # cut off before an answer
NOTHING_TO_GAIN = "o"  # no points are given for it
RIGHT, PARTLY, WRONG = "r", "p", "w"
CUT_SHORT = "length"  # a response's finish_reason where it came to the longest it may have


class Sample(NamedTuple):
    """What the score of one response says, and how the response ended."""

    row: int  # of the question
    points: float | None
    max_points: float
    no_answer: bool
    error: str
    finish_reason: str


class Outcomes(NamedTuple):
    """The outcome of every question for one model."""

    letters: str
    """One a question, in order; a capital where a response was cut short at its longest."""
    shares: list[float]
    """The share of the points that were gained, of each question that is partly right, in order."""


def outcomes(n_questions: int, samples: Sequence[Sample]) -> Outcomes:
    """Say what became of each question; of several samples it is their mean that counts.

    >>> outcomes(2, [Sample(1, 1.0, 4.0, False, "", "length")])
    Outcomes(letters='-P', shares=[0.25])
    """
    of_row: dict[int, list[Sample]] = {}
    for sample in samples:
        of_row.setdefault(sample.row, []).append(sample)
    letters, shares = [ABSENT] * n_questions, []
    for row in sorted(of_row):
        letter, share = _outcome(of_row[row])
        letters[row] = letter
        shares += [share] if letter in (PARTLY, PARTLY.upper()) else []
    return Outcomes("".join(letters), shares)


def samples_of(
    rows: Mapping[str, int],
    scores: Mapping[str, Sequence[Any]],
    ends: Mapping[tuple[str, int], str],
) -> list[Sample]:
    """Take the samples out of columns of ``Score``; those of other questions are left out.

    Args:
        rows: The row of each question, by its id.
        scores: Columns by name.
        ends: How responses ended, by question and sample.
    """
    names = ("question_id", "sample", "points", "max_points", "no_answer", "error")
    return [
        Sample(rows[question], points, most, no_answer, error, ends.get((question, sample), ""))
        for question, sample, points, most, no_answer, error in zip(
            *(scores[name] for name in names), strict=True
        )
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
        return NO_ANSWER, 0.0
    share = sum(points) / most
    if share >= 1.0:
        return RIGHT, 1.0
    return (PARTLY, round(share, 4)) if share > 0.0 else (WRONG, 0.0)
