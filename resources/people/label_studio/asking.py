"""Makes the tasks of a form what they should be; each step finishes what an earlier call left."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from bench_assets.people.forms import Form, Item
from bench_assets.people.port import Asked
from resources.people.label_studio.client import LabelStudio, Task
from resources.people.label_studio.pictures import shared_pictures
from resources.people.label_studio.projects import (
    Project,
    changed,
    current,
    projects_of,
    settings_of,
)
from resources.people.label_studio.record import AskedTask, Asking
from resources.people.label_studio.tasks import is_as_asked, item_of, task_of
from resources.people.label_studio.xml import label_config
from resources.pictures.places import PicturePlace


class _There(NamedTuple):
    """A task of ours, of the form as it is now or as it was."""

    task: Task
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
    pictures: PicturePlace
    before: Asking | None  # what was asked from here

    def ask(self, items: Sequence[Item]) -> tuple[Asked, Asking | None]:
        """Import what is not there, show what is not wanted to nobody; what is asked now."""
        config = label_config(self.form)
        projects = projects_of(self.server, self.form)
        project = current(self.form, projects)
        if not items and not projects:
            return Asked(new=0, there=0, changed=0, withdrawn=0), None
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
        return asked, Asking(project=number, closed=not items, tasks=tasks)

    def _tasks(self, project: int, wanted: Mapping[str, Item]) -> list[_There]:
        return [_There(task, *self._told(task, wanted)) for task in self.server.tasks(project)]

    def _told(self, task: Task, wanted: Mapping[str, Item]) -> tuple[str, str, bool, bool]:
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
        self, project: Project | None, config: str, items: Sequence[Item]
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
        if shown := [sha for item in items for sha in item.pictures.values()]:
            self.server.share(number, str(shared_pictures(self.home, self.pictures, shown)))
        return number, is_changed

    def _show(self, wanted: Mapping[str, Item], here: Iterable[_There]) -> dict[str, AskedTask]:
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

    def _asked(self, item: Item, task: Task) -> AskedTask:
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


def _missing(wanted: Mapping[str, Item], here: Iterable[_There]) -> list[Item]:
    there = {one.item_id for one in here if one.wanted}
    return [item for name, item in wanted.items() if name not in there]


def _counts(wanted: Mapping[str, Item], here: Iterable[_There], shown: Iterable[_There]) -> Asked:
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
    return Asked(
        new=len(wanted) - len(there) - len(is_changed),
        there=len(there),
        changed=len(is_changed),
        withdrawn=len(known - wanted.keys()),
    )
