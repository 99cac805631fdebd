import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

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
Answers = Mapping[tuple[str, str], Answer]  # by person and unit
NAMES = {"Ana@lab.example": "ana", "ben@lab.example": "ben"}


def exported_annotation(**changes: Any) -> dict[str, Any]:
    """An annotation as Label Studio exports it, with some fields replaced."""
    return {
        "id": 7,
        "completed_by": {"id": 2, "email": "ana@lab.example", "first_name": "", "last_name": ""},
        "result": [choice_result("dearer", "yes")],
        "was_cancelled": False,
        "created_at": "2026-11-29T17:05:09.120000Z",
        "updated_at": "2026-11-29T17:06:00Z",
        "lead_time": 4.5,
        "updated_by": 2,
        **changes,
    }


def choice_result(name: str, *options: str) -> dict[str, Any]:
    return {
        "from_name": name, "to_name": "unit", "type": "choices", "value": {"choices": [*options]},
    }  # fmt: skip


def read_annotations(folder: Path, *annotations: object) -> list[Answer]:
    """Write annotations of a unit as an export, and read it."""
    data = import_task(TASK, UNIT, str)["data"]
    file = folder / "export.json"
    file.write_text(json.dumps([{"id": 4, "data": data, "annotations": annotations}]))
    return list(read_export(TASK, file, NAMES))


@pytest.fixture
def answers() -> Answers:
    """Answers by person and unit of an export of Label Studio 1.23.2, of four annotations.

    Ana and cem answered in its pages; ben (user 3) skipped a unit, and changed ana's other answer.
    """
    exported = list(read_export(TASK, EXPORT, {"2": "ana"}))
    assert len(exported) == 4
    return {(answer.person, answer.unit_id): answer for answer in exported}


def test_each_kind_of_field_of_an_export_is_read(answers: Answers) -> None:
    assert answers["ana", "shelf/a"].values == {
        "dearer": ("$5 or less",),
        "seen": ("sky", "$5 note"),
        "why": ("cheap",),
        "words": ("one",),
        "ends": ("0.250000 0.500000", "0.750000 0.124060"),
        "cats": ("0.099624 0.199248 0.400376 0.600251",),
    }
    assert answers["user-4", "shelf/b"].values == {
        "dearer": ("yes",),
        "seen": ("sun",),
        "ends": ("0.100000 0.900000", "0.600000 0.500000"),
        "cats": ("0.000000 0.000000 1.000000 1.000000", "0.250000 0.125000 0.750000 0.375000"),
    }


def test_unit_task_tool_and_times_of_an_export_are_read(answers: Answers) -> None:
    answer = answers["ana", "shelf/a"]
    # "digest" and "task_version" in the data of the exported task
    assert (answer.unit_digest[:8], answer.task_version[:8]) == ("e49d700e", "fc88f87e")
    assert (answer.tool, answer.changed_by) == ("label-studio", "")
    assert (answer.at, answer.seconds) == ("2026-11-29T18:24:03.385Z", 17.292)


def test_a_skipped_unit_of_an_export_is_read(answers: Answers) -> None:
    answer = answers["user-3", "shelf/a"]
    assert (answer.skipped, answer.values, answer.seconds) == (True, {}, 3.2)


def test_the_editor_of_an_exported_answer_is_read(answers: Answers) -> None:
    assert answers["ana", "shelf/b"].changed_by == "user-3"


def test_a_task_has_images_texts_and_choices() -> None:
    data = import_task(TASK, UNIT, lambda sha256: f"data:{sha256[0]}")["data"]
    assert data["image"] == "data:a"
    assert data["images"] == [{"heading": "Second", "url": "data:b"}]
    assert data["shown"] == [{"heading": "Price", "text": "It is $5 <b>& more</b>"}]
    options = [choice["value"] for choice in data["choices_seen"]]
    assert options == ["sky", "$\u200b5 note", 'a "b"']  # "$5" would be a variable


