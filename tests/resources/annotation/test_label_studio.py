"""Label Studio's files: what people are shown, and what an export of the real server says."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from bench_assets.annotation.tasks import AnnotationError, AnnotationTask, Answer, Field, Unit
from bench_resources.annotation.label_studio import import_task, labelling_config, read_export
from tests.cases import read_rows

TASK = AnnotationTask(
    name="quiz/marks",
    title="Marks & more",
    instructions="Mark what is asked.",
    fields=(
        Field(name="dearer", kind="choice", label="More than $5?", choices=("yes", "$5 or less")),
        Field(name="seen", kind="choices", label="What is seen?", choices=(), most=3),
        Field(name="why", kind="text", label="Why?", required=False, most=200),
        Field(name="words", kind="texts", label="Words", most=3, required=False),
        Field(
            name="ends",
            kind="points",
            label="2 points",
            choices=("near end", "far end"),
            least=2,
            most=2,
        ),
        Field(name="cats", kind="boxes", label="Every cat", most=5),
    ),
)
UNIT = Unit(
    task=TASK.name,
    unit_id="shelf/a",
    shown={"Price": "It is $5 <b>& more</b>"},
    images={"First": "a" * 64, "Second": "b" * 64},
    choices={"seen": ("sky", "$5 note", 'a "b"')},
    gold={"dearer": ("yes",)},
)
EXPORT = Path(__file__).with_name("label_studio_export.json")
NAMES = {"Ana@lab.example": "ana", "ben@lab.example": "ben"}


def exported(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An annotation as Label Studio exports it, with other fields."""
    return {
        "id": 7,
        "completed_by": {"id": 2, "email": "ana@lab.example", "first_name": "", "last_name": ""},
        "result": [choice("dearer", "yes")],
        "was_cancelled": False,
        "created_at": "2026-11-29T17:05:09.120000Z",
        "updated_at": "2026-11-29T17:06:00Z",
        "lead_time": 4.5,
        "updated_by": 2,
        **entry,
    }


def choice(name: str, *chosen: str) -> dict[str, Any]:
    return {
        "from_name": name, "to_name": "unit", "type": "choices", "value": {"choices": [*chosen]},
    }  # fmt: skip


def read(folder: Path, *annotations: object, unit: Unit = UNIT) -> list[Answer]:
    data = import_task(TASK, unit, str)["data"]
    file = folder / "export.json"
    file.write_text(json.dumps([{"id": 4, "data": data, "annotations": annotations}]))
    return list(read_export(TASK, file, NAMES))


def test_the_export_of_a_real_server_is_read() -> None:
    """Label Studio 1.23.2: ana in its pages; ben skipped one task, and changed her other answer."""
    answers = {
        (answer.person, answer.unit_id): answer
        for answer in read_export(TASK, EXPORT, {"2": "ana"})
    }
    ana = answers["ana", "shelf/a"]
    assert ana.values == {
        "dearer": ("$5 or less",),
        "seen": ("sky", "$5 note"),
        "why": ("cheap",),
        "words": ("one",),
        "ends": ("0.250000 0.500000", "0.750000 0.124060"),
        "cats": ("0.099624 0.199248 0.400376 0.600251",),
    }
    assert (ana.unit_digest[:8], ana.task_version[:8]) == ("e49d700e", "fc88f87e")
    assert (ana.tool, ana.changed_by) == ("label-studio", "")
    assert (ana.at, ana.seconds, ana.skipped) == ("2026-11-29T18:24:03.385Z", 17.292, False)
    ben = answers["user-3", "shelf/a"]
    assert (ben.skipped, ben.values, ben.seconds) == (True, {}, 3.2)
    assert answers["ana", "shelf/b"].changed_by == "user-3"
    cem = answers["user-4", "shelf/b"]
    assert cem.values == {
        "dearer": ("yes",),
        "seen": ("sun",),
        "ends": ("0.100000 0.900000", "0.600000 0.500000"),
        "cats": ("0.000000 0.000000 1.000000 1.000000", "0.250000 0.125000 0.750000 0.375000"),
    }
    assert len(answers) == 4


def test_images_texts_and_choices_are_in_the_task_and_the_key_is_not() -> None:
    task = import_task(TASK, UNIT, lambda sha256: f"data:{sha256[0]}")
    assert task["data"]["image"] == "data:a"
    assert task["data"]["images"] == [{"heading": "Second", "url": "data:b"}]
    assert task["data"]["shown"] == [{"heading": "Price", "text": "It is $5 <b>& more</b>"}]
    assert [choice["value"] for choice in task["data"]["choices_seen"]] == [
        "sky", "$\u200b5 note", 'a "b"',
    ]  # fmt: skip
    assert "gold" not in json.dumps(task)


def test_the_page_asks_every_field_and_shows_only_data_of_the_task() -> None:
    view = fromstring(labelling_config(TASK))
    controls = {node.get("name"): node for node in view.iter() if node.get("toName")}
    assert {name: (control.tag, control.get("toName")) for name, control in controls.items()} == {
        "dearer": ("Choices", "unit"),
        "seen": ("Choices", "unit"),
        "why": ("TextArea", "unit"),
        "words": ("TextArea", "unit"),
        "ends": ("KeyPointLabels", "image"),
        "cats": ("RectangleLabels", "image"),
    }
    labels = {name: [label.attrib for label in control] for name, control in controls.items()}
    assert labels["ends"] == [
        {"value": "near end", "maxUsages": "1"}, {"value": "far end", "maxUsages": "1"},
    ]  # fmt: skip
    assert labels["cats"] == [{"value": "Every cat", "maxUsages": "5"}]
    assert controls["dearer"].get("requiredMessage") == "Please answer: More than $\u200b5?"
    assert [controls[name].get("required") for name in ("why", "seen")] == [None, "true"]
    references = {node.get(name, "") for node in view.iter() for name in ("value", "on")}
    variables = {text[1:].split("[")[0] for text in references if text.startswith("$")}
    assert variables
    assert variables <= import_task(TASK, UNIT, str)["data"].keys()


def test_a_task_with_uploads_is_for_our_pages() -> None:
    field = Field(name="own", kind="image", label="An image of yours")
    task = AnnotationTask(name="quiz/own", title="", instructions="", fields=(field,))
    with pytest.raises(AnnotationError, match=r"quiz/own, field own: .*kind = \"pages\""):
        labelling_config(task)


@pytest.mark.parametrize(("entry", "complaint"), read_rows(__file__, "refused_exports.jsonl"))
def test_what_is_no_answer_is_named_by_file_and_entry(
    tmp_path: Path, entry: Mapping[str, Any], complaint: str
) -> None:
    good, bad = read(tmp_path, exported(entry), exported({"id": 8}))
    assert (good.complaint, good.person) == ("", "ana")
    assert bad.tool_id == "export.json, entry 1 (id 4), annotation 1"
    assert complaint in bad.complaint


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ([{"data": {"text": "mine"}, "annotations": [exported({})]}], "no field 'task_version'"),
        ([{"data": {"key": "a"}, "dearer": "yes"}], "Export in the format JSON"),
        (["yes"], "expected an object"),
    ],
)
def test_entries_of_another_kind_are_named(tmp_path: Path, data: object, complaint: str) -> None:
    (tmp_path / "export.json").write_text(json.dumps(data))
    (bad,) = read_export(TASK, tmp_path / "export.json", NAMES)
    assert bad.tool_id.startswith("export.json, entry 1")
    assert complaint in bad.complaint
