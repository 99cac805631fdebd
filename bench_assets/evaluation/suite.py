"""The contract of a suite: one benchmark with its tasks, assets and settings."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict

from bench_assets.annotation.tasks import SuiteAnnotationTask
from bench_assets.core.schema.published_numbers import Claim
from bench_assets.core.schema.rows import Metric, Prediction, Question
from bench_assets.core.tables.json_records import mistyped
from bench_assets.evaluation.outcomes import Accepted
from bench_assets.evaluation.task import RULES, Task

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_TAKEN = (
    *("checkpoint", "claims", "default", "expectations", "quick_evaluation", "leaderboard"),
    *("leaderboard_export", "published", "report"),
)
"""Names that the graph has given to assets, groups and jobs of its own."""

_ENDS = ("_ablations", "_audit")  # of groups beside a suite's


class SuiteSettings(BaseModel):
    """Settings of every suite; a suite's own settings derive from it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    judge: str = RULES
    """``"rules"``, ``"people"``, another judge of the task, a model of this file for the default
    judge, or ``"NAME:MODEL"``."""
    scorer: str = ""
    """Scorer of responses; default: the suite's."""
    review: str = ""
    """File of reviewed responses, which count as their reviewers read them (`bench annotate
    review`)."""
    accept: tuple[Accepted, ...] = ()
    """Outcomes that stop no number: `refused`, requests that a provider refuses for good, which
    count as wrong; `mixed`, several models or snapshots that answered behind one name."""


AnySuiteSettings = TypeVar("AnySuiteSettings", bound=SuiteSettings)


class HomeConfiguration(Protocol):
    """Configuration of a home folder; ``resources.config.bench_toml.Settings`` implements it."""

    @property
    def home(self) -> Path:
        """The folder."""
        ...

    def suite(self, name: str, settings_type: type[AnySuiteSettings]) -> AnySuiteSettings:
        """Read the settings of a suite."""
        ...


