"""People who answer in files."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_assets.annotation.answers.resolution import count
from bench_assets.annotation.tasks.backend import PeopleError
from bench_assets.annotation.tasks.forms import Form, Unit
from resources.annotation.files import FilePeople
from tests.resources.annotation.port_cases import CASES, FORM, A, B, Hands


class Editors:
    """People who write into a file with an editor."""

    def __init__(self, folder: Path) -> None:
        self.people = FilePeople(folder)
        self._folder = folder
        self._minute = 0

    def answer(self, form: Form, item: Unit, person: str, **values: str) -> None:
        self._write(form, item, person, values)

    def edit_by_another(
        self, form: Form, item: Unit, person: str, other: str, **values: str
    ) -> None:
        self._write(form, item, person, values, changed_by=other)

    def delete(self, form: Form, item: Unit, person: str) -> None:
        file = self._folder / form.name / "answers.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        kept = [one for one in lines if (one["item"], one["person"]) != (item.item_id, person)]
        file.write_text("".join(json.dumps(one) + "\n" for one in kept))

    def _write(
        self, form: Form, item: Unit, person: str, values: dict[str, str], **more: str
    ) -> None:
        self._minute += 1
        at = f"2026-11-22T16:{self._minute:02}:00Z"
        said = {"item": item.item_id, "digest": item.digest, "person": person, "at": at}
        file = self._folder / form.name / "answers.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as lines:
            lines.write(json.dumps({**said, "values": values, **more}) + "\n")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_files_keep_the_contract(case: Callable[[Hands], None], tmp_path: Path) -> None:
    case(Editors(tmp_path))


def _written(tmp_path: Path, *lines: str) -> FilePeople:
    people = FilePeople(tmp_path)
    people.ask(FORM, [A, B])
    (tmp_path / FORM.name / "answers_of_ana.jsonl").write_text("\n".join(lines))
    return people


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"item": "a", "person": "ana"', "answers_of_ana.jsonl, line 000001: no answer"),
        ('["a"]', "line 000001: expected an object"),
        ('{"item": "a", "values": {"correct": "yes"}}', "no field 'person'"),
        ('{"item": "a", "person": " ", "values": {"correct": "yes"}}', "name who answers"),
        ('{"item": "a", "person": "ana", "values": {"correct": 1}}', "field 'correct' is 1"),
        ('{"item": "a", "person": "ana", "values": {"correct": "maybe"}}', "none of yes, no"),
        ('{"item": "a", "person": "ana", "values": {}}', "correct is empty"),
        ('{"item": "z", "person": "ana", "values": {"correct": "yes"}}', "not asked any more"),
        ('{"item": "b", "person": "ana", "values": {"correct": "yes"}}', "own making"),
        ('{"item": "a", "person": "ana", "values": {"correct": "yes", "x": "1"}}', "no field 'x'"),
        ('{"item": "a", "person": "ana", "at": "noon", "values": {}}', "Invalid isoformat"),
        ('{"item": "a", "person": "ana", "values": {"correct": ["yes", "no"]}}', "2 entries"),
    ],
)
def test_a_bad_line_is_named_and_ends_nothing(tmp_path: Path, line: str, complaint: str) -> None:
    good = '{"item": "a", "person": "ben", "values": {"correct": "yes"}}'
    counted = count(FORM, [A, B], _written(tmp_path, line, good).answers(FORM))
    assert [one.person for one in counted.answers] == ["ben"]
    assert complaint in counted.refused[0].complaint


def test_without_times_the_later_line_counts(tmp_path: Path) -> None:
    lines = [
        json.dumps({"item": "a", "person": "ana", "values": {"correct": said}})
        for said in ("yes", "no")
    ]
    counted = count(FORM, [A, B], _written(tmp_path, *lines).answers(FORM))
    assert [one.values["correct"] for one in counted.answers] == [("no",)]


def test_damaged_items_are_named_and_kept(tmp_path: Path) -> None:
    people = _written(tmp_path)
    file = tmp_path / FORM.name / "items.jsonl"
    file.write_text(file.read_text()[:-20])
    with pytest.raises(PeopleError, match=r"items\.jsonl, line 2.*take the file away"):
        people.ask(FORM, [A])
