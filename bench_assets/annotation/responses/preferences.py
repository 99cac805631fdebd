"""Pairwise preferences between the responses of two models, in balanced order."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal, TypeAlias

from bench_assets.annotation.answers.values import word
from bench_assets.annotation.responses.units import (
    group_by_response,
    images_of,
    judgeable_predictions,
    question_fields,
    response_name,
    response_tables,
    stratified_sample,
)
from bench_assets.annotation.tasks import (
    AnnotationTask,
    Answer,
    Field,
    SuiteAnnotationTask,
    Summary,
    Unit,
    split_unit_id,
    unit_id,
)
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.core.stats.means import ScoredPoint, mean

Preferred: TypeAlias = Literal["first", "second", "neither"]

_SAMPLE_PER_PAIR = 50  # questions per pair of models, half of them in each order
_CHOICES: Mapping[str, Preferred] = {
    "the first": "first",
    "the second": "second",
    "neither": "neither",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """One person's preference between two responses."""

    question_id: str
    first: str  # names of the responses, in the order shown
    second: str
    person: str
    preferred: Preferred


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRate:
    """Share of comparisons in which people prefer a model's response."""

    model: str
    other: str
    n: int  # compared questions
    wins: int  # answers, possibly several per question
    losses: int
    ties: int
    rate: float  # mean over answers: 1 for a win, half for a tie
    low: float  # of the 95 % interval, clustered by question
    high: float


def preferences_task(task: str, title: str) -> SuiteAnnotationTask:
    """Build the annotation task: which of two responses to one question is better?"""
    annotation_task = AnnotationTask(
        name=f"{task}/preferences",
        title=f"{title}: which response is better?",
        instructions=(
            "Two of those who were asked answered the question. Choose the response that you would"
            " rather have been given: first by whether it is right and says nothing that is not in"
            " the images, then by whether it answers what was asked, and only then by how it is"
            " worded. A longer response is not better for being long. Say neither where they are as"
            " good or as bad as each other."
        ),
        fields=(Field(name="better", kind="choice", label="Better is", choices=tuple(_CHOICES)),),
    )
    return SuiteAnnotationTask(
        task=annotation_task,
        reads=response_tables(task),
        units=partial(preference_units, annotation_task),
        row=Preference,
        to_rows=extract_preferences,
        summary=Summary(
            "rates", "how often people prefer one model to another", WinRate, win_rates
        ),
    )


def preference_units(
    annotation_task: AnnotationTask,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    seed: int = 0,
) -> list[Unit]:
    """Sample questions on which two models differ, with both orders equally often."""
    questions_by_id = {one.question_id: one for one in questions}
    responses = _texts(predictions, questions_by_id)
    models = sorted({model for texts in responses.values() for model in texts})
    found: dict[str, Unit] = {}
    for pair in combinations(models, 2):
        orders: dict[bool, list[str]] = {False: [], True: []}
        for question_id, texts in responses.items():
            names = [response_name(texts[model]) for model in pair if model in texts]
            if len(set(names)) == 2:
                is_reversed = _is_reversed(question_id, names)
                ordered = names[::-1] if is_reversed else names
                orders[is_reversed].append(unit_id(question_id, *ordered))
        n = min(_SAMPLE_PER_PAIR // 2, *map(len, orders.values()))
        for names in orders.values():
            for one in stratified_sample({"": names}, n, seed):
                found[one] = _unit(annotation_task, one, questions_by_id, responses)
    return [found[name] for name in sorted(found)]


def extract_preferences(answers: Sequence[Answer]) -> list[Preference]:
    """Extract the preferences from each person's answers."""
    return [
        Preference(
            question_id=question_id,
            first=first,
            second=second,
            person=answer.person,
            preferred=_CHOICES[word(answer, "better")],
        )
        for answer in answers
        for question_id, first, second in [split_unit_id(answer.unit_id)]
    ]


def win_rates(said: Iterable[Preference], predictions: Iterable[Prediction]) -> list[WinRate]:
    """Compute the win rate of each pair of models over the compared responses."""
    models = {
        key: sorted({row.model for row in rows})
        for key, rows in group_by_response(predictions).items()
    }
    points: dict[tuple[str, str], list[ScoredPoint]] = defaultdict(list)
    for one in said:
        value = {"first": 1.0, "second": 0.0, "neither": 0.5}[one.preferred]
        for a in models.get((one.question_id, one.first), []):
            for b in models.get((one.question_id, one.second), []):
                if a != b:
                    pair, points_of_a = ((a, b), value) if a < b else ((b, a), 1 - value)
                    points[pair].append(ScoredPoint(points_of_a, one.question_id))
    return [_rate(*pair, found) for pair, found in sorted(points.items())]


def _texts(
    predictions: Iterable[Prediction], questions_by_id: Mapping[str, Question]
) -> dict[str, dict[str, str]]:
    """Response texts by question and model."""
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for row in judgeable_predictions(predictions):
        if row.question_id in questions_by_id:
            texts[row.question_id][row.model] = row.text
    return dict(texts)


def _is_reversed(question_id: str, names: Sequence[str]) -> bool:
    """Whether the second model's response is shown first.

    Derived from a digest of what is shown, not from the models.
    """
    drawn_by = "\n".join([question_id, *sorted(names)])
    heads = hashlib.sha256(drawn_by.encode()).digest()[0] % 2 == 1
    return heads == (names[0] < names[1])


def _unit(
    annotation_task: AnnotationTask,
    name: str,
    questions_by_id: Mapping[str, Question],
    responses: Mapping[str, Mapping[str, str]],
) -> Unit:
    question_id, first, second = split_unit_id(name)
    texts = {response_name(text): text for text in responses[question_id].values()}
    question = questions_by_id[question_id]
    return Unit(
        task=annotation_task.name,
        unit_id=name,
        shown={
            **question_fields(question, key=False),
            "First response": texts[first],
            "Second response": texts[second],
        },
        images=images_of(question),
    )


def _rate(model: str, other: str, points: Sequence[ScoredPoint]) -> WinRate:
    found = mean(points)
    values = [point.value for point in points]
    return WinRate(
        model=model,
        other=other,
        n=len({point.cluster for point in points}),
        wins=values.count(1.0),
        losses=values.count(0.0),
        ties=values.count(0.5),
        rate=found.value,
        low=found.low,
        high=found.high,
    )
