"""Local record of an annotation task, because any account can edit the data in Label Studio.

``annotation/label-studio/<suite>/<task>/`` of the home has ``asked.json``, the published units, and
``seen.jsonl``, one line per version of an answer; append-only.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from bench_assets.annotation.tasks import AnnotationError, Answer
from bench_resources.storage.atomic_write import describe_write_errors, open_atomic

_DELETED = "deleted in Label Studio"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRequest:
    """Wanted state of the Label Studio task of one unit."""

    digest: str
    task: int  # its number
    overlap: int  # number of annotators it is shown to
    needed: int
    barred: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRequest:
    """Wanted state of an annotation task."""

    project: int
    closed: bool = False
    tasks: Mapping[str, UnitRequest] = field(default_factory=dict)  # by unit


@dataclass(frozen=True, slots=True)
class Record:
    """The record folder of one annotation task."""

    folder: Path

    def asking(self) -> TaskRequest | None:
        """Read the published units; None without any.

        Raises:
            AnnotationError: If the file is damaged.
        """
        file = self.folder / "asked.json"
        try:
            return TypeAdapter(TaskRequest).validate_json(file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            raise AnnotationError(
                f"{file}: cannot be read: {error!s:.200}. Remove it, and publish the units again"
            ) from error

    def write(self, asking: TaskRequest) -> None:
        """Store the published units."""
        with open_atomic(self.folder / "asked.json") as file:
            file.write(orjson.dumps(asking))

    def merge_seen(self, answers: Sequence[Answer], projects: Iterable[int]) -> list[Answer]:
        """Merge recorded and new answers, and record the new ones.

        Earlier answers are returned as recorded. Deleted answers get a complaint, unless the person
        gave another one.

        Args:
            answers: All answers on the server.
            projects: All projects on the server.

        Raises:
            AnnotationError: If a whole project with answers is gone.
        """
        before: dict[str, list[Answer]] = defaultdict(list)
        for one in self._seen():
            before[one.tool_id].append(one)
        self._require_projects(before, set(projects))
        self._add([one for one in answers if one not in before.get(one.tool_id, ())])
        present_ids = {one.tool_id for one in answers}
        standing = {_answer_key(one) for one in answers}
        earlier = [
            replace(version, person=one.person)  # the pseudonym may have been added later
            for one in answers
            for version in before.get(one.tool_id, ())
            if version.changed_at < one.changed_at
        ]
        deleted = [versions[-1] for name, versions in before.items() if name not in present_ids]
        return [
            *earlier,
            *answers,
            *(
                replace(one, complaint=_DELETED)
                for one in deleted
                if _answer_key(one) not in standing
            ),
        ]

    def _require_projects(self, before: Mapping[str, Sequence[Answer]], there: set[int]) -> None:
        for number in sorted({int(name.split("/")[0]) for name in before} - there):
            n = sum(name.startswith(f"{number}/") for name in before)
            raise AnnotationError(
                f"project {number} with {n} answers is not in Label Studio any more, or has another"
                f" title: it was deleted or renamed. If that was intended, remove"
                f" {self.folder / 'seen.jsonl'}"
            )

    def _seen(self) -> Iterator[Answer]:
        file = self.folder / "seen.jsonl"
        try:
            lines = file.read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        except OSError as error:
            raise AnnotationError(f"{file}: cannot be read: {error.strerror}") from error
        for number, line in enumerate(lines, 1):
            try:
                if line:
                    yield _parse_answer(json.loads(line))
            except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
                if number < len(lines):  # the last line may be incomplete: a run was killed
                    message = f"{file}, line {number}: cannot be read ({error}). Delete the line"
                    raise AnnotationError(message) from error

    def _add(self, answers: Sequence[Answer]) -> None:
        if not answers:
            return
        file = self.folder / "seen.jsonl"
        with describe_write_errors(file):
            self.folder.mkdir(parents=True, exist_ok=True)
            _drop_partial_line(file)
            with file.open("ab") as lines:
                lines.write("".join(map(_serialize_answer, answers)).encode())


def _drop_partial_line(file: Path) -> None:
    """Remove an incomplete last line of a killed run."""
    if not file.exists():
        return
    with file.open("rb+") as lines:
        data = lines.read()
        lines.truncate(data.rfind(b"\n") + 1)


def _serialize_answer(answer: Answer) -> str:
    return json.dumps({one.name: getattr(answer, one.name) for one in fields(answer)}) + "\n"


def _parse_answer(entry: dict[str, Any]) -> Answer:
    values = {name: tuple(entries) for name, entries in entry["values"].items()}
    return Answer(**{**entry, "values": values})


def _answer_key(answer: Answer) -> tuple[str, str, str]:
    return answer.unit_id, answer.unit_digest, answer.person
