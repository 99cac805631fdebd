"""Extensions: conditions, metrics and judges that other packages add to a task.

A package declares an ``Extension`` in its ``pyproject.toml``::

    [project.entry-points."bench_assets.extensions"]
    acme = "acme_bench:CODIS"

Results name their extensions: ``codis+acme``. The primary metric does not change. An extension's
code counts as the suite's code: tables become stale when it changes.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench_assets.core.schema.errors import BenchError, SettingsError, UnknownNameError
from bench_assets.core.tables.json_records import find_mistyped
from bench_assets.evaluation.suite import Suite, suite_defects
from bench_assets.evaluation.task import Condition, Judge, Measure, Task
from bench_assets.plugins import EXTENSIONS, find_plugins, plugin_error_reporting

_NAME = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """Additional conditions, metrics and judges of a task."""

    name: str  # appended to the task's name: "codis+acme"
    task: str
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    measures: Mapping[str, Measure] = field(default_factory=dict)
    judges: Mapping[str, Judge] = field(default_factory=dict)


def extend(task: Task, extension: Extension) -> Task:
    """Add an extension to a task.

    Raises:
        SettingsError: If a field has a wrong type, a name is taken or invalid, a condition needs
            questions that no asset makes, or a judge is added to a task that needs none.
    """
    if mistyped := find_mistyped(extension):
        raise SettingsError(f"task {task.name}: {'; '.join(mistyped)}")
    _check_names("extension", [extension.name], task, task.extensions)
    _check_names("condition", extension.conditions, task, task.conditions)
    _check_names("measure", extension.measures, task, task.measures)
    _check_names("judge", extension.judges, task, task.judges)
    for name, condition in extension.conditions.items():
        if condition.own_questions:
            raise SettingsError(f"condition {name!r}: an extension cannot have its own questions")
    if extension.judges and not task.is_judged:
        raise SettingsError(f"{task.name} is scored without a judge. Remove the judge")
    return replace(
        task,
        conditions={**task.conditions, **extension.conditions},
        measures={**task.measures, **extension.measures},
        judges={**task.judges, **extension.judges},
        extensions=(*task.extensions, extension.name),
    )


def _check_names(kind: str, names: Iterable[str], task: Task, taken: Collection[str]) -> None:
    """Raise a ``SettingsError`` if a name is invalid, or taken in the task."""
    for name in names:
        if not _NAME.fullmatch(name):
            raise SettingsError(f"{kind} {name!r}: expected lower-case letters, digits and _")
        if name in taken:
            raise SettingsError(f"{task.name}: the {kind} {name!r} is taken. Choose another name")


def with_extensions(
    suites: Sequence[Suite], installed: Collection[str]
) -> tuple[tuple[Suite, ...], list[str]]:
    """Add the extensions of installed packages to the tasks of suites.

    Extensions of other ``installed`` suites are ignored.

    Returns:
        The suites, and a line for each extension that is left out.
    """
    plugins = find_plugins(EXTENSIONS, Extension)
    extended = {suite.name: suite for suite in suites}
    problems = [*plugins.problems]
    for name, extension in plugins.objects.items():
        try:
            with plugin_error_reporting():
                suite_name = extension.task.split("/")[0]
                if suite_name in extended:
                    extended[suite_name] = _extend_suite(
                        extended[suite_name], extension, plugins.code[name]
                    )
                elif suite_name not in installed:
                    raise UnknownNameError("suite", suite_name, installed)
        except BenchError as error:
            problems.append(
                f"{plugins.origins[name]}: extension {extension.name} is left out: {error}"
            )
    return tuple(extended.values()), problems


def _extend_suite(suite: Suite, extension: Extension, code: Path) -> Suite:
    """Add an extension to its task; ``code`` is the file or folder of its package."""
    tasks = {task.name: task for task in suite.tasks}
    if extension.task not in tasks:
        raise UnknownNameError("task", extension.task, tasks)
    tasks[extension.task] = extend(tasks[extension.task], extension)
    extended = replace(suite, tasks=tuple(tasks.values()), code=(*suite.code, code))
    if defects := suite_defects(extended):
        raise SettingsError("; ".join(defects))
    return extended
