"""Annotation tasks about model responses that every task has, and their summary tables.

Active if bench.toml names them, such as ``[annotation.tasks."codis/verdicts"]``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from bench_assets.annotation.responses.error_analysis import (
    CodeBook,
    CodeCount,
    CodedMistake,
    coded_mistakes,
    count_codes,
    mistake_task,
    mistake_units,
)
from bench_assets.annotation.responses.preferences import (
    Preference,
    WinRate,
    preference_task,
    preference_units,
    preferences,
    win_rates,
)
from bench_assets.annotation.responses.verdicts import (
    PEOPLE,
    ResponseVerdict,
    response_verdicts,
    right_by_people,
    verdict_task,
    verdict_units,
)
from bench_assets.annotation.tasks import SuiteAnnotationTask, Summary, TableOf
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class RightByPeople:
    """Share of one model's sampled responses that people judged right, with its interval."""

    model: str
    judge: str
    n: int  # responses that most could judge, and were not divided about
    share: float
    low: float  # of the 95 % interval
    high: float


def right_shares(
    verdicts: Sequence[ResponseVerdict], predictions: Sequence[Prediction]
) -> list[RightByPeople]:
    """Score models by people's verdicts, on the sample that people saw."""
    return [
        RightByPeople(
            model=model,
            judge=PEOPLE,
            n=found.n_scored,
            share=found.value,
            low=found.low,
            high=found.high,
        )
        for model, found in right_by_people(verdicts, predictions).items()
    ]


def verdicts_task(task: str, title: str, *, judged: bool) -> SuiteAnnotationTask:
    """Build the annotation task: is a response right?"""
    annotation_task = verdict_task(task, title)
    reads = {"judgements": TableOf(f"{task}/judgements", Judgement)} if judged else {}
    return SuiteAnnotationTask(
        task=annotation_task,
        reads={**_responses(task), **reads},
        units=partial(verdict_units, annotation_task),
        row=ResponseVerdict,
        to_rows=response_verdicts,
        summary=Summary(
            "right",
            "the share of a model's responses that people call right",
            RightByPeople,
            right_shares,
        ),
    )


def preferences_task(task: str, title: str) -> SuiteAnnotationTask:
    """Build the annotation task: which of two responses is better?"""
    annotation_task = preference_task(task, title)
    return SuiteAnnotationTask(
        task=annotation_task,
        reads=_responses(task),
        units=partial(preference_units, annotation_task),
        row=Preference,
        to_rows=preferences,
        summary=Summary(
            "rates", "how often people prefer one model to another", WinRate, win_rates
        ),
    )


def mistakes_task(task: str, title: str, book: CodeBook) -> SuiteAnnotationTask:
    """Build the annotation task: the kind of mistake in a response."""
    annotation_task = mistake_task(task, title, book)
    return SuiteAnnotationTask(
        task=annotation_task,
        reads={**_responses(task), "scores": TableOf(f"{task}/scores", Score)},
        units=partial(mistake_units, annotation_task),
        row=CodedMistake,
        to_rows=coded_mistakes,
        summary=Summary(
            "counts", "how many mistakes are of one kind", CodeCount, partial(count_codes, book)
        ),
    )


@cache  # the same tasks for the same task: what is made of them is made once
def response_tasks(
    task: str, title: str, book: CodeBook, *, judged: bool
) -> tuple[SuiteAnnotationTask, SuiteAnnotationTask, SuiteAnnotationTask]:
    """Build the tasks for verdicts, preferences and mistakes."""
    return (
        verdicts_task(task, title, judged=judged),
        preferences_task(task, title),
        mistakes_task(task, title, book),
    )


def _responses(task: str) -> dict[str, TableOf]:
    return {
        "questions": TableOf(f"{task}/questions", Question),
        "predictions": TableOf(f"{task}/predictions", Prediction),
    }
