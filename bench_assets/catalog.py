"""The catalog of suites: shipped, from other packages, and from files.

Shipped suites and those of other packages are entry points of the group ``bench_assets.suites``. A
suite that cannot be used is left out of the catalog, with the reason.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bench_assets.core.schema.errors import (
    BenchError,
    SettingsError,
    SourceError,
    UnknownNameError,
    did_you_mean,
)
from bench_assets.evaluation.suite import Suite, suite_defects
from bench_assets.evaluation.task import Task
from bench_assets.features import hooks_of
from bench_assets.plugins import (
    EXTENSIONS,
    SUITES,
    Plugins,
    find_owners,
    find_plugins,
    plugin_error_reporting,
)
from bench_resources.config.bench_toml import Settings
from bench_resources.config.environment import IMPORTS_FILE
from bench_resources.config.known_benchmarks import known_benchmarks
from bench_resources.config.toml_validation import forbid_extra

if TYPE_CHECKING:
    from bench_assets.core.schema.published_numbers import PublishedNumber

_REPLACED_TASKS = {
    "cogbench/question_review": "its questions are shown in cogbench/proposals; answers in old"
    " sheets decide as entries of refinements.json in the source (docs: the suite's README)"
}
_NONE = "no suite is installed: the entry points of bench-assets are missing. Install it again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Suites, in alphabetical order."""

    suites: tuple[Suite, ...]
    problems: tuple[str, ...] = ()  # one line per suite left out, with the reason
    not_loaded: frozenset[str] = frozenset()  # names left out, or not requested
    origins: Mapping[str, str] = field(default_factory=dict)  # where each comes from, for messages

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the suites."""
        return tuple(suite.name for suite in self.suites)

    @property
    def evaluable(self) -> "Catalog":
        """Leave out imported results of other harnesses, which no model can be evaluated on."""
        evaluable_suites = tuple(
            suite for suite in self.suites if not any(task.measured_by for task in suite.tasks)
        )
        return replace(self, suites=evaluable_suites)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of all suites."""
        return tuple(task for suite in self.suites for task in suite.tasks)

    def suite(self, name: str) -> Suite:
        """Find a suite by its name or by the name of one of its tasks.

        Raises:
            UnknownNameError: If there is no such suite or task.
        """
        for suite in self.suites:
            if name in (suite.name, *(task.name for task in suite.tasks)):
                return suite
        task_names = (task.name for task in self.tasks)
        valid_names = {*self.names, *self.not_loaded, *task_names} - {name}
        near_benchmark = did_you_mean(name, known_benchmarks())
        raise UnknownNameError("suite", name, valid_names, also=near_benchmark)

    def tasks_of(self, name: str) -> tuple[Task, ...]:
        """The tasks of a suite, or the task of that name.

        Raises:
            UnknownNameError: If there is no such suite or task.
        """
        return tuple(task for task in self.suite(name).tasks if name in (task.suite, task.name))

    def task(self, name: str) -> Task:
        """The task of that name, or the only one of a suite.

        Raises:
            UnknownNameError: If there is no such suite or task.
            SettingsError: If the suite has several.
        """
        tasks = self.tasks_of(name)
        if len(tasks) != 1:
            names = ", ".join(task.name for task in tasks)
            raise SettingsError(f"{name} has {len(tasks)} tasks, name one: {names}")
        return tasks[0]

    def only(self, names: Iterable[str]) -> "Catalog":
        """Select suites.

        Raises:
            UnknownNameError: If one of the names is unknown.
        """
        suite_names = {self.suite(name).name for name in names}
        selected = tuple(suite for suite in self.suites if suite.name in suite_names)
        return replace(self, suites=selected)

    def without(self, problems: dict[str, str]) -> "Catalog":
        """Leave out the suites in ``problems``, reasons by name, and keep a message for each."""
        messages = [
            _left_out_message(name, reason, self.origins) for name, reason in problems.items()
        ]
        return replace(
            self,
            suites=tuple(suite for suite in self.suites if suite.name not in problems),
            problems=(*self.problems, *messages),
            not_loaded=self.not_loaded | problems.keys(),
        )

    def published(self) -> "tuple[list[PublishedNumber], list[str]]":
        """All published numbers, and messages about unreadable files."""
        from bench_assets.core.schema.published_numbers import read_published

        rows: list[PublishedNumber] = []
        problems = []
        for suite in self.suites:
            try:
                rows += read_published(suite.published) if suite.published else []
            except SourceError as error:
                problems.append(str(error))
        return rows, problems

    def check(self, settings: Settings) -> None:
        """Validate bench.toml against the settings of the suites.

        Raises:
            UnknownNameError: If it names an annotation task that its suite does not have.
            SettingsError: If an entry of ``[suites.<name>]`` is unknown or invalid.
        """
        for task in settings.annotation.tasks:
            self._check_annotation_task(task, settings)
        for suite in self.suites:
            settings.suite(suite.name, forbid_extra(suite.settings))

    def _check_annotation_task(self, task: str, settings: Settings) -> None:
        suite_name = task.partition("/")[0]
        if suite_name not in self.names:
            return  # reported by ``load_catalog``
        annotation_tasks = self.suite(suite_name).every_annotation_task
        names = [annotation_task.task.name for annotation_task in annotation_tasks]
        if task not in names:
            kind = f"annotation task, in {settings.file}, [annotation.tasks],"
            raise UnknownNameError(kind, task, names, also=_REPLACED_TASKS.get(task, ""))


