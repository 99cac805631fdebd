"""The contract of a suite: one benchmark with its tasks, assets and settings."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, field_validator

from bench_assets.annotation.gold import GoldStep
from bench_assets.annotation.tasks import SuiteAnnotationTask
from bench_assets.core.tables.json_records import find_mistyped
from bench_assets.evaluation.outcomes import Accepted
from bench_assets.evaluation.task import RULES, Task

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_RESERVED_NAMES = (
    "checkpoint",
    "default",
    "quick_evaluation",
    "leaderboard",
    "published",
    "report",
)
"""Names of the graph's own assets, groups and jobs."""

_RESERVED_PREFIX = "evaluate_"  # a job of the suite whose name follows
_RESERVED_SUFFIXES = ("_ablation", "_ablations", "_audit")
"""Endings of further groups and jobs of a suite."""

MAX_NAME_LENGTH = 63 - len("_ablations")
"""Characters of a name: the tag of a suite's group may have 63."""


class SuiteSettings(BaseModel):
    """Settings of every suite; a suite's own settings derive from it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    judge: str = RULES
    """Judge of responses: ``"rules"``, ``"people"``, another judge of the task, a model (for the
    default judge of the task), or a judge and its model as ``"JUDGE:MODEL"``."""
    reader: str = ""
    """Model that extracts answers from responses without an explicit answer; ``"self"`` is the
    evaluated model, ``"rules"`` none. Default: the judge's model, if there is one. Not used with
    a judge that reads such responses itself, nor with another scorer than the default."""
    scorer: str = ""
    """Scorer of responses; default: that of the task."""
    accept: tuple[Accepted, ...] = ()
    """Outcomes that do not stop the metrics. ``"refused"``: permanently refused requests count as
    wrong, those to a judge leave responses unscored. ``"mixed"``: several models or snapshots
    answered under one name."""
    expect: dict[str, int] = {}
    """Number of rows that tables must have, ``{questions = 400}``. A table that lacks more than the
    share `drift` of them is not written."""


class SolverSettings(SuiteSettings):
    """Settings of a suite that solves proposed questions twice."""

    solvers: tuple[str, ...] = ()
    """Two models with different weights that check the keys of proposed questions
    ([build-a-benchmark.md](build-a-benchmark.md#gold-by-solving-twice))."""

    @field_validator("solvers")
    @classmethod
    def _two_or_none(cls, solvers: tuple[str, ...]) -> tuple[str, ...]:
        if solvers and (len(solvers) != 2 or len(set(solvers)) != 2):
            raise ValueError(f"expected two different models, got {', '.join(solvers)}")
        return solvers


AnySuiteSettings = TypeVar("AnySuiteSettings", bound=SuiteSettings)


class HomeConfiguration(Protocol):
    """Configuration of a home; ``bench_resources.config.bench_toml.Settings`` implements it."""

    @property
    def home(self) -> Path:
        """The folder."""

    def suite(self, name: str, settings_type: type[AnySuiteSettings]) -> AnySuiteSettings:
        """Read the settings of a suite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawData:
    """Raw data sets of a suite, each of which makes a partition of some of its tables."""

    folders: Mapping[str, str]  # below the source, by partition
    settings: Callable[[Any, str], object]
    """The part of the suite's settings that the tables of a partition depend on, for a digest."""
    is_in: Callable[[Path], bool]  # whether a source has raw data, or else a release


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A benchmark, shipped or from another package."""

    name: str  # the first part of its tasks' names, of its assets' keys and of its folder
    tasks: tuple[Task, ...]
    assets: Callable[[], Sequence[Any]]
    """Assets and asset checks of the dataset build, and studies; called when the suite loads."""
    published: Path | None = None  # numbers of papers, see ``core.schema.published_numbers``
    expectations: Path | None = None  # of question tables, see ``core.tables.expectations``
    settings: type[SuiteSettings] = SuiteSettings  # model of [suites.<name>] of bench.toml
    require_source: Callable[[Path], object] | None = None
    """Raises ``SourceError`` if a folder does not have the layout of the suite's source; checks
    file names only, because it runs before files are digested."""
    release: str = ""  # location of the authors' files, if their licence allows fetching
    by_hand: str = ""  # otherwise: how a person gets the files
    annotation_tasks: tuple[SuiteAnnotationTask, ...] = ()  # annotation tasks of its dataset build
    gold: GoldStep | None = None  # the step that solves proposed questions twice
    raw_data: RawData | None = None  # data sets with tables of their own
    licence: str = ""  # of the release: a URL, or the terms in words
    code: tuple[Path, ...] = ()
    """Files and folders with the code of its question tables, which a change there makes stale;
    (): the package of the module that its entry point names."""

    @property
    def every_annotation_task(self) -> tuple[SuiteAnnotationTask, ...]:
        """Its own annotation tasks, and those about responses to its tasks."""
        return (
            *self.annotation_tasks,
            *(response_task for task in self.tasks for response_task in task.response_tasks),
        )

    def active_annotation_tasks(self, named: Collection[str]) -> tuple[SuiteAnnotationTask, ...]:
        """Its annotation tasks among those ``named`` by [annotation.tasks] of bench.toml."""
        return tuple(
            annotation for annotation in self.every_annotation_task if annotation.task.name in named
        )


def suite_defects(suite: Suite) -> list[str]:
    """Find what would break the graph of all suites; only wrong types if there are any."""
    if type_defects := [*find_mistyped(suite), *_task_type_defects(suite)]:
        return type_defects
    defects = [] if suite.tasks else ["it has no tasks"]
    defects += name_defects(suite.name)
    counts = Counter(task.name for task in suite.tasks)
    defects += [f"task {name}: {n} tasks have this name" for name, n in counts.items() if n > 1]
    defects += [
        f"task {name}: lies in the folder of task {folder}"
        for name in counts
        for folder in counts
        if name.startswith(f"{folder}/")
    ]
    defects += [
        f"task {task.name}: {defect}"
        for task in suite.tasks
        for defect in _task_defects(task, suite)
    ]
    if not issubclass(suite.settings, SuiteSettings):
        defects.append(f"settings: {suite.settings.__name__} does not derive from SuiteSettings")
    defects += [
        f"{name}: no such file: {file}"
        for name, file in (("published", suite.published), ("expectations", suite.expectations))
        if file and not file.is_file()
    ]
    defects += [f"annotation_tasks: {defect}" for defect in _annotation_task_defects(suite)]
    defects += [f"code: no such file or folder: {path}" for path in suite.code if not path.exists()]
    return defects


def _task_type_defects(suite: Suite) -> Iterator[str]:
    tasks = suite.tasks if isinstance(suite.tasks, tuple | list) else ()
    for task in tasks:
        if not isinstance(task, Task):  # a defect of the suite
            continue
        defects = find_mistyped(task)
        if not defects:
            defects = [
                f"condition {name!r}, {defect}"
                for name, condition in task.conditions.items()
                for defect in find_mistyped(condition)
            ]
        yield from (f"task {task.name}: {defect}" for defect in defects)


def name_defects(name: str) -> list[str]:
    """Find why a name is not valid for a suite."""
    defects = []
    if (
        not _NAME.fullmatch(name)
        or name.startswith(_RESERVED_PREFIX)
        or name.endswith(_RESERVED_SUFFIXES)
    ):
        defects.append(
            "name: expected letters, digits and _, no digit first, not beginning with"
            f" {_RESERVED_PREFIX} or ending in {', '.join(_RESERVED_SUFFIXES)}"
        )
    if len(name) > MAX_NAME_LENGTH:
        defects.append(f"name: {len(name)} characters (expected at most {MAX_NAME_LENGTH})")
    if name in _RESERVED_NAMES:
        defects.append(f"name: the graph itself uses {', '.join(_RESERVED_NAMES)}")
    return defects


def _annotation_task_defects(suite: Suite) -> list[str]:
    """Find defects that keep an annotation task out of the graph."""
    counts = Counter(task.table("answers") for task in suite.annotation_tasks)
    defects = [f"{n} have the table {key}" for key, n in counts.items() if n > 1]
    for task in suite.annotation_tasks:
        name = task.task.name
        suite_name, *names = name.split("/")
        is_valid = all(map(_NAME.fullmatch, [suite_name, *names]))
        if suite_name != suite.name or not names or not is_valid:
            defects.append(f"{name}: expected {suite.name}/ and a name of letters, digits and _")
        defects += [
            f"{name}, field {field.name!r}: expected letters, digits and _, no digit first"
            for field in task.task.fields
            if not _NAME.fullmatch(field.name)
        ]
    return defects


def _task_defects(task: Task, suite: Suite) -> list[str]:
    """Find defects of a task whose fields have the right types."""
    defects = []
    suite_name, *names = task.name.split("/")
    if suite_name != suite.name:
        defects.append(f"its name should begin with {suite.name!r}")
    defects += [
        f"{name!r}: expected letters, digits and _, no digit first"
        for name in (*names, *task.conditions)
        if not _NAME.fullmatch(name)
    ]
    if next(iter(task.conditions), "") != "main":
        defects.append(f"its first condition should be 'main', got {list(task.conditions)}")
    defects += [
        f"it has no {kind}"
        for kind, entries in (("scorer", task.scorers), ("measure", task.measures))
        if not entries
    ]
    return defects
