"""People who answer in files."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import AnnotationError, AnnotationTask, Unit
from bench_resources.annotation.files import FileBackend
from tests.resources.annotation.port_cases import CASES, FORM, A, B, Hands


class Editors:
    """People who write into a file with an editor."""

    def __init__(self, folder: Path) -> None:
        self.people = FileBackend(folder)
        self._folder = folder
        self._minute = 0

    def answer(self, task: AnnotationTask, unit: Unit, person: str, **values: str) -> None:
        self._write(task, unit, person, values)

    def edit_by_another(
        self, task: AnnotationTask, unit: Unit, person: str, other: str, **values: str
    ) -> None:
        self._write(task, unit, person, values, changed_by=other)

    def delete(self, task: AnnotationTask, unit: Unit, person: str) -> None:
        file = self._folder / task.name / "answers.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        kept = [line for line in lines if (line["unit"], line["person"]) != (unit.unit_id, person)]
        file.write_text("".join(json.dumps(one) + "\n" for one in kept))

    def _write(
        self, task: AnnotationTask, unit: Unit, person: str, values: dict[str, str], **more: str
    ) -> None:
        self._minute += 1
        at = f"2026-11-22T16:{self._minute:02}:00Z"
        row = {"unit": unit.unit_id, "digest": unit.digest, "person": person, "at": at}
        file = self._folder / task.name / "answers.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as lines:
            lines.write(json.dumps({**row, "values": values, **more}) + "\n")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_files_keep_the_contract(case: Callable[[Hands], None], tmp_path: Path) -> None:
    case(Editors(tmp_path))


def _written(tmp_path: Path, *lines: str) -> FileBackend:
    people = FileBackend(tmp_path)
    people.ask(FORM, [A, B])
    (tmp_path / FORM.name / "answers_of_ana.jsonl").write_text("\n".join(lines))
    return people


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"unit": "a", "person": "ana"', "answers_of_ana.jsonl, line 000001: not an answer"),
        ('{"unit": "a", "values": {"correct": "yes"}}', "no field 'person'"),
        (
            '{"unit": "a", "person": "ana", "at": "9999-12-31T23:59:59-05:00"}',
            "answers_of_ana.jsonl, line 000001: not an answer: date value out of range",
        ),
        ('{"unit": "z", "person": "ana", "values": {"correct": "yes"}}', "not published"),
        ('{"unit": "a", "person": "ana", "values": {"correct": ["yes", "no"]}}', "2 entries"),
    ],
)
def test_a_bad_line_is_named_and_ends_nothing(tmp_path: Path, line: str, complaint: str) -> None:
    good = '{"unit": "a", "person": "ben", "values": {"correct": "yes"}}'
    counted = resolve_answers(FORM, [A, B], _written(tmp_path, line, good).answers(FORM))
    assert [answer.person for answer in counted.answers] == ["ben"]
    assert complaint in counted.refused[0].complaint


@pytest.mark.parametrize(
    ("written", "seconds"), [("7.5", 7.5), ("null", None), ("NaN", None), ("-1", None)]
)
def test_what_is_no_time_was_not_measured(
    tmp_path: Path, written: str, seconds: float | None
) -> None:
    """Python's own json writes NaN where a data frame has no number."""
    line = f'{{"unit": "a", "person": "ben", "values": {{}}, "seconds": {written}}}'
    assert [answer.seconds for answer in _written(tmp_path, line).answers(FORM)] == [seconds]


def test_damaged_items_are_named_and_kept(tmp_path: Path) -> None:
    people = _written(tmp_path)
    file = tmp_path / FORM.name / "units.jsonl"
    file.write_text(file.read_text()[:-20])
    with pytest.raises(AnnotationError, match=r"units\.jsonl, line 2.*Remove the file"):
        people.ask(FORM, [A])
