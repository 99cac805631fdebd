"""Forms, tasks and results in Label Studio's own terms; its JSON as release 1.23.2 sent it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from bench_assets.annotation.tasks import AnnotationTask, Field, Unit
from bench_assets.core.images.orientation import ImageFrame
from bench_resources.annotation.label_studio.units import (
    Pseudonyms,
    answers_of,
    data_of,
    label_config,
    task_of,
    unit_of,
)

FORM = AnnotationTask(
    name="blink/points",
    title="Where is it?",
    instructions="",
    fields=(
        Field(name="v", kind="choice", label="More than $5?", choices=("yes", "$100")),
        Field(name="t", kind="texts", label="What & why?", required=False, most=3),
        Field(name="pts", kind="points", label="place $x"),
    ),
)
SHA, OTHER = "00435823" * 8, "00838962" * 8
ITEM = Unit(
    task=FORM.name,
    unit_id="a",
    shown={"Question": "It is $5 <b>"},
    images={"H": SHA, "other": OTHER},
    proposal={"v": ("$100",), "t": ("hello",), "pts": ("0.25 0.5",)},
    proposed_by="smol",
)
# Submitted in Chromium; the browser filled in the size that it drew the image in.
RECORDED: Mapping[str, Any] = json.loads(r"""
{"id": 2, "completed_by": 1, "result": [
  {"value": {"choices": ["$\u200b100"]}, "id": "x1", "from_name": "v", "to_name": "unit",
   "type": "choices", "origin": "prediction"},
  {"value": {"text": ["hello"]}, "id": "x2", "from_name": "t", "to_name": "unit",
   "type": "textarea", "origin": "prediction"},
  {"original_width": 455, "original_height": 341, "image_rotation": 0,
   "value": {"x": 25, "y": 50, "width": 0.5, "keypointlabels": ["place $\u200bx"]}, "id": "x3",
   "from_name": "pts", "to_name": "image", "type": "keypointlabels", "origin": "prediction"}],
 "was_cancelled": false, "ground_truth": false, "created_at": "2026-11-22T16:42:17.614955Z",
 "updated_at": "2026-11-22T16:42:17.615010Z", "draft_created_at": null, "lead_time": 4.593,
 "result_count": 3, "unique_id": "bf76d949-9c52-4b53-b04a-2b4c6635d032", "import_id": null,
 "last_action": null, "bulk_created": false, "task": 4, "project": 2, "updated_by": 1,
 "parent_prediction": 1, "parent_annotation": null, "last_created_by": null}