def load_catalog(
    settings: Settings | None = None, *, only: Collection[str] | None = None
) -> Catalog:
    """Load the installed suites and the file benchmarks of bench.toml.

    Args:
        settings: Settings of the home; None: no file benchmarks.
        only: Names of installed suites to load, which saves half a second; None: all.

    Raises:
        SettingsError: If the section of a file benchmark is invalid.
    """
    plugins = find_plugins(SUITES, Suite, only)
    installed = plugins.names
    suites: dict[str, Suite] = {}
    origins = {**plugins.origins}
    problems = [*plugins.problems]
    for name, plugin in plugins.objects.items():
        try:
            with plugin_error_reporting():
                suites[name] = _validated_suite(plugin, name, plugins)
        except BenchError as error:
            problems.append(_left_out_message(name, str(error), origins))
    for section, suite in _suites_of_home(settings):
        origins[suite.name] = section
        if defects := suite_defects(suite):
            problems.append(_left_out_message(suite.name, "; ".join(defects), origins))
        else:
            suites[suite.name] = suite
    left_out = settings.left_out if settings else {}
    if settings:
        problems += _stale_sections(settings, installed | origins.keys() | suites.keys())
        problems += [
            f"{settings.section(name)}, is left out: {reason}" for name, reason in left_out.items()
        ]
    sorted_suites = tuple(suites[name] for name in sorted(suites))
    if find_owners(EXTENSIONS):
        from bench_assets.evaluation.extensions import with_extensions

        names = installed | suites.keys()
        sorted_suites, extension_problems = with_extensions(sorted_suites, names)
        problems += extension_problems
    if not installed:
        problems.append(_NONE)
    return Catalog(
        suites=sorted_suites,
        problems=tuple(problems),
        not_loaded=frozenset((installed | origins.keys() | set(left_out)) - suites.keys()),
        origins=origins,
    )


def _suites_of_home(settings: Settings | None) -> list[tuple[str, Suite]]:
    """Locations and suites of file benchmarks and of features; none without settings."""
    if settings is None:
        return []
    has_imports = (settings.home / IMPORTS_FILE).exists()
    hooks = hooks_of("suites") if has_imports else ()
    imported = [suite for suites_of in hooks for suite in suites_of(settings)]
    if not settings.benchmarks:
        return imported
    # Imported here, because it takes 0.1 s to compile patterns.
    from bench_assets.file_benchmarks.suite import file_benchmark_suites

    return [*file_benchmark_suites(settings), *imported]


def _validated_suite(suite: Suite, name: str, plugins: Plugins[Suite]) -> Suite:
    """The suite of an entry point, with its code; raises a ``SettingsError`` for its defects."""
    suite = replace(suite, code=suite.code or (plugins.code[name],))
    defects = suite_defects(suite)
    if suite.name != name:
        defects.append(f"name: {suite.name!r} is not the name of its entry point")
    if defects:
        raise SettingsError("; ".join(defects))
    return suite


def _stale_sections(settings: Settings, known_suites: Collection[str]) -> list[str]:
    """Format a line for each suite that bench.toml names but that is not installed."""
    named_sections: dict[str, Iterable[str]] = {
        "sources": settings.sources,
        "suites": settings.suites,
        "annotation.tasks": (task.partition("/")[0] for task in settings.annotation.tasks),
        "checkpoints": settings.checkpoints.suites,
    }
    known_names = f"known: {', '.join(sorted(known_suites))}."
    return [
        f"{settings.file}, [{section}]: no suite named {name!r} is installed, so the entry is "
        f"ignored; {did_you_mean(name, known_suites) or known_names} Install its package, or"
        " remove the entry"
        for section, names in named_sections.items()
        for name in dict.fromkeys(names)
        if name not in known_suites
    ]


def _left_out_message(name: str, reason: str, origins: Mapping[str, str]) -> str:
    origin = f"{origins[name]}: " if name in origins else ""
    return f"{origin}suite {name} is left out: {reason}"
