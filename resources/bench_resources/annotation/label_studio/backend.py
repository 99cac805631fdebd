"""Annotation backend over Label Studio.

Brings the server's tasks to their wanted state; an interrupted call is completed by the next one.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from bench_assets.annotation.answers.validation import AnswerValidator, latest_answers
from bench_assets.annotation.tasks import (
    AnnotationTask,
    Answer,
    Unit,
    UnitCounts,
    by_id,
)
from bench_assets.core.images.orientation import read_frame
from bench_assets.core.schema.errors import ImageError
from bench_resources.annotation.label_studio.client import (
    LabelStudio,
    LabelStudioTask,
    Project,
    current,
    projects_of,
    settings_differ,
    settings_of,
)
from bench_resources.annotation.label_studio.record import Record, TaskRequest, UnitRequest
from bench_resources.annotation.label_studio.server import export_images
from bench_resources.annotation.label_studio.units import (
    TOOL,
    Pseudonyms,
    annotations_of,
    answers_of,
    label_config,
    matches_digest,
    task_of,
    unit_of,
)
from bench_resources.images.locations import ImageLocation
from bench_resources.storage.locks import hold_locks


class _ImportedTask(NamedTuple):
    """An imported task of the present or an earlier version."""

    task: LabelStudioTask
    unit_id: str
    digest: str
    intact: bool  # whether its data are unchanged
    wanted: bool  # whether it shows a present unit

    @property
    def rank(self) -> tuple[int, int]:
        """Sort key of a unit's tasks: more answers, then the lower number, rank higher."""
        return self.task.answers, -self.task.number


@dataclass(frozen=True, slots=True)
class TaskPublisher:
    """Publishes the units of one annotation task."""

    server: LabelStudio
    annotation_task: AnnotationTask
    home: Path
    images: ImageLocation
    before: TaskRequest | None  # as recorded by the last call

    def ask(self, wanted: Mapping[str, Unit]) -> tuple[UnitCounts, TaskRequest | None]:
        """Import missing units, hide unwanted ones, and return the present ones."""
        units = list(wanted.values())
        config = label_config(self.annotation_task)
        projects = projects_of(self.server, self.annotation_task)
        project = current(self.annotation_task, projects)
        if not units and not projects:
            return UnitCounts(new=0, there=0, changed=0, withdrawn=0), None
        imported = self._tasks(project.number, wanted) if project else []
        earlier = [one for one in projects if one is not project and one.is_open]
        earlier_tasks = [task for one in earlier for task in self._tasks(one.number, {})]
        closed = project is not None and not project.is_open
        counts = _counts(
            wanted,
            imported,
            [one for one in [*imported, *earlier_tasks] if one.task.overlap or closed],
        )
        number, is_changed = self._prepare(project, config, units)
        new = _missing(wanted, imported)
        self.server.add(number, [task_of(unit, self.annotation_task) for unit in new])
        if new or is_changed:
            imported = self._tasks(number, wanted)
        tasks = self._set_overlaps(wanted, imported)
        for one in earlier:
            self.server.change(one.number, {"maximum_annotations": 0})
        return counts, TaskRequest(project=number, closed=not units, tasks=tasks)

    def _tasks(self, project: int, wanted: Mapping[str, Unit]) -> list[_ImportedTask]:
        return [
            _ImportedTask(task, *self._told(task, wanted)) for task in self.server.tasks(project)
        ]

    def _told(
        self, task: LabelStudioTask, wanted: Mapping[str, Unit]
    ) -> tuple[str, str, bool, bool]:
        """Id and digest of a task's unit, whether its data are intact, and whether it may stay."""
        try:
            unit = unit_of(self.annotation_task, task.data)
        except (KeyError, TypeError, ValueError, AttributeError):
            return "", "", False, False
        intact = matches_digest(self.annotation_task, unit, task.data)
        now = wanted.get(unit.unit_id)
        stays = intact and now is not None and now.digest == unit.digest
        if stays and now is not None and not task.answers:  # another proposal may be shown
            before, after = ((one.proposal, one.proposed_by) for one in (unit, now))
            stays = before == after
        return unit.unit_id, unit.digest, intact, stays

    def _prepare(
        self, project: Project | None, config: str, units: Sequence[Unit]
    ) -> tuple[int, bool]:
        """Create or update the project; returns its number, and whether it changed."""
        needed = Counter(unit.needed for unit in units).most_common(1)
        settings = settings_of(
            self.annotation_task,
            config,
            needed[0][0] if needed else 0,
            proposals=any(unit.proposal for unit in units),
        )
        is_changed = project is None or settings_differ(settings, project)
        if project is None:
            number = self.server.create(settings)
        else:
            number = project.number
            if is_changed:
                self.server.change(number, settings)
        if digests := [sha for unit in units for sha in unit.images.values()]:
            self.server.share(number, str(export_images(self.home, self.images, digests)))
        return number, is_changed

    def _set_overlaps(
        self, wanted: Mapping[str, Unit], imported: Iterable[_ImportedTask]
    ) -> dict[str, UnitRequest]:
        """Show each unit's task to the number of annotators it needs, and hide all other tasks."""
        by_unit: dict[str, list[_ImportedTask]] = defaultdict(list)
        for one in imported:
            by_unit[one.unit_id if one.wanted else ""].append(one)
        tasks = {}
        for name, unit in wanted.items():
            kept, *others = sorted(by_unit[name], key=lambda one: one.rank, reverse=True)
            by_unit[""] += others
            tasks[name] = unit_request = self._asked(unit, kept.task)
            if kept.task.overlap != unit_request.overlap:
                self.server.show(kept.task.number, unit_request.overlap, again=kept.task.is_labeled)
        for one in by_unit[""]:
            if one.task.overlap:
                self.server.show(one.task.number, 0, again=False)
        return tasks

    def _asked(self, unit: Unit, task: LabelStudioTask) -> UnitRequest:
        """Wanted state of a task; added annotators stay added."""
        now = UnitRequest(
            digest=unit.digest,
            task=task.number,
            overlap=unit.needed,
            needed=unit.needed,
            barred=unit.barred,
        )
        before = self.before.tasks.get(unit.unit_id) if self.before else None
        if before is None or (before.task, before.digest) != (task.number, unit.digest):
            return now
        return replace(now, overlap=max(before.overlap + unit.needed - before.needed, 1))


