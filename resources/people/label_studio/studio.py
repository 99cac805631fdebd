"""The port over a Label Studio: what it does not know, check or keep is done here."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench_assets.people.counted import last_words
from bench_assets.people.fitting import complaint_of
from bench_assets.people.forms import Answer, Form, Item
from bench_assets.people.port import Asked, PeopleError
from resources.home.locks import locked
from resources.people.label_studio.asking import Asker
from resources.people.label_studio.client import LabelStudio
from resources.people.label_studio.projects import projects_of
from resources.people.label_studio.record import AskedTask, Asking, Record
from resources.people.label_studio.results import (
    TOOL,
    Pseudonyms,
    annotations_of,
    answers_of,
)
from resources.people.label_studio.tasks import item_of
from resources.pictures.places import PicturePlace

_log = logging.getLogger("bench_assets.people")


@dataclass(frozen=True, slots=True)
class LabelStudioPeople:
    """People who answer in a Label Studio.

    What it takes for an answer and does not count (an author's own vote, a misfit, one that
    somebody else changed) is asked of one person more, when answers are read.
    """

    server: LabelStudio
    names: Mapping[str, str]  # pseudonym by address
    home: Path
    pictures: PicturePlace

    def ask(self, form: Form, items: Sequence[Item]) -> Asked:
        """Import what is not there, and show what is not wanted to nobody."""
        ids = Counter(item.item_id for item in items)
        if len(ids) < len(items):
            twice = next(name for name, n in ids.items() if n > 1)
            raise PeopleError(f"{form.name}: {twice!r} is the id of two items")
        record = self._record(form)
        with self._alone(form):
            asker = Asker(self.server, form, self.home, self.pictures, record.asking())
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
        return locked(self.home / "people" / TOOL / "locks", [form.name], _log.info)

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
    asking: Asking,
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
