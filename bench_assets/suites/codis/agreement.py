"""How far judges agree: with each other, with people, and people among themselves.

Section 5.3 and Table 7 compare people with GPT-4; appendix A and Table 8 compare four people, of
whom the majority is the ground truth and whose ties a fifth person breaks.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from bench_assets.core.errors import SourceError
from bench_assets.core.json_entries import read_lines
from bench_assets.core.records import records
from bench_assets.core.rows import Judgement, Prediction
from bench_assets.core.stats import Mean, Point, mean
from bench_assets.suites.codis.scoring import CRITERION

PEOPLE = "people"  # the judge that human labels make up
_IDENTITY = ("question_id", "model", "annotator")  # of a label: a person decides once

Labels: TypeAlias = Sequence["Label"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One person's verdict on a model's reply to one question (condition ``main``)."""

    question_id: str
    correct: bool
    model: str = ""  # "": whichever model is looked at
    annotator: str = ""
    tie_break: bool = False  # by the person who was only asked because the others were divided


def read_labels(file: Path) -> list[Label]:
    """Read people's verdicts: JSON lines with the fields of ``Label``, the last three optional.

    Raises:
        SourceError: If the file cannot be read, or a line is not such an object or repeats another
            one's annotator, model and question; names file and line.
    """
    return records(read_lines(file), Label, unique=_IDENTITY, closed=True)


def labels_of(model: str, labels: Labels) -> list[Label]:
    """Keep the labels on one model's predictions, and those that name no model."""
    return [label for label in labels if label.model in (model, "")]


def judged_by_people(labels: Labels, predictions: Sequence[Prediction]) -> list[Judgement]:
    """Turn people's verdicts on one model's predictions into judgements, by majority.

    Predictions that nobody looked at have none.

    Raises:
        SourceError: If people are divided and nobody broke the tie, or if a label is about a
            question that was not asked; names the question.
    """
    asked = {prediction.question_id for prediction in predictions}
    if strange := sorted({label.question_id for label in labels} - asked):
        raise SourceError(f"human labels: {len(strange)} unknown questions, such as {strange[0]}")
    by_question = _by_question(labels)
    return [
        Judgement.of(
            prediction,
            judge=PEOPLE,
            criterion=CRITERION,
            verdict=_majority(about),
            reply=f"{sum(label.correct for label in about)} of {len(about)} say right",
        )
        for prediction in predictions
        if not prediction.error and (about := by_question.get(prediction.question_id))
    ]


def agreement(first: Sequence[Judgement], second: Sequence[Judgement]) -> Mean:
    """Share of the queries both judged on which two judges agree (section 5.3, Table 7).

    A query on which either was unreadable is unscored.
    """
    verdicts = {_identity(j): j.verdict for j in first if j.criterion == CRITERION}
    others = [(_identity(j), j.verdict) for j in second if j.criterion == CRITERION]
    pairs = [(verdicts[key], verdict) for key, verdict in others if key in verdicts]
    return mean(
        Point(None if one is None or other is None else float(one == other)) for one, other in pairs
    )


def consistency(labels: Labels) -> Mean:
    """Share of single verdicts on one model that equal the majority's (equation of appendix A).

    The verdict that broke a tie decides, but is not itself counted. Verdicts on one reply depend
    on each other, which the interval allows for.

    Raises:
        SourceError: If people are divided and nobody broke the tie; names the question.
    """
    return mean(
        Point(float(label.correct == truth), question_id)
        for question_id, about in _by_question(labels).items()
        for truth in [_majority(about)]
        for label in about
        if not label.tie_break
    )


def _by_question(labels: Labels) -> dict[str, list[Label]]:
    groups: dict[str, list[Label]] = defaultdict(list)
    for label in labels:
        groups[label.question_id].append(label)
    return groups


def _majority(labels: Labels) -> bool:
    votes = [label.correct for label in labels if not label.tie_break]
    ayes, noes = votes.count(True), votes.count(False)
    if ayes != noes:
        return ayes > noes
    breaking = [label.correct for label in labels if label.tie_break]
    if len(breaking) != 1:
        raise SourceError(
            f"human labels: {labels[0].question_id}: {ayes} say right and {noes} wrong; add one "
            'more person\'s label with "tie_break": true'
        )
    return breaking[0]


def _identity(judgement: Judgement) -> tuple[str, str, str, int]:
    return judgement.question_id, judgement.model, judgement.condition, judgement.sample
