"""Which projects of a Label Studio are a form's: a form that changed is another project."""

import html
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from bench_assets.annotation.tasks.forms import Form
from resources.annotation.label_studio.client import LabelStudio
from resources.annotation.label_studio.units import PROPOSALS

_NAME, _VERSION = 35, 12  # characters; a title has 50 at most

_log = logging.getLogger("bench_assets.annotation.answers")


@dataclass(frozen=True, slots=True)
class Project:
    """A project as it is there."""

    number: int
    title: str
    settings: Mapping[str, Any]
    n_tasks: int

    @property
    def is_open(self) -> bool:
        """Whether people are shown anything of it."""
        return bool(self.settings["maximum_annotations"])


def title_of(form: Form) -> str:
    """The title of a form's project: its name and the digest of all that it shows."""
    return f"{_prefix(form)}{form.version[:_VERSION]}"


def projects_of(server: LabelStudio, form: Form) -> list[Project]:
    """Find the projects of all versions of a form: the title is searched for within others."""
    found = []
    for one in server.projects(_prefix(form)):
        title = str(one["title"])
        if title.startswith(_prefix(form)) and len(title) == len(title_of(form)):
            settings = {
                name: one.get(name)
                for name in ("label_config", "maximum_annotations", "show_collab_predictions")
            }
            found.append(Project(one["id"], title, settings, int(one.get("task_number") or 0)))
    return found


def current(form: Form, projects: Sequence[Project]) -> Project | None:
    """Choose the project of the form as it is now: that with most tasks, then the newest.

    There are two of one title where its data base was locked and it said its own request twice.
    """
    same = [one for one in projects if one.title == title_of(form)]
    if not same:
        return None
    chosen = max(same, key=lambda one: (one.n_tasks, one.number))
    if others := [str(one.number) for one in same if one is not chosen]:
        _log.warning(
            "Label Studio has several projects of the title %s: %d is used; delete %s if nobody"
            " answered there",
            chosen.title, chosen.number, ", ".join(others),
        )  # fmt: skip
    return chosen


def settings_of(form: Form, config: str, overlap: int, *, proposals: bool) -> dict[str, Any]:
    """All settings of a form's project."""
    told = html.escape(form.instructions).replace("\n", "<br>")
    return {
        "title": title_of(form),
        "description": html.escape(f"{form.title} {form.about}".strip()),
        "label_config": config,
        "maximum_annotations": overlap,
        "show_collab_predictions": proposals,
        "model_version": PROPOSALS if proposals else "",
        "sampling": "Uniform sampling",
        "skip_queue": "REQUEUE_FOR_OTHERS",
        "enable_empty_annotation": not any(field.required for field in form.fields),
        "expert_instruction": told,
        "show_instruction": bool(told),
    }


def changed(wanted: Mapping[str, Any], project: Project) -> bool:
    """Whether a project is not as it should be: anybody may change it."""
    return any(wanted[name] != value for name, value in project.settings.items())


def _prefix(form: Form) -> str:
    name = form.name
    if len(name) > _NAME:
        name = f"{name[: _NAME - 9]}~{sha256(name.encode()).hexdigest()[:8]}"
    return f"{name} @"
