import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.cogbench.construction.annotation_files import (
    AnnotatedItem,
    Review,
    read_reviews,
)
from bench_assets.suites.cogbench.construction.merging import merge_items
from bench_assets.suites.cogbench.construction.stories import (
    compare_descriptions,
    descriptions_to_review,
    merged_chains,
    merged_stories,
)
from tests.suites.cogbench.encoders import MeaningEncoder

ENCODER = MeaningEncoder({"boy", "lad", "youngster"}, {"cat", "kitten"}, {"told so", "told thus"})


def noted(field="Entities", **by):
    return [
        AnnotatedItem(image="a.png", annotator=name, field=field, text=text)
        for name, texts in by.items()
        for text in texts
    ]


def merged(items, reviews=()):
    return merge_items(items, reviews, ENCODER, similarity=0.8)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        pytest.param(
            {"ana": ["boy"], "bo": ["Boy "], "cem": ["cat"]},
            [(("ana", "bo"), "accepted"), (("cem",), "waiting")],
            id="equal texts are one item, two votes accept, one waits",
        ),
        pytest.param(
            {"ana": ["boy"], "bo": ["lad"], "cem": ["youngster"]},
            [(("ana", "bo", "cem"), "accepted")],
            id="near-equal texts are one item",
        ),
        pytest.param(
            {"ana": ["cat", "kitten"], "bo": ["tree"]},
            [(("ana",), "waiting"), (("ana",), "waiting"), (("bo",), "waiting")],
            id="two things that one annotator lists stay two, however close",
        ),
        pytest.param(
            {"ana": ["cat", "kitten"], "bo": ["kitten"]},
            [(("ana",), "waiting"), (("ana", "bo"), "accepted")],
            id="an equal text goes before a near-equal one",
        ),
        pytest.param(
            {"ana": ["boy", "boy"]}, [(("ana",), "waiting")], id="saying it twice is one vote"
        ),
    ],
)
def test_items_are_merged_by_majority_vote(by, expected):
    items = merged(noted(**by)).rows
    assert [(item.annotators, item.outcome) for item in items] == expected


@pytest.mark.parametrize(
    ("text", "accept", "outcome"),
    [
        pytest.param("Cat", False, "rejected", id="rejected, in another case"),
    ],
)
def test_a_review_decides_what_waits(text, accept, outcome):
    review = Review(image="a.png", field="Entities", text=text, accept=accept)
    (item,) = merged(noted(ana=["cat"]), [review]).rows
    assert (item.outcome, item.reason) == (outcome, "given by 1, decided by review")


def test_a_review_of_nothing_is_reported_and_decides_nothing():
    review = Review(image="b.png", field="Entities", text="cat", accept=True)
    items = merged(noted(ana=["cat"]), [review])
    assert [item.outcome for item in items.rows] == ["waiting"]
    (idle,) = items.rejections
    assert idle.entry == "reviews.json, b.png, [Entities]"


def test_reviews_that_contradict_each_other_decide_nothing_and_are_listed():
    both = [
        Review(image="a.png", field="Entities", text=text, accept=accept)
        for text, accept in (("cat", True), ("Cat", False), ("dog", True))
    ]
    items = merged(noted(ana=["cat", "dog"]), both)
    assert {item.text: item.outcome for item in items.rows} == {
        "cat": "waiting",
        "dog": "accepted",
    }
    assert [(rejection.entry, rejection.reason) for rejection in items.rejections] == [
        ("reviews.json, a.png, [Entities]", "'cat' is accepted and rejected: the item waits"),
        ("reviews.json, a.png, [Entities]", "'Cat' is accepted and rejected: the item waits"),
    ]


def test_a_review_says_that_two_items_are_one_also_of_one_annotator():
    items = noted(ana=["boy", "biscuit", "cookie"], bo=["urchin"])
    reviews = [
        Review(image="a.png", field="Entities", text="boy", accept=None, same_as="Urchin"),
        Review(image="a.png", field="Entities", text="biscuit", accept=None, same_as="cookie"),
    ]
    found = merged(items, reviews)
    assert [(item.variants, item.outcome) for item in found.rows] == [
        (("boy", "urchin"), "accepted"),
        (("biscuit", "cookie"), "waiting"),
    ]
    assert found.rejections == []


