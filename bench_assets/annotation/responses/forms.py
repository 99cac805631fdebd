"""Annotation tasks about model responses that every task has, and their summary tables.

Active if bench.toml names them, such as ``[annotation.tasks."codis/verdicts"]``.
"""

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
    ResponseVerdict,
    response_verdicts,
    verdict_task,
    verdict_units,
)
from bench_assets.annotation.tasks import SuiteAnnotationTask, Summary, TableOf
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score


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
