"""Annotation backend over files: one for units, others for answers.

``annotation/<suite>/<task>/`` of the home folder holds ``task.json``, ``units.jsonl`` and any
number of ``answers*.jsonl``, written by annotators: lines of ``{unit, person, values}`` with a text
or a list of texts by field, and optionally ``digest``, ``task_version``, ``at``, ``changed_at``,
``changed_by``, ``seconds`` and ``skipped``.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from sys import intern
from typing import Any

from bench_assets.annotation.tasks import (
    AnnotationError,
    AnnotationTask,
    Answer,
    Unit,
    UnitCounts,
    Values,
    index_units,
    new_answers,
    parse_timestamp,
)
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.provenance import text_digest
from bench_assets.core.tables.json_records import read_lines, require_field
from bench_resources.storage.atomic_write import open_atomic


@dataclass(frozen=True, slots=True)
class FileBackend:
    """The annotation backend over the folder ``annotation`` of a home."""

    folder: Path

    def ask(self, task: AnnotationTask, units: Sequence[Unit]) -> UnitCounts:
        """Write the task and its units; counts the new and the changed ones."""
        old_digests = self._digests(task)
        new_digests = {unit_id: unit.digest for unit_id, unit in index_units(task, units).items()}
        lines = [json.dumps(_unit_to_entry(unit), ensure_ascii=False) for unit in units]
        self._write(task, "units.jsonl", "".join(f"{line}\n" for line in lines))
        self._write_task(task, closed=False)
        return UnitCounts.of(old_digests, new_digests)

    def answers(self, task: AnnotationTask) -> list[Answer]:
        """Read all answers in the order of the port; an invalid line has a complaint."""
        files = sorted(self._folder(task).glob("answers*.jsonl"))
        answers = [answer for file in files for answer in _read_answers(task, file)]
        return sorted(answers, key=attrgetter("unit_id", "unit_digest", "person", "changed_at"))

    def add(self, task: AnnotationTask, answers: Sequence[Answer]) -> int:
        """Write the new answers to a file named by a digest of its content; returns how many."""
        new = new_answers(self.answers(task), answers)
        lines = [json.dumps(_answer_to_entry(answer), ensure_ascii=False) for answer in new]
        text = "".join(f"{line}\n" for line in lines)
        if new:
            self._write(task, f"answers-{text_digest(text)[:12]}.jsonl", text)
        return len(new)

    def close(self, task: AnnotationTask) -> None:
        """Record that the task is closed."""
        self._write_task(task, closed=True)

    def _folder(self, task: AnnotationTask) -> Path:
        return self.folder / task.name

    def _digests(self, task: AnnotationTask) -> dict[str, str]:
        """Digests of the written units, by unit id."""
        return {
            require_field(entry, "unit", str, where): require_field(entry, "digest", str, where)
            for entry, where in self._unit_entries(task)
        }

    def _unit_entries(self, task: AnnotationTask) -> Iterator[tuple[dict[str, Any], str]]:
        """Entries of the written units, each with its file and line."""
        file = self._folder(task) / "units.jsonl"
        if not file.exists():
            return
        try:
            for line in read_lines(file):
                yield line.entry, line.where
        except SourceError as error:
            raise AnnotationError(
                f"{error}. Remove the file, and publish the units again"
            ) from error

    def _write_task(self, task: AnnotationTask, *, closed: bool) -> None:
        payload = {**asdict(task), "version": task.version, "closed": closed}
        self._write(task, "task.json", json.dumps(payload, ensure_ascii=False, indent=2) + "\n")

    def _write(self, task: AnnotationTask, name: str, text: str) -> None:
        with open_atomic(self._folder(task) / name) as file:
            file.write(text.encode())


def _unit_to_entry(unit: Unit) -> dict[str, Any]:
    """Convert a unit to what annotators see, without the key."""
    hidden = ("task", "unit_id", "gold")
    visible = {name: value for name, value in asdict(unit).items() if name not in hidden}
    return {"unit": unit.unit_id, "digest": unit.digest, **visible}


def _answer_to_entry(answer: Answer) -> dict[str, Any]:
    """Convert an answer to the form that ``_parse_entry`` reads, without empty fields."""
    entry = {
        "unit": answer.unit_id,
        "digest": answer.unit_digest,
        "task_version": answer.task_version,
        "person": answer.person,
        "values": answer.values,
        "at": answer.at,
        "changed_at": answer.changed_at,
        "seconds": answer.seconds,
        "skipped": answer.skipped,
    }
    return {
        name: value
        for name, value in entry.items()
        if value not in ("", None) and value is not False  # 0 s equal False, and are kept
    }


def _read_answers(task: AnnotationTask, file: Path) -> Iterator[Answer]:
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise AnnotationError(f"{file}: cannot be read: {error}") from error
    for line_number, line in enumerate(lines, 1):
        if line.strip():
            where = f"{file.name}, line {line_number:06}"  # sorts by line
            yield _parse_answer(task, line, where)


def _parse_answer(task: AnnotationTask, line: str, where: str) -> Answer:
    """Parse a line; an invalid one becomes an empty answer with a complaint."""
    empty_answer = Answer(
        task=task.name, task_version="", unit_id="", unit_digest="", person="", values={},
        at="", changed_at="", tool="files", tool_id=where,
    )  # fmt: skip
    try:
        entry = json.loads(line)
        return _parse_entry(entry, empty_answer, where)
    except SourceError as error:
        return replace(empty_answer, complaint=str(error))
    except (ValueError, ArithmeticError, RecursionError) as error:
        return replace(empty_answer, complaint=f"{where}: not an answer: {error}")


def _parse_entry(entry: object, empty_answer: Answer, where: str) -> Answer:
    """Fill an empty answer from the JSON object of a line."""
    if not isinstance(entry, dict):
        raise SourceError(f"{where}: expected an object, got {entry!r:.60}")
    times = {
        name: parse_timestamp(require_field(entry, name, str, where))
        for name in ("at", "changed_at")
        if name in entry
    }
    answered_at = times.get("at") or times.get("changed_at", "")
    texts = ("digest", "task_version", "changed_by")
    strings = {name: require_field({name: "", **entry}, name, str, where) for name in texts}
    seconds = entry.get("seconds")
    return replace(
        empty_answer,
        # Interned: many answers have the same unit, person and values.
        unit_id=intern(require_field(entry, "unit", str, where)),
        unit_digest=intern(strings["digest"]),
        task_version=intern(strings["task_version"]),
        person=intern(_require_person(require_field(entry, "person", str, where), where)),
        values=_parse_values(require_field({"values": {}, **entry}, "values", dict, where), where),
        at=answered_at,
        changed_at=times.get("changed_at", answered_at),
        changed_by=strings["changed_by"],
        seconds=float(seconds) if isinstance(seconds, int | float) and seconds >= 0 else None,
        skipped=require_field({"skipped": False, **entry}, "skipped", bool, where),
    )


def _require_person(person: str, where: str) -> str:
    if not (name := person.strip()):
        raise SourceError(f"{where}: field 'person' is empty. Set the annotator's name")
    return name


def _parse_values(raw: Mapping[str, object], where: str) -> Values:
    values = []
    for name, value in raw.items():
        texts = value if isinstance(value, list) else [value]
        if texts:
            checked = (require_field({name: text}, name, str, where) for text in texts)
            values.append((name, tuple(checked)))
    return _intern_values(tuple(values))


@lru_cache(maxsize=1000)
def _intern_values(values: tuple[tuple[str, tuple[str, ...]], ...]) -> Values:
    """Values as a mapping, which answers with equal values share."""
    return dict(values)