def test_what_comes_near_stands_beside_what_waits_with_what_speaks_against_it():
    first, second = merged(noted(ana=["cat"], bo=["no kitten"], cem=["tree"])).rows[:2]
    assert (first.text, first.near) == ("cat", ())
    encoder = MeaningEncoder({"cat", "no kitten"})
    first, second = merge_items(noted(ana=["cat"], bo=["no kitten"]), (), encoder, 0.8).rows
    assert (first.outcome, first.near) == ("waiting", ("0.90 no kitten (one denies)",))
    assert (second.outcome, second.near) == ("waiting", ("0.90 cat (one denies)",))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        pytest.param({}, "expected accept", id="nothing is decided"),
        pytest.param({"same_as": 3}, "same_as", id="no text"),
    ],
)
def test_a_review_that_decides_nothing_is_refused(tmp_path, entry, message):
    fields = {"image": "a.png", "field": "Entities", "text": "boy", **entry}
    (tmp_path / "reviews.json").write_text(json.dumps([fields]))
    with pytest.raises(SourceError, match=message):
        read_reviews(tmp_path).require()


def test_reviews_are_read_in_both_forms(tmp_path):
    fields = {"image": "a.png", "field": "Entities", "text": "boy"}
    entries = [fields | {"accept": False}, fields | {"same_as": "lad"}]
    (tmp_path / "reviews.json").write_text(json.dumps(entries))
    assert [(one.accept, one.same_as) for one in read_reviews(tmp_path).require()] == [
        (False, ""),
        (None, "lad"),
    ]


def descriptions(**texts):
    return noted("Description", **{name: [text] for name, text in texts.items()})


@pytest.mark.parametrize(
    ("texts", "alike", "author"),
    [
        pytest.param(
            {"ana": "told so", "bo": "told thus", "cem": "another"}, ("ana", "bo"), "ana", id="two"
        ),
        pytest.param({"ana": "one", "bo": "two", "cem": "three"}, (), "", id="all differently"),
        pytest.param({"ana": "told so"}, (), "", id="a single annotator"),
    ],
)
def test_a_image_is_kept_if_two_understand_it_alike(texts, alike, author):
    (image,) = compare_descriptions(descriptions(**texts), [], ENCODER, similarity=0.8)
    assert (image.alike, image.author) == (alike, author)
    assert image.description == texts.get(author, "")


def description_review(text, *, accept):
    return Review(image="a.png", field="Description", text=text, accept=accept)


@pytest.mark.parametrize(
    ("reviews", "author"),
    [
        pytest.param([description_review("Three.", accept=True)], "cem", id="taken, though alone"),
        pytest.param(
            [description_review("told so", accept=False)], "", id="put aside: one is left"
        ),
        pytest.param(
            [description_review("another story", accept=True)], "ana", id="of no description"
        ),
    ],
)
def test_a_person_overrules_which_description_is_taken(reviews, author):
    noted_texts = descriptions(ana="told so", bo="told thus", cem="three")
    (image,) = compare_descriptions(noted_texts, [], ENCODER, 0.8, reviews)
    assert image.author == author
    assert image.by_review is (author == "cem")


def test_descriptions_of_a_dropped_image_stand_beside_each_other_in_the_queue():
    noted_texts = descriptions(ana="one", bo="two")
    queue = descriptions_to_review(noted_texts, compare_descriptions(noted_texts, [], ENCODER, 0.8))
    assert [(item.text, item.near, item.outcome) for item in queue] == [
        ("one", ("two",), "waiting"),
        ("two", ("one",), "waiting"),
    ]


def test_stories_hold_what_was_accepted_of_images_that_were_kept():
    items = [
        *noted(ana=["boy", "cat"], bo=["boy"]),
        *noted(
            "Event Reasoning", ana=["A -> B", "C -> D"], bo=["A -> B", "C -> D"], cem=["E -> F"]
        ),
        *descriptions(ana="told so", bo="told thus"),
    ]
    found = merged(items).rows
    understood = compare_descriptions(items, found, ENCODER, similarity=0.8)
    (story,) = merged_stories(found, understood)
    assert (story.image_id, story.image, story.entities) == ("a", "a.png", ("boy",))
    chains = [(chain.kind, chain.number, chain.text) for chain in merged_chains(found)]
    assert chains == [("Event", 1, "A -> B"), ("Event", 2, "C -> D")]
