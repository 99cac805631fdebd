"""The runner of an evaluation, as the home's settings configure it."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from typing import TypeAlias

from bench_assets.annotation.responses.verdicts import PEOPLE
from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.signature import format_model_setup
from bench_assets.evaluation.people_judge import PeopleJudge
from bench_assets.evaluation.reviews import load_review
from bench_assets.evaluation.runner import (
    AnnotatorVerdicts,
    GeneratedResponses,
    ModelVerdicts,
    OpenModel,
    Responses,
    RuleVerdicts,
    Runner,
    StoredVerdicts,
    Verdicts,
)
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Task
from bench_assets.features import open_annotation_backend
from bench_resources.config.bench_toml import Settings
from bench_resources.models.registry.setup import setup_of

OpenNamed: TypeAlias = Callable[[str], AbstractContextManager[ChatModel]]
"""Opens a model of bench.toml by name."""


def configured_runner(
    task: Task,
    settings: Settings,
    responses: Responses,
    verdicts: Verdicts | None = None,
    condition: str = "main",
) -> Runner:
    """Build a runner with the suite's scorer, review and accepted outcomes.

    ``verdicts`` None: without any, for callers that do not judge.

    Raises:
        SourceError: If the review is not a form of reviews.
    """
    chosen = settings.suite(task.suite, SuiteSettings)
    return Runner(
        task=task,
        condition=condition,
        responses=responses,
        judge=verdicts or StoredVerdicts(),
        scorer=chosen.scorer,
        review=load_review(chosen.review),
        accept=chosen.accept,
    )


def configured_responses(
    task: Task, settings: Settings, model: str, open_model: OpenModel
) -> GeneratedResponses:
    """Responses of a model of bench.toml, with its setup and the suite's accepted outcomes."""
    return GeneratedResponses(
        open=open_model,
        setup=format_model_setup(setup_of(model, settings)),
        accept=settings.suite(task.suite, SuiteSettings).accept,
    )


def configured_verdicts(
    task: Task, settings: Settings, judge: str, open_model: OpenNamed
) -> Verdicts:
    """Verdicts of a judge of bench.toml, with its setup and the suite's accepted outcomes.

    Raises:
        SettingsError: If the task has no such judge.
    """
    if not task.is_judged:
        return StoredVerdicts()
    name, model = task.chosen_judge(judge)
    if name == PEOPLE:
        return AnnotatorVerdicts(partial(people_judge, task, settings))
    if not model:
        return RuleVerdicts(name)
    return ModelVerdicts(
        name=name,
        open=partial(open_model, model),
        setup=setup_of(model, settings),
        accept=settings.suite(task.suite, SuiteSettings).accept,
    )


def people_judge(
    task: Task, settings: Settings, conditions: Iterable[str] = ("main",)
) -> PeopleJudge:
    """Open the judge of annotators, with their answers so far.

    Raises:
        SettingsError: If bench.toml does not configure the annotation task that they judge by, or
            a condition is not main.
        AnnotationError: If the annotation backend cannot be used.
    """
    if other := next((one for one in conditions if one != "main"), ""):
        raise SettingsError(
            f"{task.name}: people judge only the condition main, not {other}. Name another judge"
        )
    form = task.response_tasks[0].task
    chosen = settings.annotation.tasks.get(form.name)
    if chosen is None:
        raise SettingsError(
            f"{settings.file}: {form.name} is not configured, and people judge {task.name} by it."
            f' Add a section [annotation.tasks."{form.name}"] with needed = 3'
        )
    if chosen.gold:
        raise SettingsError(
            f'{settings.file}, [annotation.tasks."{form.name}"]: gold cannot be used where people'
            " judge: attention checks are not verdicts. Remove the entry"
        )
    answers = open_annotation_backend(settings).answers(form)
    return PeopleJudge(form, answers, chosen.terms, datetime.now(UTC))
