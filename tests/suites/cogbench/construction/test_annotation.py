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
    parse_annotations,
)
from bench_assets.suites.cogbench.construction.merging import MergedItem
from tests.cases import read_cases
from tests.fakes.answers import answer, complaint
from tests.fakes.home import Home
from tests.fakes.rows import stored


def test_three_people_describe_each_image():
    (unit,) = ANNOTATION.units(images=[stored("a.png", "a" * 64)])
    assert (unit.unit_id, unit.images, unit.needed) == ("a.png", {"Image": "a" * 64}, 3)


def test_a_complete_answer_fits_and_one_without_a_description_does_not():
    (unit,) = ANNOTATION.units(images=[stored("a.png", "a" * 64)])
    complete = answer("a.png", entities=["boy", "kite"], description="A boy.", event=["A -> B"])
    incomplete = answer("a.png", entities=["boy"])
    assert complaint(ANNOTATION.task, unit, complete) == ""
    assert "description: empty" in complaint(ANNOTATION.task, unit, incomplete)


def read_answer(**values):
    """Items and rejections that are read from the answer of one annotator."""
    return parse_annotations(ANNOTATION.to_rows([answer("a.png", **values)]))


@pytest.mark.parametrize(
    ("values", "chain"), read_cases(__file__, "typed_chains.jsonl", tuples=True)
)
def test_a_chain_is_read_in_its_section_whatever_it_contains(values, chain):
    annotations = read_answer(entities=["boy"], description="A boy.", **values)
    assert [(item.field, item.text) for item in annotations.rows] == [
        ("Entities", "boy"),
        chain,
        ("Description", "A boy."),
    ]


def test_a_chain_with_two_arrows_is_rejected():
    annotations = read_answer(entities=["boy"], description="A boy.", event=["A. + -> B ->"])
    (rejection,) = annotations.rejections
    assert "[Event Reasoning] 1" in rejection.entry
    assert [item.field for item in annotations.rows] == ["Entities", "Description"]


def test_the_name_of_a_section_as_a_chain_begins_no_section():
    annotations = read_answer(
        entities=["boy"], time=["Time"], event=["A -> B"], description="A boy."
    )
    assert ("Event Reasoning", "A -> B") in [(item.field, item.text) for item in annotations.rows]
    assert [rejection.reason for rejection in annotations.rejections] == [
        "a conclusion only: there is no arrow: 'Time'"
    ]


def waiting_item(field, text, *near):
    return MergedItem(
        image="a.png",
        field=field,
        text=text,
        variants=(text,),
        annotators=("ana",),
        outcome="waiting",
        reason="given by 1",
        near=near,
    )


def test_a_waiting_item_is_shown_beside_near_items_without_its_author():
    item = waiting_item("Entities", "cat", "no (small) kitten", "no (small)")
    (unit,) = MERGE_REVIEW.units([item], [stored("a.png")])
    assert unit.choices["decision"] == (
        "keep it",
        "leave it out",
        "the same as: no (small) kitten",
        "the same as: no (small)",
    )
    assert unit.shown["Another one wrote (1)"] == "no (small) kitten"
    assert "ana" not in json.dumps([dict(unit.shown), unit.unit_id])


def test_a_description_cannot_be_declared_the_same_as_another():
    item = waiting_item(DESCRIPTION, "A dog runs.", "A cat sits.")
    (unit,) = MERGE_REVIEW.units([item], [stored("a.png")])
    assert unit.choices["decision"] == ("keep it", "leave it out")
    assert unit.shown["Another one wrote (1)"] == "A cat sits."


def review(*, accept, same_as=""):
    """A review of the entity "cat"."""
    return Review(image="a.png", field="Entities", text="cat", accept=accept, same_as=same_as)


@pytest.mark.parametrize(
    ("decisions", "reviews"),
    [
        pytest.param(["keep it"], [review(accept=True)], id="kept"),
        pytest.param(
            ["the same as: kitten"],
            [review(accept=None, same_as="kitten")],
            id="the same as another",
        ),
        pytest.param(["keep it", "leave it out"], [], id="divided: it still waits"),
        pytest.param(
            ["keep it", "leave it out", "keep it"], [review(accept=True)], id="two of three"
        ),
    ],
)
def test_a_review_is_the_decision_of_most_reviewers(decisions, reviews):
    (unit,) = MERGE_REVIEW.units([waiting_item("Entities", "cat")], [stored("a.png")])
    answers = [answer(unit.unit_id, f"p{n}", decision=text) for n, text in enumerate(decisions)]
    assert MERGE_REVIEW.to_rows(answers) == reviews


def test_an_answer_replaces_an_annotation_of_the_same_annotator(tmp_path):
    source = tmp_path / "source"
    (source / "images").mkdir(parents=True)
    text = "[Entities]: [cat]\n[Description]: A cat."
    entries = [{"image": "a.png", "annotator": name, "annotation": text} for name in ("ana", "bo")]
    (source / "annotations.json").write_text(json.dumps(entries))
    home = Home(tmp_path / "home", "cogbench", source)
    answers = [
        answer("a.png", "ana", entities=["dog"], description="A dog."),
        answer("a.png", "cem", entities=["cow"], description="A cow."),
    ]
    home.tables.write(ANNOTATION.table("answers").split("/"), answers, Answer)
    home.materialize([assets.annotations], dg.AssetSelection.all())

    items = home.read(AnnotatedItem, "annotations")
    entities = [(item.annotator, item.text) for item in items if item.field == "Entities"]
    assert entities == [("ana", "dog"), ("bo", "cat"), ("cem", "cow")]