def _missing(wanted: Mapping[str, Unit], imported: Iterable[_ImportedTask]) -> list[Unit]:
    existing = {one.unit_id for one in imported if one.wanted}
    return [unit for name, unit in wanted.items() if name not in existing]


def _counts(
    wanted: Mapping[str, Unit], imported: Iterable[_ImportedTask], visible: Iterable[_ImportedTask]
) -> UnitCounts:
    """Count the units to publish, change and withdraw.

    Args:
        wanted: The units by id.
        imported: Tasks of the present version.
        visible: Tasks of any version that are shown to annotators.
    """
    as_they_are = {(one.unit_id, one.digest) for one in imported if one.intact}
    unchanged = {name for name, unit in wanted.items() if (name, unit.digest) in as_they_are}
    known = {one.unit_id for one in visible if one.unit_id}
    is_changed = (wanted.keys() - unchanged) & known
    return UnitCounts(
        new=len(wanted) - len(unchanged) - len(is_changed),
        there=len(unchanged),
        changed=len(is_changed),
        withdrawn=len(known - wanted.keys()),
    )


_log = logging.getLogger("bench_assets.annotation.answers")


@dataclass(frozen=True, slots=True)
class LabelStudioBackend:
    """The annotation backend of a Label Studio server.

    For each answer that does not count (by the unit's author, invalid, or changed by another
    account), reading the answers shows the unit to one more annotator.
    """

    server: LabelStudio
    names: Mapping[str, str]  # e-mail address -> pseudonym
    home: Path
    images: ImageLocation

    def ask(self, annotation_task: AnnotationTask, units: Sequence[Unit]) -> UnitCounts:
        """Import missing units, and hide unwanted ones."""
        wanted = by_id(annotation_task, units)
        record = self._record(annotation_task)
        with self._alone(annotation_task):
            publisher = TaskPublisher(
                self.server, annotation_task, self.home, self.images, record.asking()
            )
            counts, request = publisher.ask(wanted)
            if request:
                record.write(request)
        return counts

    def answers(self, annotation_task: AnnotationTask) -> list[Answer]:
        """Read every answer to any version of the task; deleted ones have a complaint."""
        with self._alone(annotation_task):
            projects = projects_of(self.server, annotation_task)
            pseudonyms = Pseudonyms(self.server.accounts() if projects else {}, self.names)
            exports = {one.number: self.server.export(one.number) for one in projects}
            said = [
                answer
                for number, tasks in exports.items()
                for task in tasks
                for answer in answers_of(annotation_task, number, task, pseudonyms, self._size)
            ]
            merged = self._record(annotation_task).merge_seen(said, exports)
            self._request_more_answers(annotation_task, exports, said)
        return sorted(merged, key=lambda a: (a.unit_id, a.unit_digest, a.person, a.changed_at))

    def _size(self, sha256: str) -> tuple[int, int] | None:
        """Width and height of an upright image, px; None if it cannot be read."""
        try:
            return read_frame(self.images.read(sha256)).shown
        except ImageError:
            return None

    def close(self, annotation_task: AnnotationTask) -> None:
        """Hide all units, with one call per project."""
        with self._alone(annotation_task):
            for project in projects_of(self.server, annotation_task):
                if project.is_open:
                    self.server.change(project.number, {"maximum_annotations": 0})
            if asking := self._record(annotation_task).asking():
                self._record(annotation_task).write(replace(asking, closed=True))

    def _record(self, annotation_task: AnnotationTask) -> Record:
        return Record(self.home / "annotation" / TOOL / annotation_task.name)

    def _alone(self, annotation_task: AnnotationTask) -> AbstractContextManager[None]:
        """Lock out other processes, which would import the same tasks."""
        return hold_locks(
            self.home / "annotation" / TOOL / "locks", [annotation_task.name], _log.info
        )

    def _request_more_answers(
        self,
        annotation_task: AnnotationTask,
        exports: Mapping[int, Sequence[Mapping[str, Any]]],
        answers: Iterable[Answer],
    ) -> None:
        """Show units to more annotators if some answers do not count."""
        request = self._record(annotation_task).asking()
        if request is None or request.closed:
            return
        by_unit: dict[tuple[str, str], list[Answer]] = defaultdict(list)
        for answer in answers:
            by_unit[answer.unit_id, answer.unit_digest].append(answer)
        updated = {}
        for task in exports.get(request.project, ()):
            if wanted := _updated_request(annotation_task, task, request, by_unit):
                updated[wanted[0]] = wanted[1]
                self.server.show(wanted[1].task, wanted[1].overlap, again=True)
        if updated:
            self._record(annotation_task).write(
                replace(request, tasks={**request.tasks, **updated})
            )


def _updated_request(
    annotation_task: AnnotationTask,
    task: Mapping[str, Any],
    request: TaskRequest,
    by_unit: Mapping[tuple[str, str], Sequence[Answer]],
) -> tuple[str, UnitRequest] | None:
    """Wanted number of annotators of a task, if it differs, with its unit."""
    try:
        unit = unit_of(annotation_task, task["data"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    unit_request = request.tasks.get(unit.unit_id)
    if unit_request is None or (unit_request.task, unit_request.digest) != (
        task.get("id"),
        unit.digest,
    ):
        return None
    unit = replace(unit, barred=unit_request.barred)
    latest = latest_answers(by_unit[unit.unit_id, unit.digest])
    validator = AnswerValidator(annotation_task, {unit.unit_id: unit})
    counted = {one.person for one in latest if not validator.find_complaint(one)}
    lacking = unit_request.needed - len(counted)
    n_submitted = sum(1 for one in annotations_of(task) if not one.get("was_cancelled"))
    if lacking <= 0 or n_submitted + lacking == unit_request.overlap:
        return None
    return unit.unit_id, replace(unit_request, overlap=n_submitted + lacking)