def test_a_task_does_not_have_the_gold_answer() -> None:
    assert "gold" not in json.dumps(import_task(TASK, UNIT, str))


def page_controls() -> dict[str, Element]:
    """Controls of the labelling page, by the name of the field."""
    view = fromstring(labelling_config(TASK))
    return {node.get("name", ""): node for node in view.iter() if node.get("toName")}


def test_the_page_has_a_control_for_every_field() -> None:
    controls = page_controls()
    assert {name: (control.tag, control.get("toName")) for name, control in controls.items()} == {
        "dearer": ("Choices", "unit"),
        "seen": ("Choices", "unit"),
        "why": ("TextArea", "unit"),
        "words": ("TextArea", "unit"),
        "ends": ("KeyPointLabels", "image"),
        "cats": ("RectangleLabels", "image"),
    }


def test_marks_have_labels_with_the_number_of_uses() -> None:
    controls = page_controls()
    assert [label.attrib for label in controls["ends"]] == [
        {"value": "near end", "maxUsages": "1"}, {"value": "far end", "maxUsages": "1"},
    ]  # fmt: skip
    assert [label.attrib for label in controls["cats"]] == [
        {"value": "Every cat", "maxUsages": "5"}
    ]


def test_the_page_requires_the_fields_that_the_task_requires() -> None:
    controls = page_controls()
    assert controls["dearer"].get("requiredMessage") == "Please answer: More than $\u200b5?"
    assert controls["seen"].get("required") == "true"
    assert controls["why"].get("required") is None


def test_variables_of_the_page_are_data_of_the_task() -> None:
    view = fromstring(labelling_config(TASK))
    attributes = {node.get(name, "") for node in view.iter() for name in ("value", "on")}
    variables = {text[1:].split("[")[0] for text in attributes if text.startswith("$")}
    assert variables
    assert variables <= import_task(TASK, UNIT, str)["data"].keys()


def test_a_task_with_an_uploaded_image_is_refused() -> None:
    field = Field(name="own", kind="image", label="An image of yours")
    task = AnnotationTask(name="quiz/own", title="", instructions="", fields=(field,))
    with pytest.raises(AnnotationError, match=r"quiz/own, field own: .*kind = \"pages\""):
        labelling_config(task)


@pytest.mark.parametrize(("changes", "complaint"), read_rows(__file__, "refused_exports.jsonl"))
def test_an_annotation_that_is_no_answer_is_named_by_file_and_entry(tmp_path, changes, complaint):
    good, bad = read_annotations(
        tmp_path, exported_annotation(**changes), exported_annotation(id=8)
    )
    assert (good.complaint, good.person) == ("", "ana")
    assert bad.tool_id == "export.json, entry 1 (id 4), annotation 1"
    assert complaint in bad.complaint


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (
            [{"data": {"text": "mine"}, "annotations": [exported_annotation()]}],
            "no field 'task_version'",
        ),
        ([{"data": {"key": "a"}, "dearer": "yes"}], "Export in the format JSON"),
        (["yes"], "expected an object"),
    ],
)
def test_an_entry_that_is_no_exported_task_is_named(tmp_path, data, complaint):
    (tmp_path / "export.json").write_text(json.dumps(data))
    (bad,) = read_export(TASK, tmp_path / "export.json", NAMES)
    assert bad.tool_id.startswith("export.json, entry 1")
    assert complaint in bad.complaint


def test_a_rounding_error_at_the_edge_of_an_image_is_no_negative_number(tmp_path: Path) -> None:
    box = {"x": -1e-14, "y": -1e-14, "width": 50, "height": 50, "rectanglelabels": ["Every cat"]}
    annotation = exported_annotation(result=[{"from_name": "cats", "value": box}])
    (answer,) = read_annotations(tmp_path, annotation)
    assert answer.values == {"cats": ("0.000000 0.000000 0.500000 0.500000",)}
