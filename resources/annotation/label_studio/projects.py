"""Projects of an annotation task: each version of a task has its own project."""

import html
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from bench_assets.annotation.tasks import AnnotationTask
from resources.annotation.label_studio.client import LabelStudio
from resources.annotation.label_studio.units import PROPOSALS

_NAME, _VERSION = 35, 12  # characters; a title has 50 at most

_log = logging.getLogger("bench_assets.annotation.answers")


@dataclass(frozen=True, slots=True)
class Project:
    """A project on the server."""

    number: int
    title: str
    settings: Mapping[str, Any]
    n_tasks: int

    @property
    def is_open(self) -> bool:
        """Whether people are shown any of its tasks."""
        return bool(self.settings["maximum_annotations"])


def title_of(annotation_task: AnnotationTask) -> str:
    """Title of a task's project: its name and the digest of everything it shows."""
    return f"{_prefix(annotation_task)}{annotation_task.version[:_VERSION]}"


def projects_of(server: LabelStudio, annotation_task: AnnotationTask) -> list[Project]:
    """Find the projects of all versions of a task, among those whose titles contain its name."""
    found = []
    for one in server.projects(_prefix(annotation_task)):
        title = str(one["title"])
        if title.startswith(_prefix(annotation_task)) and len(title) == len(
            title_of(annotation_task)
        ):
            settings = {
                name: one.get(name)
                for name in ("label_config", "maximum_annotations", "show_collab_predictions")
            }
            found.append(Project(one["id"], title, settings, int(one.get("task_number") or 0)))
    return found


def current(annotation_task: AnnotationTask, projects: Sequence[Project]) -> Project | None:
    """Project of the present version: the one with most tasks, then the newest.

    A title may occur twice, because the server repeats a request when its database is locked.
    """
    same = [one for one in projects if one.title == title_of(annotation_task)]
    if not same:
        return None
    chosen = max(same, key=lambda one: (one.n_tasks, one.number))
    if others := [str(one.number) for one in same if one is not chosen]:
        _log.warning(
            "Label Studio has several projects of the title %s: %d is used; delete %s if no one"
            " answered there",
            chosen.title, chosen.number, ", ".join(others),
        )  # fmt: skip
    return chosen


def settings_of(
    annotation_task: AnnotationTask, config: str, overlap: int, *, proposals: bool
) -> dict[str, Any]:
    """All settings of a task's project."""
    told = html.escape(annotation_task.instructions).replace("\n", "<br>")
    return {
        "title": title_of(annotation_task),
        "description": html.escape(f"{annotation_task.title} {annotation_task.about}".strip()),
        "label_config": config,
        "maximum_annotations": overlap,
        "show_collab_predictions": proposals,
        "model_version": PROPOSALS if proposals else "",
        "sampling": "Uniform sampling",
        "skip_queue": "REQUEUE_FOR_OTHERS",
        "enable_empty_annotation": not any(field.required for field in annotation_task.fields),
        "expert_instruction": told,
        "show_instruction": bool(told),
    }


def changed(wanted: Mapping[str, Any], project: Project) -> bool:
    """Whether a project's settings differ from ours: any account may change them."""
    return any(wanted[name] != value for name, value in project.settings.items())


def _prefix(annotation_task: AnnotationTask) -> str:
    name = annotation_task.name
    if len(name) > _NAME:
        name = f"{name[: _NAME - 9]}~{sha256(name.encode()).hexdigest()[:8]}"
    return f"{name} @"
