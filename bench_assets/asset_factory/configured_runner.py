"""The runner of an evaluation, as the home's settings configure it."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from bench_assets.annotation.tasks import PEOPLE
from bench_assets.core.judging.second_look import SELF, reader_name
from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.errors import ModelError, SettingsError, UnknownNameError
from bench_assets.core.schema.signature import format_model_setup
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
from bench_resources.config.sections.models import RecordedSpec
from bench_resources.models.registry.named_models import resolve_name
from bench_resources.models.registry.opening import Models
from bench_resources.models.registry.setup import FindModel

if TYPE_CHECKING:
    from bench_assets.evaluation.people_judge import PeopleJudge

OpenNamed: TypeAlias = Callable[[str], AbstractContextManager[ChatModel]]
"""Opens a model of bench.toml by name."""


def configured_runner(
    task: Task,
    settings: Settings,
    responses: Responses,
    verdicts: Verdicts | None = None,
    condition: str = "main",
) -> Runner:
    """Build a runner with the suite's scorer and accepted outcomes.

    ``verdicts`` may be left out by callers that do not judge.
    """
    suite_settings = settings.suite(task.suite, SuiteSettings)
    return Runner(
        task=task,
        condition=condition,
        responses=responses,
        judge=verdicts or StoredVerdicts(),
        scorer=suite_settings.scorer,
        accept=suite_settings.accept,
    )


def configured_responses(
    task: Task, models: Models, model: str, open_model: OpenModel
) -> GeneratedResponses:
    """Responses of a model, with its setup and the suite's accepted outcomes."""
    return GeneratedResponses(
        open=open_model,
        setup=format_model_setup(models.setup_of(model)),
        accept=models.settings.suite(task.suite, SuiteSettings).accept,
        draws=models.named(model).draws,
    )


def configured_verdicts(
    task: Task, models: Models, judge: str, open_model: OpenNamed, evaluated: str
) -> Verdicts:
    """Verdicts of a judge of bench.toml and, if the task has one, of a reader.

    ``evaluated`` is the evaluated model, which may be its own reader.

    Raises:
        SettingsError: If the task has no such judge, or the model cannot read.
    """
    settings = models.settings
    verdicts = _judge_verdicts(task, models, judge, open_model)
    reader = configured_reader(task, settings, judge, models.named)
    if not reader:
        return verdicts
    from bench_assets.core.schema.measured_figures import JudgeFigure
    from bench_assets.evaluation.readers import NullTest, ReaderVerdicts
    from bench_resources.tables.measured_figures import add_figures, read_figures

    model = reader_model(reader, evaluated, settings, models.named)
    setup = models.setup_of(model)
    return ReaderVerdicts(
        judge=verdicts,
        setting=reader,
        open=partial(open_model, model),
        setup=setup,
        accept=settings.suite(task.suite, SuiteSettings).accept,
        null_test=NullTest(
            judge=reader_name(reader),
            setup=setup,
            earlier_figures=partial(read_figures, settings.home, JudgeFigure, task.name),
            record=partial(add_figures, settings.home, JudgeFigure),
        ),
    )


def configured_reader(
    task: Task, settings: Settings, judge: str, find: FindModel | None = None
) -> str:
    """The reader of a task: a model of bench.toml, or "self"; "" without one.

    By default the judge's model reads, if it is there and its responses are not recorded. Only the
    default scorer uses readers.

    Raises:
        SettingsError: If the task has no such judge.
    """
    suite_settings = settings.suite(task.suite, SuiteSettings)
    if suite_settings.scorer not in ("", task.default_scorer):
        return ""
    reader = task.chosen_reader(judge, suite_settings.reader)
    if suite_settings.reader or not reader:
        return reader
    try:
        return "" if _is_recorded(reader, settings, find) else reader
    except (UnknownNameError, ModelError, SettingsError):
        return ""


def reader_model(
    reader: str, evaluated: str, settings: Settings, find: FindModel | None = None
) -> str:
    """Name of the model that reads: the reader itself, or for "self" the evaluated model.

    Raises:
        SettingsError: If its responses are recorded, so that it cannot be called.
        UnknownNameError: If there is no such model.
    """
    model = evaluated if reader == SELF else reader
    if _is_recorded(model, settings, find):
        raise SettingsError(
            f"{model}: its responses are recorded, so it cannot be asked as a reader. Name another"
            " model with --reader"
        )
    return model


def _is_recorded(model: str, settings: Settings, find: FindModel | None) -> bool:
    """Whether a model's responses are recorded, so that it cannot be called."""
    resolved = find(model) if find else resolve_name(model, settings)
    return isinstance(resolved.base.spec, RecordedSpec)


def _judge_verdicts(task: Task, models: Models, judge: str, open_model: OpenNamed) -> Verdicts:
    """Verdicts of the chosen judge: people, rules or a model; none if none is used."""
    suite_settings = models.settings.suite(task.suite, SuiteSettings)
    name, model = task.asked_judge(judge, suite_settings.scorer)
    if not name:
        return StoredVerdicts()
    if name == PEOPLE:
        return AnnotatorVerdicts(partial(people_judge, task, models.settings))
    if not model:
        return RuleVerdicts(name)
    return ModelVerdicts(
        name=name,
        open=partial(open_model, model),
        setup=models.setup_of(model),
        accept=suite_settings.accept,
    )


def people_judge(
    task: Task, settings: Settings, conditions: Iterable[str] = ("main",)
) -> "PeopleJudge":
    """Open the judge of annotators, with their answers so far.

    Raises:
        SettingsError: If bench.toml does not configure the annotation task that they judge by, or
            gives it attention checks, or if a condition is not main.
        AnnotationError: If the annotation backend cannot be used.
    """
    from bench_assets.evaluation.people_judge import PeopleJudge

    for condition in conditions:
        if condition != "main":
            raise SettingsError(
                f"{task.name}: people judge only the condition main, not {condition}."
                " Name another judge"
            )
    form = task.response_tasks[0].task
    task_settings = settings.annotation.tasks.get(form.name)
    if task_settings is None:
        raise SettingsError(
            f"{settings.file}: {form.name} is not configured, and people judge {task.name} by it."
            f' Add a section [annotation.tasks."{form.name}"] with needed = 3'
        )
    if task_settings.gold:
        raise SettingsError(
            f'{settings.file}, [annotation.tasks."{form.name}"]: gold cannot be used where people'
            " judge: attention checks are not verdicts. Remove the entry"
        )
    answers = open_annotation_backend(settings).answers(form)
    return PeopleJudge(task=form, answers=answers, terms=task_settings.terms, now=datetime.now(UTC))