MeasureBeside: TypeAlias = Callable[
    [HomeConfiguration, str, Sequence[Question], Sequence[Prediction]], list[Metric]
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A benchmark, shipped or from another package."""

    name: str  # the first part of its tasks' names, of its assets' keys and of its folder
    tasks: tuple[Task, ...]
    assets: Callable[[], Sequence[Any]]
    """Assets and asset checks left of the waist, and studies; called when the suite is loaded."""
    published: Path | None = None  # the papers' numbers, see ``core.published``
    settings: type[SuiteSettings] = SuiteSettings  # what [suites.<name>] of bench.toml may say
    require_source: Callable[[Path], object] | None = None
    """Raises a ``SourceError`` where a folder is not laid out as a source of the suite; looks at
    names of files only, since it is asked before anything is digested."""
    release: str = ""  # where its authors' files are, if their licence lets anybody fetch them
    by_hand: str = ""  # what a person has to do to get them where it does not
    annotation_tasks: tuple[
        SuiteAnnotationTask, ...
    ] = ()  # what people are asked when its questions are made
    claims: tuple[Claim, ...] = ()  # what its paper says, to be tried; see ``core.claims``
    licence: str = ""  # of the release: its address, or its terms in words
    code: tuple[Path, ...] = ()
    """Files and folders that its question tables are made by: a change there builds them anew. None
    named: the package of the module that its entry point names."""
    measured_beside: Mapping[str, MeasureBeside] = field(default_factory=dict)
    """By task: what is measured of one model's responses with more than their scores.

    An encoder say;
    for responses that were made elsewhere. The suite has it as an asset as well."""

    @property
    def every_annotation_task(self) -> tuple[SuiteAnnotationTask, ...]:
        """Its own annotation tasks, and those about responses to its tasks."""
        return (
            *self.annotation_tasks,
            *(one for task in self.tasks for one in task.response_tasks),
        )

    def annotation_tasks_asked(self, named: Collection[str]) -> tuple[SuiteAnnotationTask, ...]:
        """Its annotation tasks that are configured.

        Args:
            named: Names of tasks: the sections ``[annotation.tasks]`` of bench.toml.
        """
        return tuple(one for one in self.every_annotation_task if one.task.name in named)


def defects(suite: Suite) -> list[str]:
    """Defects of a suite, each of which would break the graph of all suites."""
    if unfit := [*mistyped(suite), *_mistyped_in(suite)]:
        return unfit
    found = [] if suite.tasks else ["it has no tasks"]
    found += name_defects(suite.name)
    times = Counter(task.name for task in suite.tasks)
    found += [f"task {name}: there are {n} of this name" for name, n in times.items() if n > 1]
    found += [
        f"task {name}: lies in the folder of task {other}"
        for name in times
        for other in times
        if name.startswith(f"{other}/")
    ]
    found += [f"task {task.name}: {why}" for task in suite.tasks for why in _lacks(task, suite)]
    if not issubclass(suite.settings, SuiteSettings):
        found.append(f"settings: {suite.settings.__name__} does not derive from SuiteSettings")
    if suite.published and not suite.published.is_file():
        found.append(f"published: there is no file {suite.published}")
    found += [f"claims: {why}" for why in _claim_defects(suite)]
    found += [f"forms: {why}" for why in _annotation_task_defects(suite)]
    found += [f"code: there is nothing at {path}" for path in suite.code if not path.exists()]
    return found


def _mistyped_in(suite: Suite) -> Iterator[str]:
    """Fields of a wrong type in tasks and conditions."""
    tasks = suite.tasks if isinstance(suite.tasks, tuple | list) else ()
    for task in tasks:
        if isinstance(task, Task):
            unfit = mistyped(task)
            conditions = task.conditions.items() if not unfit else ()
            unfit += [
                f"condition {name!r}, {why}" for name, one in conditions for why in mistyped(one)
            ]
            yield from (f"task {task.name}: {why}" for why in unfit)


def name_defects(name: str) -> list[str]:
    """Find why a name is not valid for a suite."""
    found = []
    if not _NAME.fullmatch(name) or name.endswith(_ENDS):
        found.append(
            "name: expected letters, digits and _, no digit first, at last none of"
            f" {', '.join(_ENDS)}"
        )
    if name in _TAKEN:
        found.append(f"name: the graph has other uses for {', '.join(_TAKEN)}")
    return found


def _annotation_task_defects(suite: Suite) -> list[str]:
    """Defects that keep an annotation task out of the graph."""
    times = Counter(one.table("answers") for one in suite.annotation_tasks)
    found = [f"there are {n} with the table {key}" for key, n in times.items() if n > 1]
    for one in suite.annotation_tasks:
        name = one.task.name
        parts = name.split("/")
        if parts[0] != suite.name or len(parts) < 2 or not all(map(_NAME.fullmatch, parts)):
            found.append(f"{name}: expected {suite.name}/ and a name of letters, digits and _")
        found += [
            f"{name}, field {field.name!r}: expected letters, digits and _, no digit first"
            for field in one.task.fields
            if not _NAME.fullmatch(field.name)
        ]
    return found


def _claim_defects(suite: Suite) -> list[str]:
    """Defects of a claim: tables that no asset makes."""
    times = Counter(claim.name for claim in suite.claims)
    found = [f"there are {n} of the name {name}" for name, n in times.items() if n > 1]
    conditions = {task.name: task.conditions for task in suite.tasks}
    for claim in suite.claims:
        for cell in [one for t in claim.terms for one in (t.cell, t.cell.here) if one]:
            if cell.task not in conditions:
                found.append(f"{claim.name}: there is no task {cell.task!r}")
            elif cell.condition not in conditions[cell.task]:
                found.append(f"{claim.name}: {cell.task} has no condition {cell.condition!r}")
    return found


def _lacks(task: Task, suite: Suite) -> list[str]:
    found = []
    whose, *parts = task.name.split("/")
    if whose != suite.name:
        found.append(f"its name should begin with {suite.name!r}")
    found += [
        f"{part!r}: expected letters, digits and _, no digit first"
        for part in (*parts, *task.conditions)
        if not _NAME.fullmatch(part)
    ]
    if next(iter(task.conditions), "") != "main":
        found.append(f"its first condition should be 'main', of {list(task.conditions)}")
    found += [
        f"it has no {what}"
        for what, some in (("scorer", task.scorers), ("measure", task.measures))
        if not some
    ]
    return found
