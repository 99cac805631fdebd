"""From the tables of the release to R@k, with encoders that are written down."""

import numpy as np
import pytest

from bench_assets.core.schema.rows import Score
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ScoredQuestion
from bench_assets.suites.journeybench.published_files import published_files
from bench_assets.suites.journeybench.retrieval.dataset import (
    IMAGE_RETRIEVAL,
    TEXT_RETRIEVAL,
    read_samples,
    to_candidates,
    to_questions,
)
from bench_assets.suites.journeybench.retrieval.scoring import rank, recall_measures
from bench_assets.suites.journeybench.retrieval.task import TASK
from tests.fakes.rows import question, stored
from tests.suites.journeybench.release import HOST, write_release

NAMES = ("cat%20car", "whale", "dog%20car", "shark")
CAT, WHALE, DOG, SHARK = (f"{HOST}/{name}.png" for name in NAMES)


class Written:
    """An encoder that knows a whale from a cat and from a shark, but no cat from a dog."""

    name = "written"

    def encode_texts(self, texts):
        return np.array([self.vector(text.lower()) for text in texts], np.float32)

    def encode_images(self, images):
        names = {stored(url).sha256: url for url in (CAT, WHALE, DOG, SHARK)}
        return self.encode_texts([names[image] for image in images])

    def vector(self, text):
        if "cat" in text or "dog" in text:
            return (1.0, 0.0)
        return (0.6, 0.8) if "shark" in text else (0.0, 1.0)


@pytest.fixture
def samples(tmp_path):
    return read_samples(published_files(write_release(tmp_path / "source"))).require()


@pytest.fixture
def images():
    return {url: stored(url) for url in (CAT, WHALE, DOG, SHARK)}


def test_tables_of_the_release_come_together_by_image(samples):
    cat, whale = samples
    assert cat.texts == ("A cat drives a car.", "A cat at the wheel.")
    assert cat.text_distractors == ("A dog drives a car.", "A cat drives a car.")
    assert len(cat.captions) == 3
    assert cat.image_distractors == (DOG, CAT, f"{HOST}/lost.png")
    assert (whale.texts, whale.text_distractors) == (("A flying whale.",), ())


def test_one_row_a_image_is_read_as_well(tmp_path):
    (tmp_path / "retrieval.json").write_text(
        f'[{{"url": "{CAT}", "captions": ["A cat"], "image_distractor_url": ["{DOG}"], '
        '"text_distractors": ["A dog", ""]}]'
    )
    (sample,) = read_samples(published_files(tmp_path)).require()
    assert (sample.texts, sample.captions) == (("A cat",), ("A cat",))
    assert (sample.text_distractors, sample.image_distractors) == (("A dog",), (DOG,))


def test_what_is_left_out_is_listed(samples, images):
    assert [(row.entry, row.reason) for row in to_questions(samples, images, {}).rejections] == [
        (
            "images.example.org/cat%20car.png: A cat drives a car.",
            "a distractor that is also a right text",
        ),
        (f"images.example.org/cat%20car.png: {CAT}", "a distractor that is the image itself"),
        (f"images.example.org/cat%20car.png: {HOST}/lost.png", "the distractor's image is missing"),
    ]
    del images[WHALE]
    assert ("images.example.org/whale.png", f"no image: {WHALE}") in [
        (row.entry, row.reason) for row in to_questions(samples, images, {}).rejections
    ]


def test_queries_and_candidates(samples, images):
    questions = to_questions(samples, images, {CAT: ("strange animal",)}).rows
    assert [
        question.question_id.removeprefix("journeybench/retrieval/") for question in questions
    ] == [
        "text/images.example.org/cat%20car.png",
        "image/images.example.org/cat%20car.png/1",
        "image/images.example.org/cat%20car.png/2",
        "image/images.example.org/cat%20car.png/3",
        "text/images.example.org/whale.png",
        "image/images.example.org/whale.png/1",
        "image/images.example.org/whale.png/2",
    ]
    candidates = to_candidates(samples, images)
    groups = {question.group_id for question in questions}
    assert {c.distracts for c in candidates if c.distracts} <= groups
    known = {candidate.candidate_id for candidate in candidates}
    assert all(name in known for question in questions for name in question.answer)
    assert len(known) == len(candidates) == 3 + 1 + 2 + 2


def test_as_released_a_distractor_may_be_right_and_takes_the_first_place(samples, images):
    questions = to_questions(samples, images, {}).rows
    candidates = to_candidates(samples, images, as_released=True)
    assert len(candidates) == 3 + 2 + 2 + 3
    same = [c for c in candidates if c.text == "A cat drives a car."]
    assert [bool(c.distracts) for c in same] == [False, True]
    predictions = rank(questions, candidates, Unlike(), "unlike", "as_released")
    (cat,) = [
        p for p in predictions if p.question_id.endswith("text/images.example.org/cat%20car.png")
    ]
    assert cat.ranking[0] == same[1].candidate_id, "of equal ones the right one comes last"
    assert "+own distractors" in cat.decoding


class Unlike(Written):
    """An encoder that tells the words of one caption from all others."""

    def vector(self, text):
        return (1.0, 0.0) if text in {"a cat drives a car.", CAT.lower()} else (0.0, 1.0)


@pytest.mark.parametrize(
    ("condition", "text_r1", "image_r1"),
    [
        pytest.param("without_distractors", 1.0, 1.0, id="among the other samples' only"),
        # The dog is as like as the cat, and the right one comes last: only the whale is found.
        pytest.param("main", 1 / 2, 2 / 5, id="among look-alikes"),
    ],
)
def test_recall(samples, images, condition, text_r1, image_r1):
    questions = to_questions(samples, images, {CAT: ("strange animal",)}).rows
    predictions = rank(questions, to_candidates(samples, images), Written(), "written", condition)
    scores = pipeline.score(TASK, questions, predictions, [])
    rows = pipeline.summarise(TASK, questions, predictions, scores)
    values = {row.metric: row for row in rows if row.category == "all"}
    assert values["text_r@1"].value == text_r1
    assert values["image_r@1"].value == pytest.approx(image_r1)
    assert values["image_r@5"].value == 1
    assert (values["text_r@1"].n_scored, values["image_r@1"].n_scored) == (2, 5)
    assert "pools:3 texts,2 images" in values["text_r@1"].signature
    assert "equal ones: right last" in values["text_r@1"].signature


def ranked(place, points=0.0, direction=TEXT_RETRIEVAL):
    """A query whose right candidate is ranked at a place, the first being 1."""
    ranking = tuple("right" if n == place else f"wrong {n}" for n in range(1, 13))
    query = question(question_id=f"r/{place}", category=direction, answer=("right",))
    score = Score(question_id="", model="m", condition="main", points=points, answer=ranking)
    return ScoredQuestion(query, score)


def test_recalls_are_shares_of_the_queries_of_their_direction():
    texts = [ranked(place) for place in (1, 5, 6, 10, 11)]
    rows = [*texts, ranked(1, points=None), ranked(2, direction=IMAGE_RETRIEVAL)]
    values = {name: measure(rows) for name, measure in recall_measures().items()}
    assert {name: mean.value for name, mean in values.items()} == {
        "text_r@1": 1 / 5,
        "text_r@5": 2 / 5,
        "text_r@10": 4 / 5,
        "image_r@1": 0.0,
        "image_r@5": 1.0,
        "image_r@10": 1.0,
    }
    counts = [(mean.n_scored, mean.n_unscored) for mean in values.values()]
    assert counts == [(5, 1)] * 3 + [(1, 0)] * 3
