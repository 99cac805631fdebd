"""What people are asked for CogBench, and the rows that come of it."""

import json

import dagster as dg
import pytest

from bench_assets.annotation.tasks import Answer
from bench_assets.suites.cogbench.assets import construction as assets
from bench_assets.suites.cogbench.construction.annotation import ANNOTATION, MERGE_REVIEW
from bench_assets.suites.cogbench.construction.annotation_files import (
    DESCRIPTION,
    AnnotatedItem,
    Review,
    read_annotations,
)
from bench_assets.suites.cogbench.construction.merging import MergedItem
from tests.fakes.answers import answer, fits
from tests.fakes.home import Home
from tests.fakes.rows import stored


def test_three_people_describe_each_image():
    (unit,) = ANNOTATION.units(images=[stored("a.png", "a" * 64)])
    assert (unit.unit_id, unit.images, unit.needed) == ("a.png", {"Image": "a" * 64}, 3)
    written = answer("a.png", entities=["boy", "kite"], description="A boy.", event=["A -> B"])
    assert fits(ANNOTATION.task, unit, written) == ""
    assert "description: empty" in fits(ANNOTATION.task, unit, answer("a.png", entities=["boy"]))


PLAIN = [("Entities", "boy"), ("Description", "A boy.")]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        pytest.param({"event": ["[A -> B]"]}, ("Event Reasoning", "A -> B"), id="brackets typed"),
        pytest.param(
            {"event": ["A [left] runs. -> B"]},
            ("Event Reasoning", "A (left) runs. -> B"),
            id="brackets inside of a chain are round",
        ),
        pytest.param(
            {"event": ["A\n[Description]: no -> B"]},
            ("Event Reasoning", "A (Description): no -> B"),
            id="a heading in a chain begins no section",
        ),
        pytest.param(
            {"event": ["A. + -> B ->"]}, None, id="a chain with two arrows is named, not lost"
        ),
        pytest.param(
            {"location": ["你好。 → 在家。"]},
            ("Location Reasoning", "你好。 -> 在家。"),
            id="any text",
        ),
    ],
)
def test_whatever_is_typed_stays_in_its_section(values, found):
    written = answer("a.png", entities=["boy"], description="A boy.", **values)
    read_back = read_annotations(ANNOTATION.to_rows([written]))
    units = [(unit.field, unit.text) for unit in read_back.items]
    if found is None:
        (deviation,) = read_back.deviations
        assert "[Event Reasoning] 1" in deviation.entry
        found = ()
    assert units == ([PLAIN[0], found, PLAIN[1]] if found else PLAIN)


def test_a_chain_that_is_called_like_a_section_is_a_chain():
    written = answer(
        "a.png", entities=["boy"], time=["Time"], event=["A -> B"], description="A boy."
    )
    read_back = read_annotations(ANNOTATION.to_rows([written]))
    assert ("Event Reasoning", "A -> B") in [(i.field, i.text) for i in read_back.items]
    assert [d.reason for d in read_back.deviations] == [
        "a conclusion only: there is no arrow: 'Time'"
    ]


def waiting(field, text, *near, image="a.png"):
    return MergedItem(
        image=image,
        field=field,
        text=text,
        variants=(text,),
        annotators=("ana",),
        outcome="waiting",
        reason="given by 1",
        near=near,
    )


def noted(field, text, annotator="bo"):
    return AnnotatedItem(image="a.png", annotator=annotator, field=field, text=text)


def test_what_waits_is_shown_beside_what_comes_near_and_never_with_its_author():
    queue = waiting("Entities", "cat", "0.90 no (small) kitten (one denies)", "0.61 no (small)")
    texts = [noted("Entities", text) for text in ("cat", "no (small) kitten", "no (small)", "no")]
    (unit,) = MERGE_REVIEW.units([queue], texts, [stored("a.png")])
    assert unit.choices["decision"] == (
        "keep it",
        "leave it out",
        "the same as: no (small) kitten",
        "the same as: no (small)",
    )
    assert unit.shown["Another one wrote (1)"] == "no (small) kitten"
    assert "ana" not in json.dumps([dict(unit.shown), unit.unit_id])


def test_descriptions_stand_side_by_side_and_are_never_the_same():
    queue = waiting(DESCRIPTION, "A dog runs.", "A cat sits.")
    (unit,) = MERGE_REVIEW.units([queue], [], [stored("a.png")])
    assert unit.choices["decision"] == ("keep it", "leave it out")
    assert unit.shown["Another one wrote (1)"] == "A cat sits."


def review(text, accept, same_as="", field="Entities"):
    return Review(image="a.png", field=field, text=text, accept=accept, same_as=same_as)


@pytest.mark.parametrize(
    ("decisions", "outcome"),
    [
        pytest.param(["keep it"], [review("cat", True)], id="kept"),
        pytest.param(
            ["the same as: kitten"], [review("cat", None, "kitten")], id="the same as another"
        ),
        pytest.param(["keep it", "leave it out"], [], id="divided: it still waits"),
        pytest.param(
            ["keep it", "leave it out", "keep it"], [review("cat", True)], id="two of three"
        ),
    ],
)
def test_a_review_is_what_most_reviewers_say(decisions, outcome):
    (unit,) = MERGE_REVIEW.units([waiting("Entities", "cat")], [], [stored("a.png")])
    answers = [answer(unit.unit_id, f"p{n}", decision=text) for n, text in enumerate(decisions)]
    assert MERGE_REVIEW.to_rows(answers) == outcome


def test_of_one_persons_two_annotations_of_a_image_the_answer_counts(tmp_path):
    folder = tmp_path / "source"
    (folder / "images").mkdir(parents=True)
    text = "[Entities]: [cat]\n[Description]: A cat."
    entries = [{"image": "a.png", "annotator": who, "annotation": text} for who in ("ana", "bo")]
    (folder / "annotations.json").write_text(json.dumps(entries))
    home = Home(tmp_path / "home", "cogbench", folder)
    answers = [
        answer("a.png", "ana", entities=["dog"], description="A dog."),
        answer("a.png", "cem", entities=["cow"], description="A cow."),
    ]
    home.tables.write(ANNOTATION.table("answers").split("/"), answers, Answer)
    home.materialize([assets.annotations], dg.AssetSelection.all())
    found = [
        (row.annotator, row.text)
        for row in home.read(AnnotatedItem, "annotations")
        if row.field == "Entities"
    ]
    assert found == [("ana", "dog"), ("bo", "cat"), ("cem", "cow")]