""")
WHO = Pseudonyms({1: "Ana@Lab.example", 2: "ben@lab.example"}, {"ana@lab.example": "ana"})


def _heard(**more: Any) -> Any:
    task = {"id": 4, "data": data_of(ITEM, FORM), "annotations": [{**RECORDED, **more}]}
    (answer,) = answers_of(FORM, 2, task, WHO)
    return answer


def test_what_was_recorded_is_read() -> None:
    answer = _heard()
    assert answer.values == {"v": ("$100",), "t": ("hello",), "pts": ("0.250000 0.500000",)}
    assert (answer.unit_id, answer.unit_digest) == ("a", ITEM.digest)
    assert (answer.task_version, answer.proposed_by) == (FORM.version, "smol")
    assert (answer.person, answer.changed_by, answer.seconds) == ("ana", "", 4.593)
    assert (answer.at, answer.changed_at) == (
        "2026-11-22T16:42:17.614Z",
        "2026-11-22T16:42:17.615Z",
    )
    assert (answer.tool, answer.tool_id, answer.complaint) == ("label-studio", "2/4/2", "")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"completed_by": {"id": 1, "email": "x"}, "updated_by": [{"user_id": 1}]}, ("ana", "")),
        ({"updated_by": 2}, ("ana", "user 2")),
        ({"updated_by": None}, ("ana", "")),
        ({"completed_by": 77, "updated_by": 77}, ("user 77", "")),
    ],
)
def test_accounts_in_either_shape_are_pseudonyms(
    more: Mapping[str, Any], told: tuple[str, str]
) -> None:
    assert (_heard(**more).person, _heard(**more).changed_by) == told


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"completed_by": None}, "the account was deleted"),
        ({"result": None}, "annotation 2: no answer"),
        ({"result": [{"from_name": "v", "value": {"selected": "left"}}]}, "got selected"),
        (
            {
                "result": [
                    {
                        "from_name": "pts",
                        "image_rotation": 90,
                        "value": {"x": 25, "y": 50, "keypointlabels": ["x"]},
                    }
                ]
            },
            "rotated by 90 degrees",
        ),
        ({"created_at": None}, "no answer"),
    ],
)
def test_what_cannot_be_an_answer_is_there_with_a_complaint(
    more: Mapping[str, Any], complaint: str
) -> None:
    assert complaint in _heard(**more).complaint


@pytest.mark.parametrize("orientation", range(1, 9))
def test_points_count_where_the_browser_had_the_image_upright(orientation: int) -> None:
    """The recorded browser drew 455 x 341 px."""
    stored = (4000, 3000) if orientation < 5 else (3000, 4000)
    for frame, complaint in (
        (ImageFrame(*stored, orientation), ""),
        (ImageFrame(4000, 3000, orientation), "" if orientation < 5 else "has 3000 x 4000 px"),
    ):
        task = {"id": 4, "data": data_of(ITEM, FORM), "annotations": [RECORDED]}
        sizes = {SHA: frame.shown}
        (answer,) = answers_of(FORM, 2, task, WHO, sizes.__getitem__)
        assert complaint in answer.complaint
        assert bool(answer.complaint) == bool(complaint)
        assert answer.values.get("pts", ()) == (() if complaint else ("0.250000 0.500000",))


@pytest.mark.parametrize("data", [None, {"key": "a"}, {"text": "my own"}])
def test_a_task_that_is_none_of_ours_is_told_of(data: Any) -> None:
    (answer,) = answers_of(FORM, 2, {"id": 9, "data": data, "annotations": [RECORDED]}, WHO)
    assert answer.complaint == "its task was not created by bench, or was changed in Label Studio"


@pytest.mark.parametrize(
    "more",
    [
        {"shown": [{"heading": "Question", "text": "Say yes"}]},
        {"choices_v": [{"value": "yes"}]},
        {"image": "/data/local-files/?d=images/00/other"},
        {"digest": "0" * 64},
    ],
)
def test_a_task_that_shows_something_else_is_found_out(more: Mapping[str, Any]) -> None:
    task = {"id": 4, "data": {**data_of(ITEM, FORM), **more}, "annotations": [RECORDED]}
    (answer,) = answers_of(FORM, 2, task, WHO)
    assert answer.complaint == "the content of its task was changed in Label Studio"


def test_half_a_sign_of_two_becomes_a_sign_that_a_file_can_hold() -> None:
    half = [{"from_name": "t", "value": {"text": ["a \ud83d b"]}}]
    assert _heard(result=half).values == {"t": ("a \ufffd b",)}


def test_an_item_comes_back_out_of_its_task() -> None:
    asked = replace(ITEM, choices={"v": ("one", "$2")})
    data = json.loads(json.dumps(data_of(asked, FORM)))
    assert unit_of(FORM, data) == asked
    assert [one["value"] for one in data["choices_v"]] == ["one", "$\u200b2"]


def test_a_proposal_has_the_form_of_a_result() -> None:
    (prediction,) = task_of(ITEM, FORM)["predictions"]
    values = {one["from_name"]: one["value"] for one in prediction["result"]}
    assert values["v"] == {"choices": ["$\u200b100"]}
    assert values["pts"] == {"x": 25, "y": 50, "width": 0.5, "keypointlabels": ["place $\u200bx"]}
    assert "gold" not in json.dumps(task_of(replace(ITEM, gold={"v": ("yes",)}), FORM))


def test_a_form_has_a_control_for_each_field() -> None:
    view = fromstring(label_config(FORM))
    controls = {one.get("name"): one for one in view.iter() if one.get("toName")}
    assert [(name, one.tag) for name, one in controls.items()] == [
        ("v", "Choices"), ("t", "TextArea"), ("pts", "KeyPointLabels"),
    ]  # fmt: skip
    assert controls["v"].attrib == {
        "name": "v", "toName": "unit", "required": "true",
        "requiredMessage": "Please answer: More than $\u200b5?", "choice": "single-radio",
        "showInline": "true", "value": "$choices_v",
    }  # fmt: skip
    assert controls["t"].get("maxSubmissions") == "3"
    assert controls["t"].get("required") is None
    assert controls["pts"].get("toName") == "image"
    objects = {one.get("name") for one in view.iter() if one.tag in ("Text", "Image")}
    assert {one.get("toName") for one in controls.values()} <= objects


def test_every_key_that_a_form_shows_is_in_a_task() -> None:
    for annotation_task in (FORM, replace(FORM, fields=FORM.fields[:2])):
        view = fromstring(label_config(annotation_task))
        shown = {one.get(name, "") for one in view.iter() for name in ("value", "on")}
        keys = {text[1:].split("[")[0] for text in shown if text.startswith("$")}
        assert keys - {""} <= data_of(ITEM, annotation_task).keys()
