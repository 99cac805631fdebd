"""Annotation backend over Label Studio.

Makes the tasks of a form what they should be; each step finishes what an earlier call left.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from bench_assets.annotation.answers.resolution import last_words
from bench_assets.annotation.answers.validation import complaint_of
from bench_assets.annotation.tasks.backend import PeopleError, UnitCounts
from bench_assets.annotation.tasks.forms import Answer, Form, Unit
from resources.annotation.label_studio.client import LabelStudio, LabelStudioTask
from resources.annotation.label_studio.projects import (
    Project,
    changed,
    current,
    projects_of,
    settings_of,
)
from resources.annotation.label_studio.record import AskedTask, FormRequest, Record
from resources.annotation.label_studio.results import TOOL, Pseudonyms, annotations_of, answers_of
from resources.annotation.label_studio.server import shared_images
from resources.annotation.label_studio.units import is_as_asked, item_of, label_config, task_of
from resources.images.locations import ImageLocation
from resources.storage.locks import hold_locks


class _There(NamedTuple):
    """A task of ours, of the form as it is now or as it was."""

    task: LabelStudioTask
    item_id: str
    digest: str
    intact: bool  # whether it shows what it says
    wanted: bool  # whether it shows what is asked now

    @property
    def rank(self) -> tuple[int, int]:
        """Of several tasks of an item the one with most answers is kept, then the first."""
        return self.task.answers, -self.task.number


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks the items of one form."""

    server: LabelStudio
    form: Form
    home: Path
    images: ImageLocation
    before: FormRequest | None  # what was asked from here

    def ask(self, items: Sequence[Unit]) -> tuple[UnitCounts, FormRequest | None]:
        """Import what is not there, show what is not wanted to nobody; what is asked now."""
        config = label_config(self.form)
        projects = projects_of(self.server, self.form)
        project = current(self.form, projects)
        if not items and not projects:
            return UnitCounts(new=0, there=0, changed=0, withdrawn=0), None
        wanted = {item.item_id: item for item in items}
        here = self._tasks(project.number, wanted) if project else []
        earlier = [one for one in projects if one is not project and one.is_open]
        there = [task for one in earlier for task in self._tasks(one.number, {})]
        closed = project is not None and not project.is_open
        asked = _counts(
            wanted, here, [one for one in [*here, *there] if one.task.overlap or closed]
        )
        number, is_changed = self._prepared(project, config, items)
        new = _missing(wanted, here)
        self.server.add(number, [task_of(item, self.form) for item in new])
        if new or is_changed:
            here = self._tasks(number, wanted)
        tasks = self._show(wanted, here)
        for one in earlier:
            self.server.change(one.number, {"maximum_annotations": 0})
        return asked, FormRequest(project=number, closed=not items, tasks=tasks)

    def _tasks(self, project: int, wanted: Mapping[str, Unit]) -> list[_There]:
        return [_There(task, *self._told(task, wanted)) for task in self.server.tasks(project)]

    def _told(
        self, task: LabelStudioTask, wanted: Mapping[str, Unit]
    ) -> tuple[str, str, bool, bool]:
        """Which item a task is of, whether it shows it, and whether it may stay as it is."""
        try:
            item = item_of(self.form, task.data)
        except (KeyError, TypeError, ValueError, AttributeError):
            return "", "", False, False
        intact = is_as_asked(self.form, item, task.data)
        now = wanted.get(item.item_id)
        stays = intact and now is not None and now.digest == item.digest
        if stays and now is not None and not task.answers:  # another proposal may be shown
            before, after = ((one.proposal, one.proposed_by) for one in (item, now))
            stays = before == after
        return item.item_id, item.digest, intact, stays

    def _prepared(
        self, project: Project | None, config: str, items: Sequence[Unit]
    ) -> tuple[int, bool]:
        """Make the project, or make it what it should be; its number, and whether it was not."""
        needed = Counter(item.needed for item in items).most_common(1)
        settings = settings_of(
            self.form,
            config,
            needed[0][0] if needed else 0,
            proposals=any(item.proposal for item in items),
        )
        is_changed = project is None or changed(settings, project)
        if project is None:
            number = self.server.create(settings)
        else:
            number = project.number
            if is_changed:
                self.server.change(number, settings)
        if shown := [sha for item in items for sha in item.images.values()]:
            self.server.share(number, str(shared_images(self.home, self.images, shown)))
        return number, is_changed

    def _show(self, wanted: Mapping[str, Unit], here: Iterable[_There]) -> dict[str, AskedTask]:
        """Show each item's task to as many people as it needs, all others to nobody."""
        by_item: dict[str, list[_There]] = defaultdict(list)
        for one in here:
            by_item[one.item_id if one.wanted else ""].append(one)
        tasks = {}
        for name, item in wanted.items():
            kept, *others = sorted(by_item[name], key=lambda one: one.rank, reverse=True)
            by_item[""] += others
            tasks[name] = asked = self._asked(item, kept.task)
            if kept.task.overlap != asked.overlap:
                self.server.show(kept.task.number, asked.overlap, again=kept.task.is_labeled)
        for one in by_item[""]:
            if one.task.overlap:
                self.server.show(one.task.number, 0, again=False)
        return tasks

    def _asked(self, item: Unit, task: LabelStudioTask) -> AskedTask:
        """What is wanted of a task; people that were added before stay added."""
        now = AskedTask(
            digest=item.digest,
            task=task.number,
            overlap=item.needed,
            needed=item.needed,
            barred=item.barred,
        )
        before = self.before.tasks.get(item.item_id) if self.before else None
        if before is None or (before.task, before.digest) != (task.number, item.digest):
            return now
        overlap = max(before.overlap + item.needed - before.needed, 1)
        return replace(now, overlap=overlap, more=before.more)


