"""Opens a home folder for commands and the Python interface, and validates what they name there."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

from bench_assets.annotation.tasks import PEOPLE
from bench_assets.asset_factory.configured_runner import configured_reader, people_judge
from bench_assets.catalog import load_catalog
from bench_assets.core.judging.second_look import SELF
from bench_assets.core.schema.errors import ModelError, SettingsError, SourceError, UnknownNameError
from bench_assets.evaluation.outcomes import Accepted
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import RULES, Task
from bench_assets.workspace.console.new_home import new_home_printed
from bench_assets.workspace.console.output import print_message, progress_style
from bench_assets.workspace.materialization import asset_selections
from bench_assets.workspace.materialization.model_arguments import resolve_models, sections_of
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.addresses import is_release_address
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.environment import default_home, set_openmp_passive, weak_key_warnings
from bench_resources.config.known_benchmarks import add_known
from bench_resources.config.sections.engine_kinds import kind_problems
from bench_resources.config.sections.models import EMBEDDED_MODELS
from bench_resources.config.sources_toml import BENCH_TOML, SourceRule, remembered_sources
from bench_resources.models.registry.named_models import ResolvedModel
from bench_resources.redaction.logs import redact_logs


@contextmanager
def open_workbench(  # noqa: PLR0913  (an option each)
    suite: str = "",
    source: str | Path = "",
    judge: str = "",
    scorer: str = "",
    *,
    reader: str = "",
    models: Sequence[str | ResolvedModel] = (),
    elicit: str = "",
    sections: Mapping[str, Mapping[str, Any]] | None = None,
    accept: Sequence[str] = (),
    training: Sequence[Path] = (),
    rule: SourceRule = "evaluated last",
) -> Generator[Workbench]:
    """Open ``$BENCH_HOME``, or ``bench_home`` in the working directory; prints warnings.

    Args:
        suite: Suite or task to load; "": all suites.
        source: Folder of the suite's files or its address; "default": bench.toml's.
        judge: The suite's judge, instead of bench.toml's; refused if no task would ask it.
        scorer: The suite's scorer, instead of bench.toml's.
        reader: The suite's reader, instead of bench.toml's; refused if no task would ask it.
        models: The models to evaluate, by name or location; or resolved.
        elicit: Method of elicitation; "": none.
        sections: Further models with their sections.
        accept: Outcomes that do not stop a number, in addition to bench.toml's.
        training: Training data for contamination checks, instead of bench.toml's.
        rule: The source of a suite for which none is named here.

    Raises:
        BenchError: If bench.toml or one of the choices cannot be used.
    """
    _check_accepted(accept)
    suite_name = suite.partition("/")[0]  # a task has the source of its suite
    add_benchmarks([suite_name])
    options = {"judge": judge, "reader": reader, "scorer": scorer}
    overrides = {name: value for name, value in options.items() if value}
    home = default_home()
    prepare_process(home)
    settings_of_home = load_settings(home)
    resolved = resolve_models(models, settings_of_home, elicit)
    settings = settings_of_home.with_overrides(
        sources={suite_name: source} if str(source) not in ("", BENCH_TOML) else {},
        suites={suite_name: overrides} if overrides else {},
        models={**sections_of(resolved), **(sections or {})},
        accept=accept,
        training=training,
    )
    catalog = load_catalog(settings, only={suite_name, *settings.suites} if suite_name else None)
    engine_problems = kind_problems(settings.models)
    for problem in (*catalog.problems, *engine_problems, *weak_key_warnings(settings.home)):
        print_message(f"warning: {problem}")
    if not source:
        suites = [suite_name] if suite_name else catalog.names
        last_sources = _last_sources(remembered_sources(settings_of_home, rule), suites)
        settings = settings.with_overrides(sources=last_sources)
    with Workbench(
        settings,
        [suite_name] if suite_name else (),
        models=resolved,
        catalog=catalog,
        progress=progress_style(),
    ) as bench:
        if judge:
            _require_judged_task(bench, suite, judge)
        if reader not in ("", RULES):
            _require_read_task(bench, suite, reader)
        yield bench


def _require_judged_task(bench: Workbench, suite: str, judge: str) -> None:
    """Refuse a judge that no task of a suite would ask, as a judge or as a reader."""
    tasks = bench.catalog.tasks_of(suite)
    scorer = bench.settings.suite(tasks[0].suite, SuiteSettings).scorer
    if not any(
        task.asked_judge(judge, scorer).name
        or configured_reader(task, bench.settings, judge, bench.model)
        for task in tasks
    ):
        reason = f" with the scorer {scorer}" if scorer else ""
        raise SettingsError(f"judge {judge}: {suite} asks no judge{reason}. Leave it out")


def _require_read_task(bench: Workbench, suite: str, reader: str) -> None:
    """Refuse a reader that no task of a suite would ask."""
    tasks = bench.catalog.tasks_of(suite)
    suite_settings = bench.settings.suite(tasks[0].suite, SuiteSettings)
    scorer = suite_settings.scorer
    reading = [task for task in tasks if scorer in ("", task.default_scorer)]
    if any(task.chosen_reader(suite_settings.judge, reader) for task in reading):
        return
    reason = "its judge judges every response"
    if not reading:
        reason = f"the scorer {scorer} uses none"
    elif not any(task.is_read for task in reading):
        reason = "its answers have no form that a reader could find"
    raise SettingsError(f"reader {reader}: {suite} asks no reader: {reason}. Leave it out")


def _last_sources(sources: Mapping[str, str], suites: Iterable[str]) -> dict[str, str]:
    """Select the remembered sources of suites, and print them."""
    selected = {name: sources[name] for name in suites if name in sources}
    for name, source in selected.items():
        print_message(
            f"{name}: from {source}, as in its last evaluation. --source {BENCH_TOML}:"
            " bench.toml's, or the mini edition"
        )
    return selected


def add_benchmarks(suites: Iterable[str]) -> list[str]:
    """Add known benchmarks, and those of TOML files, to the home; returns suite and task names.

    Raises:
        HomeError: If the home cannot be written to.
        SettingsError: If a file has no usable benchmark, or the name is taken.
    """
    home = default_home()
    with new_home_printed(home):
        return add_known(home, suites)


def _check_accepted(accept: Sequence[str]) -> None:
    outcomes = get_args(Accepted)
    if isinstance(accept, str) or not set(accept) <= set(outcomes):
        raise SettingsError(f"accept: expected a list of {' and '.join(outcomes)}, got {accept!r}")


def prepare_process(home: Path) -> None:
    """Redact the home's secrets in logs, and let idle OpenMP threads sleep."""
    redact_logs(home)
    set_openmp_passive()


