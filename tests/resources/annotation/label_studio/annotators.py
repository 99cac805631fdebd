"""People in front of a Label Studio, real or scripted: what their browsers say over HTTP."""

from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
from PIL import Image

from bench_assets.annotation.tasks import AnnotationTask, Unit
from bench_resources.annotation.label_studio.backend import LabelStudioBackend
from bench_resources.annotation.label_studio.client import LabelStudio
from bench_resources.images.locations import ImageFolder


def opened(server: LabelStudio, names: Mapping[str, str], home: Path) -> LabelStudioBackend:
    """Open people over the images of a home."""
    return LabelStudioBackend(server, names, home, ImageFolder(str(home / "images")))


class Annotators:
    """Answers through the same requests as the pages of a Label Studio."""

    def __init__(self, people: LabelStudioBackend, url: str, tokens: dict[str, str]) -> None:
        self.people = people
        self._http = {
            person: httpx.Client(
                base_url=url,
                headers={"Authorization": f"Token {token}"},
                timeout=60,
                verify=False,  # nothing to verify over loopback
            )
            for person, token in tokens.items()
        }

    def keep_image(self, colour: str) -> str:
        """Store a photograph of 300 x 200 px; returns its digest."""
        Image.new("RGB", (300, 200), colour).save(file := BytesIO(), "PNG")
        digest = sha256(file.getvalue()).hexdigest()
        self.people.images.keep(digest, file.getvalue())
        return digest

    def answer(
        self, annotation_task: AnnotationTask, unit: Unit, person: str, **values: str
    ) -> None:
        """Submit, or update what the person submitted before."""
        task = self.task(unit)
        mine = self._mine(task, person)
        if mine is None:
            self.submit(task["id"], person, **values)
        else:
            self.say(person, "PATCH", f"/api/annotations/{mine}/", {"result": result(**values)})

    def edit_by_another(
        self, annotation_task: AnnotationTask, unit: Unit, person: str, other: str, **values: str
    ) -> None:
        """Change what somebody else submitted: nothing hinders."""
        mine = self._mine(self.task(unit), person)
        self.say(other, "PATCH", f"/api/annotations/{mine}/", {"result": result(**values)})

    def delete(self, annotation_task: AnnotationTask, unit: Unit, person: str) -> None:
        """Delete an answer: anybody may."""
        self.say("cem", "DELETE", f"/api/annotations/{self._mine(self.task(unit), person)}/")

    def submit(self, task: int, person: str, **values: Any) -> dict[str, Any]:
        """Submit a new answer; ``completed_by`` and ``was_cancelled`` are said as they are."""
        told = {k: values.pop(k) for k in ("completed_by", "was_cancelled") if k in values}
        said = {"result": result(**values), "lead_time": 4.5, **told}
        found: dict[str, Any] = self.say(person, "POST", f"/api/tasks/{task}/annotations", said)
        return found

    def task(self, unit: Unit) -> dict[str, Any]:
        """The task that shows a unit as it is; of several the one that people are served."""
        asked = {"page_size": 10_000, "fields": "all"}
        found = [
            one
            for project in self.projects()
            for one in self.say(
                "ana", "GET", "/api/tasks", params={**asked, "project": project}, none={"tasks": []}
            )["tasks"]
            if (one["data"].get("key"), one["data"].get("digest")) == (unit.unit_id, unit.digest)
        ]
        return dict(max(found, key=lambda one: (one["overlap"] > 0, one["id"])))

    def projects(self) -> list[int]:
        """Every project's number."""
        told = self.say("ana", "GET", "/api/projects", params={"page_size": 1000})
        return sorted(one["id"] for one in told["results"])

    def served(self, project: int, person: str) -> str | None:
        """The key of the task that a person is served next, if any."""
        told = self.say(person, "GET", f"/api/projects/{project}/next", none={})
        return str(told["data"]["key"]) if told else None

    def number(self, person: str) -> int:
        """Of a person's account."""
        return int(self.say(person, "GET", "/api/current-user/whoami")["id"])

    def say(
        self,
        person: str,
        verb: str,
        path: str,
        said: Any = None,
        params: Any = None,
        none: Any = None,
    ) -> Any:
        """Say something as a person; ``none`` where it is 404."""
        response = self._http[person].request(verb, path, json=said, params=params)
        if response.status_code == 404 and none is not None:
            return none
        response.raise_for_status()
        return response.json() if response.content else None

    def _mine(self, task: dict[str, Any], person: str) -> int | None:
        told = self.say(person, "GET", f"/api/tasks/{task['id']}/")["annotations"]
        mine = [one["id"] for one in told if _account(one["completed_by"]) == self.number(person)]
        return mine[-1] if mine else None


def result(**values: Any) -> list[dict[str, Any]]:
    """What a browser submits for fields: a comment is a text, all else a choice."""
    return [
        {"from_name": name, "to_name": "unit", "type": "textarea", "value": {"text": [said]}}
        if name == "comment"
        else {"from_name": name, "to_name": "unit", "type": "choices", "value": {"choices": [said]}}
        for name, said in values.items()
    ]


def _account(told: Any) -> int:
    return int(told["id"] if isinstance(told, dict) else told)