def _missing(wanted: Mapping[str, Unit], here: Iterable[_There]) -> list[Unit]:
    there = {one.item_id for one in here if one.wanted}
    return [item for name, item in wanted.items() if name not in there]


def _counts(
    wanted: Mapping[str, Unit], here: Iterable[_There], shown: Iterable[_There]
) -> UnitCounts:
    """Count what will come of asking.

    Args:
        wanted: The items by id.
        here: The tasks of the form as it is now.
        shown: Those of them and of earlier versions of the form that people are shown.
    """
    as_they_are = {(one.item_id, one.digest) for one in here if one.intact}
    there = {name for name, item in wanted.items() if (name, item.digest) in as_they_are}
    known = {one.item_id for one in shown if one.item_id}
    is_changed = (wanted.keys() - there) & known
    return UnitCounts(
        new=len(wanted) - len(there) - len(is_changed),
        there=len(there),
        changed=len(is_changed),
        withdrawn=len(known - wanted.keys()),
    )


_log = logging.getLogger("bench_assets.annotation.answers")


@dataclass(frozen=True, slots=True)
class LabelStudioPeople:
    """People who answer in a Label Studio.

    What it takes for an answer and does not count (an author's own vote, a misfit, one that
    somebody else changed) is asked of one person more, when answers are read.
    """

    server: LabelStudio
    names: Mapping[str, str]  # pseudonym by address
    home: Path
    images: ImageLocation

    def ask(self, form: Form, items: Sequence[Unit]) -> UnitCounts:
        """Import what is not there, and show what is not wanted to nobody."""
        ids = Counter(item.item_id for item in items)
        if len(ids) < len(items):
            twice = next(name for name, n in ids.items() if n > 1)
            raise PeopleError(f"{form.name}: {twice!r} is the id of two items")
        record = self._record(form)
        with self._alone(form):
            asker = Asker(self.server, form, self.home, self.images, record.asking())
            asked, asking = asker.ask(items)
            if asking:
                record.write(asking)
        return asked

    def answers(self, form: Form) -> list[Answer]:
        """Read every answer to any version of the form; what was deleted has a complaint."""
        with self._alone(form):
            projects = projects_of(self.server, form)
            who = Pseudonyms(self.server.accounts() if projects else {}, self.names)
            exports = {one.number: self.server.export(one.number) for one in projects}
            said = [
                answer
                for number, tasks in exports.items()
                for task in tasks
                for answer in answers_of(form, number, task, who)
            ]
            whole = self._record(form).with_seen(said, exports)
            self._ask_more(form, exports, said)
        return sorted(whole, key=lambda a: (a.item_id, a.item_digest, a.person, a.changed_at))

    def reopen(self, form: Form, item_id: str) -> None:
        """Show an item to one person more."""
        with self._alone(form):
            asking = self._record(form).asking()
            task = asking.tasks.get(item_id) if asking else None
            if asking is None or task is None:
                raise PeopleError(f"{form.name}: {item_id!r} is not asked")
            more = replace(task, overlap=task.overlap + 1, more=task.more + 1)
            self.server.show(task.task, more.overlap, again=True)
            self._record(form).write(replace(asking, tasks={**asking.tasks, item_id: more}))

    def close(self, form: Form) -> None:
        """Show nobody any more, with one call for each project."""
        with self._alone(form):
            for project in projects_of(self.server, form):
                if project.is_open:
                    self.server.change(project.number, {"maximum_annotations": 0})
            if asking := self._record(form).asking():
                self._record(form).write(replace(asking, closed=True))

    def _record(self, form: Form) -> Record:
        return Record(self.home / "people" / TOOL / form.name)

    def _alone(self, form: Form) -> AbstractContextManager[None]:
        """Let no other process ask or read at the same time: each would import the same tasks."""
        return hold_locks(self.home / "people" / TOOL / "locks", [form.name], _log.info)

    def _ask_more(
        self, form: Form, exports: Mapping[int, Sequence[Mapping[str, Any]]], said: Iterable[Answer]
    ) -> None:
        """Show items to more people where not all answers count."""
        asking = self._record(form).asking()
        if asking is None or asking.closed:
            return
        by_item: dict[tuple[str, str], list[Answer]] = defaultdict(list)
        for answer in said:
            by_item[answer.item_id, answer.item_digest].append(answer)
        shown = {}
        for task in exports.get(asking.project, ()):
            if wanted := _wanted(form, task, asking, by_item):
                shown[wanted[0]] = wanted[1]
                self.server.show(wanted[1].task, wanted[1].overlap, again=True)
        if shown:
            self._record(form).write(replace(asking, tasks={**asking.tasks, **shown}))


def _wanted(
    form: Form,
    task: Mapping[str, Any],
    asking: FormRequest,
    by_item: Mapping[tuple[str, str], Sequence[Answer]],
) -> tuple[str, AskedTask] | None:
    """To how many people a task should be shown, if not to as many as it is; and its item."""
    try:
        item = item_of(form, task["data"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    asked = asking.tasks.get(item.item_id)
    if asked is None or (asked.task, asked.digest) != (task.get("id"), item.digest):
        return None
    item = replace(item, barred=asked.barred)
    said = last_words(by_item[item.item_id, item.digest])
    counted = {one.person for one in said if not complaint_of(one, form, {item.item_id: item})}
    lacking = asked.needed + asked.more - len(counted)
    there = sum(1 for one in annotations_of(task) if not one.get("was_cancelled"))
    if lacking <= 0 or there + lacking == asked.overlap:
        return None
    return item.item_id, replace(asked, overlap=there + lacking)
