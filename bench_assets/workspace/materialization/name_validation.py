"""Validates all names of a command before anything is built or requested."""

from collections.abc import Iterable, Sequence

from bench_assets.annotation.responses.verdicts import PEOPLE
from bench_assets.asset_factory.configured_runner import configured_reader, people_judge
from bench_assets.core.judging.second_look import SELF
from bench_assets.core.schema.errors import ModelError, SettingsError, SourceError, UnknownNameError
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import RULES, Task
from bench_assets.workspace.materialization import asset_selections
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.addresses import is_release_address
from bench_resources.config.sections.models import EMBEDDED_MODELS


def check_names(
    bench: Workbench, suites: Iterable[str], models: Sequence[str], conditions: Iterable[str] = ()
) -> None:
    """Validate the names of an evaluation, in bench.toml and on the command line.

    Args:
        bench: The home folder.
        suites: Suites or tasks.
        models: Models of bench.toml, or encoders for tasks of encoders.
        conditions: Conditions that every task must have.

    Raises:
        BenchError: If a suite, task, model, judge, scorer, condition or source is unknown.
    """
    named = list(conditions)
    tasks = [
        one
        for name in suites
        for one in asset_selections.tasks_of_one_kind(bench.catalog.tasks_of(name))
    ]
    for task in tasks:
        if task.measured_by:
            raise SettingsError(
                f"{task.name}: imported from {task.measured_by}, and cannot be evaluated here."
                " Import another file of results with `bench import`."
            )
        for condition in named:
            task.condition(condition)
        _check_settings(task, bench, named, asks=bool(models))
    for kind in dict.fromkeys(task.asked_of for task in tasks):
        for model in models:
            _check_model(model, kind, bench)


def _check_settings(task: Task, bench: Workbench, conditions: Sequence[str], *, asks: bool) -> None:
    """Validate a task's scorer, judge and source."""
    settings = bench.settings
    chosen = settings.suite(task.suite, SuiteSettings)
    if task.asked_of == "model" and chosen.scorer:
        task.scorer(chosen.scorer)
    name, judge = task.chosen_judge(chosen.judge) if task.is_judged else ("", "")
    if name == PEOPLE:
        people_judge(task, settings, conditions)
    _check_role("judge", judge, {*task.judges, PEOPLE}, bench, asks=asks)
    reader = configured_reader(task, settings, chosen.judge, bench.model)
    if reader != SELF:
        _check_role("reader", reader, {RULES, SELF}, bench, asks=asks)
    source = settings.sources.get(task.suite, "")
    place = settings.resolve(source)
    is_there = place.is_dir() or (task.suite in settings.benchmarks and place.is_file())
    if source and not is_release_address(source) and not is_there:
        raise SourceError(f"{place}: no such folder (the source of {task.suite})")


def _check_role(
    role: str, name: str, others: Iterable[str], bench: Workbench, *, asks: bool
) -> None:
    """Validate the model of a judge or a reader; ``others`` are the names that are no model."""
    if not name:
        return
    try:
        bench.model(name)
    except UnknownNameError:
        known = {**EMBEDDED_MODELS, **bench.settings.models}
        raise UnknownNameError(role, name, {*others, *known}) from None
    except ModelError:  # known, but currently unavailable
        if asks:
            raise


def _check_model(name: str, kind: str, bench: Workbench) -> None:
    settings = bench.settings
    if kind == "model":
        bench.model(name)
    elif name not in (encoders := {"random", *settings.encoders}):
        raise UnknownNameError(f"encoder in {settings.file}", name, encoders)
