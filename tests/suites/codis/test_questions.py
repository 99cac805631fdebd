"""Pairs become two questions each, and images become captions."""

from dataclasses import replace

from bench_assets.core.schema.rows import ImageText, Question, StoredImage
from bench_assets.suites.codis.dataset import to_image_texts, to_questions
from tests.suites.codis.raw import pair


def stored(name, sha256):
    return StoredImage(name=name, sha256=sha256, format="PNG", width=8, height=6, n_bytes=70)


IMAGES = {"a.png": stored("a.png", "aa"), "b.png": stored("b.png", "bb")}


def test_a_pair_is_asked_once_in_each_context():
    first = Question(
        question_id="codis/017/1",
        task="codis",
        edition="published",
        kind="text",
        text="Opening or closing?",
        answer=("Opening.",),
        images=("aa",),
        options=("Opening.", "Closing."),
        context="I go left.",
        category="Attributes",
        group_id="017",
        labels={"image": "a.png"},
    )
    second = replace(first, question_id="codis/017/2", answer=("Closing.",), context="I go right.")
    assert to_questions([pair(pair_id="017")], IMAGES, "published") == [first, second]


def test_captions_belong_to_images_by_name_and_those_of_no_image_are_left_out():
    captions = {"c.png": "A cat.", "b.png": "A door."}
    assert to_image_texts(captions, IMAGES.values(), "captions.jsonl") == [
        ImageText(image="bb", text="A door.", author="captions.jsonl")
    ]
