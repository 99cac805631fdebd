import json
from pathlib import Path

import pytest

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import AnnotationError, AnnotationTask, Unit
from bench_resources.annotation.files import FileBackend
from tests.resources.annotation.port_cases import CASES, FORM, A, B


class FileAnnotators:
    """People who write answers into a file with an editor."""

    def __init__(self, folder: Path) -> None:
        self.backend = FileBackend(folder)
        self._folder = folder
        self._minute = 0

    def answer(self, task: AnnotationTask, unit: Unit, person: str, **values: str) -> None:
        self._write(task, unit, person, values)

    def edit_by_another(
        self, task: AnnotationTask, unit: Unit, person: str, editor: str, **values: str
    ) -> None:
        self._write(task, unit, person, values, changed_by=editor)

    def delete(self, task: AnnotationTask, unit: Unit, person: str) -> None:
        file = self._folder / task.name / "answers.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        remaining = [
            line for line in lines if (line["unit"], line["person"]) != (unit.unit_id, person)
        ]
        file.write_text("".join(json.dumps(line) + "\n" for line in remaining))

    def _write(
        self, task: AnnotationTask, unit: Unit, person: str, values: dict[str, str], **columns: str
    ) -> None:
        self._minute += 1
        time = f"2026-11-22T16:{self._minute:02}:00Z"
        row = {"unit": unit.unit_id, "digest": unit.digest, "person": person, "at": time}
        file = self._folder / task.name / "answers.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as lines:
            lines.write(json.dumps({**row, "values": values, **columns}) + "\n")


@pytest.mark.parametrize("case", CASES)
def test_files_keep_the_contract_of_backends(case, tmp_path):
    case(FileAnnotators(tmp_path))


def _backend_with_answers(folder: Path, *lines: str) -> FileBackend:
    """A backend with two units, and these lines in the file of a person's answers."""
    backend = FileBackend(folder)
    backend.ask(FORM, [A, B])
    (folder / FORM.name / "answers_of_ana.jsonl").write_text("\n".join(lines))
    return backend


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
def test_a_bad_line_is_refused_and_the_others_count(tmp_path, line, complaint):
    good_line = '{"unit": "a", "person": "ben", "values": {"correct": "yes"}}'
    answers = _backend_with_answers(tmp_path, line, good_line).answers(FORM)
    resolved = resolve_answers(FORM, [A, B], answers)
    assert [answer.person for answer in resolved.answers] == ["ben"]
    (refused,) = resolved.refused
    assert complaint in refused.complaint


@pytest.mark.parametrize(
    ("json_value", "seconds"), [("7.5", 7.5), ("null", None), ("NaN", None), ("-1", None)]
)
def test_seconds_that_are_no_duration_are_read_as_not_measured(tmp_path, json_value, seconds):
    """Python's json writes NaN where a data frame has no number."""
    line = f'{{"unit": "a", "person": "ben", "values": {{}}, "seconds": {json_value}}}'
    (answer,) = _backend_with_answers(tmp_path, line).answers(FORM)
    assert answer.seconds == seconds


def test_a_damaged_file_of_units_is_named(tmp_path: Path) -> None:
    backend = _backend_with_answers(tmp_path)
    file = tmp_path / FORM.name / "units.jsonl"
    file.write_text(file.read_text()[:-20])
    with pytest.raises(AnnotationError, match=r"units\.jsonl, line 2.*Remove the file"):
        backend.ask(FORM, [A])
