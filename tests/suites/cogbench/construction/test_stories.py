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
from tests.cases import read_cases
from tests.suites.cogbench.encoders import MeaningEncoder

ENCODER = MeaningEncoder({"boy", "lad", "youngster"}, {"cat", "kitten"}, {"told so", "told thus"})


def annotated_items(field="Entities", **texts_by_annotator):
    return [
        AnnotatedItem(image="a.png", annotator=annotator, field=field, text=text)
        for annotator, texts in texts_by_annotator.items()
        for text in texts
    ]


def merge(items, reviews=()):
    return merge_items(items, reviews, ENCODER, same_item=0.8, near_item=0.5)


@pytest.mark.parametrize(
    ("texts_by_annotator", "expected"), read_cases(__file__, "merged_items.jsonl", tuples=True)
)
def test_items_are_merged_by_meaning_and_accepted_by_two_votes(texts_by_annotator, expected):
    items = merge(annotated_items(**texts_by_annotator)).rows
    assert tuple((item.annotators, item.outcome) for item in items) == expected


def test_a_review_in_another_case_decides_a_waiting_item():
    review = Review(image="a.png", field="Entities", text="Cat", accept=False)
    (item,) = merge(annotated_items(ana=["cat"]), [review]).rows
    assert (item.outcome, item.reason) == ("rejected", "given by 1, decided by review")


def test_a_review_of_an_unknown_image_is_reported_and_decides_nothing():
    review = Review(image="b.png", field="Entities", text="cat", accept=True)
    items = merge(annotated_items(ana=["cat"]), [review])
    assert [item.outcome for item in items.rows] == ["waiting"]
    (rejection,) = items.rejections
    assert rejection.entry == "reviews.json, b.png, [Entities]"


def test_reviews_that_contradict_each_other_decide_nothing_and_are_listed():
    reviews = [
        Review(image="a.png", field="Entities", text=text, accept=accept)
        for text, accept in (("cat", True), ("Cat", False), ("dog", True))
    ]
    items = merge(annotated_items(ana=["cat", "dog"]), reviews)
    assert {item.text: item.outcome for item in items.rows} == {"cat": "waiting", "dog": "accepted"}
    assert [(rejection.entry, rejection.reason) for rejection in items.rejections] == [
        ("reviews.json, a.png, [Entities]", "'cat' is accepted and rejected: the item waits"),
        ("reviews.json, a.png, [Entities]", "'Cat' is accepted and rejected: the item waits"),
    ]


def test_a_review_merges_two_items_even_of_one_annotator():
    items = annotated_items(ana=["boy", "biscuit", "cookie"], bo=["urchin"])
    reviews = [
        Review(image="a.png", field="Entities", text="boy", accept=None, same_as="Urchin"),
        Review(image="a.png", field="Entities", text="biscuit", accept=None, same_as="cookie"),
    ]
    merged = merge(items, reviews)
    assert [(item.variants, item.outcome) for item in merged.rows] == [
        (("boy", "urchin"), "accepted"),
        (("biscuit", "cookie"), "waiting"),
    ]
    assert merged.rejections == []


def test_an_item_of_another_meaning_is_not_near():
    items = merge(annotated_items(ana=["cat"], bo=["tree"])).rows
    assert [(item.text, item.near) for item in items] == [("cat", ()), ("tree", ())]


def test_waiting_items_name_near_items_with_cosine_and_objection():
    encoder = MeaningEncoder({"cat", "no kitten"})
    first, second = merge_items(
        annotated_items(ana=["cat"], bo=["no kitten"]), (), encoder, same_item=0.8, near_item=0.5
    ).rows
    assert (first.near, first.near_notes) == (("no kitten",), ("0.90 (one denies)",))
    assert (second.near, second.near_notes) == (("cat",), ("0.90 (one denies)",))


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        pytest.param({}, "expected accept", id="nothing is decided"),
        pytest.param({"same_as": 3}, "'same_as' is 3, expected a text", id="no text"),
    ],
)
def test_a_review_without_a_decision_is_refused(tmp_path, decision, message):
    review = {"image": "a.png", "field": "Entities", "text": "boy", **decision}
    (tmp_path / "reviews.json").write_text(json.dumps([review]))
    with pytest.raises(SourceError, match=message):
        read_reviews(tmp_path).require()


def test_a_review_rejects_or_merges(tmp_path):
    item = {"image": "a.png", "field": "Entities", "text": "boy"}
    entries = [item | {"accept": False}, item | {"same_as": "lad"}]
    (tmp_path / "reviews.json").write_text(json.dumps(entries))
    reviews = read_reviews(tmp_path).require()
    assert [(review.accept, review.same_as) for review in reviews] == [(False, ""), (None, "lad")]


def descriptions(**texts):
    return annotated_items("Description", **{name: [text] for name, text in texts.items()})


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
def test_an_image_is_kept_if_two_descriptions_are_alike(texts, alike, author):
    (image,) = compare_descriptions(descriptions(**texts), [], ENCODER, same_story=0.8)
    assert (image.alike, image.author) == (alike, author)
    assert image.description == texts.get(author, "")


def description_review(text, *, accept):
    return Review(image="a.png", field="Description", text=text, accept=accept)


@pytest.mark.parametrize(
    ("review", "author", "by_review"),
    [
        pytest.param(
            description_review("Three.", accept=True),
            "cem",
            True,
            id="accepted, though no other is alike",
        ),
        pytest.param(
            description_review("told so", accept=False), "", False, id="rejected: one is left"
        ),
        pytest.param(
            description_review("another story", accept=True),
            "ana",
            False,
            id="a review of an unknown description changes nothing",
        ),
    ],
)
def test_a_review_selects_or_excludes_a_description(review, author, by_review):
    items = descriptions(ana="told so", bo="told thus", cem="three")
    (image,) = compare_descriptions(items, [], ENCODER, same_story=0.8, reviews=[review])
    assert (image.author, image.by_review) == (author, by_review)


def test_descriptions_of_a_dropped_image_are_queued_for_review_with_each_other():
    items = descriptions(ana="one", bo="two")
    understandings = compare_descriptions(items, [], ENCODER, same_story=0.8)
    queue = descriptions_to_review(items, understandings)
    assert [(item.text, item.near, item.outcome) for item in queue] == [
        ("one", ("two",), "waiting"),
        ("two", ("one",), "waiting"),
    ]


def test_the_only_description_of_a_dropped_image_has_no_closest():
    items = descriptions(ana="one")
    understandings = compare_descriptions(items, [], ENCODER, same_story=0.8)
    (waiting,) = descriptions_to_review(items, understandings)
    assert (waiting.near, waiting.reason) == ((), "fewer than two descriptions")


def test_stories_have_the_accepted_items_of_kept_images():
    items = [
        *annotated_items(ana=["boy", "cat"], bo=["boy"]),
        *annotated_items(
            "Event Reasoning", ana=["A -> B", "C -> D"], bo=["A -> B", "C -> D"], cem=["E -> F"]
        ),
        *descriptions(ana="told so", bo="told thus"),
    ]
    merged = merge(items).rows
    understandings = compare_descriptions(items, merged, ENCODER, same_story=0.8)

    (story,) = merged_stories(merged, understandings)
    chains = merged_chains(merged)

    assert (story.image_id, story.image, story.entities) == ("a", "a.png", ("boy",))
    assert [(chain.kind, chain.number, chain.text) for chain in chains] == [
        ("Event", 1, "A -> B"),
        ("Event", 2, "C -> D"),
    ]