def check_names(
    bench: Workbench, suites: Iterable[str], models: Sequence[str], conditions: Iterable[str] = ()
) -> None:
    """Validate the names of an evaluation, in bench.toml and on the command line.

    Raises:
        BenchError: If a name or source is unknown or cannot be used, or a task is imported.
    """
    conditions = list(conditions)
    tasks = [
        task
        for name in suites
        for task in asset_selections.tasks_of_one_kind(bench.catalog.tasks_of(name))
    ]
    for task in tasks:
        if task.measured_by:
            raise SettingsError(
                f"{task.name}: imported from {task.measured_by}, and cannot be evaluated here."
                " Import another file of results with `bench import`."
            )
        for condition in conditions:
            task.condition(condition)  # raises if the task does not have it
        _check_settings(task, bench, conditions, asks=bool(models))
    for kind in dict.fromkeys(task.asked_of for task in tasks):
        for model in models:
            _check_model(model, kind, bench)


def _check_settings(task: Task, bench: Workbench, conditions: Sequence[str], *, asks: bool) -> None:
    """Validate a task's scorer, judge, reader and source."""
    settings = bench.settings
    section = settings.suite(task.suite, SuiteSettings)
    if task.asked_of == "model" and section.scorer:
        task.scorer(section.scorer)  # raises if it is unknown
    name, judge = task.asked_judge(section.judge, section.scorer)
    if name == PEOPLE:
        people_judge(task, settings, conditions)
    _check_role("judge", judge, {*task.judges, PEOPLE}, bench, asks=asks)
    reader = configured_reader(task, settings, section.judge, bench.model)
    if reader != SELF:
        _check_role("reader", reader, {RULES, SELF}, bench, asks=asks)
    source = settings.sources.get(task.suite, "")
    folder = settings.resolve(source)
    exists = folder.is_dir() or (task.suite in settings.benchmarks and folder.is_file())
    if source and not is_release_address(source) and not exists:
        raise SourceError(f"{folder}: no such folder (the source of {task.suite})")


def _check_role(
    role: str, name: str, non_models: Iterable[str], bench: Workbench, *, asks: bool
) -> None:
    """Validate the model of a judge or reader, if any; an error lists ``non_models`` as well."""
    if not name:
        return
    try:
        bench.model(name)
    except UnknownNameError:
        names = {*non_models, *EMBEDDED_MODELS, *bench.settings.models}
        raise UnknownNameError(role, name, names) from None
    except ModelError:  # known, but currently unavailable
        if asks:
            raise


def _check_model(name: str, kind: str, bench: Workbench) -> None:
    encoders = {"random", *bench.settings.encoders}
    if kind == "model":
        bench.model(name)  # raises if it is unknown
    elif name not in encoders:
        raise UnknownNameError(f"encoder in {bench.settings.file}", name, encoders)
