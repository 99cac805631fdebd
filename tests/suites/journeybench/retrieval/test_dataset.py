import numpy as np
import pytest

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Score
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ScoredQuestion
from bench_assets.suites.journeybench.published_files import published_files
from bench_assets.suites.journeybench.retrieval.dataset import (
    IMAGE_RETRIEVAL,
    RELEASES,
    TEXT_RETRIEVAL,
    is_release,
    read_samples,
    to_candidates,
    to_questions,
)
from bench_assets.suites.journeybench.retrieval.scoring import (
    query_prompt,
    rank,
    recall_measures,
)
from bench_assets.suites.journeybench.retrieval.task import TASK
from tests.fakes.rows import question, stored
from tests.suites.journeybench.release import HOST, write_lines, write_release

NAMES = ("cat%20car", "whale", "dog%20car", "shark")
CAT, WHALE, DOG, SHARK = (f"{HOST}/{name}.png" for name in NAMES)


class FixedEncoder:
    """Tells a whale from a cat and from a shark, but no cat from a dog."""

    name = "fixed"

    def encode_texts(self, texts):
        return np.array([self.vector(text.lower()) for text in texts], np.float32)

    def encode_images(self, images):
        urls = {stored(url).sha256: url for url in (CAT, WHALE, DOG, SHARK)}
        return self.encode_texts([urls[image] for image in images])

    def vector(self, text):
        if "cat" in text or "dog" in text:
            return (1.0, 0.0)
        return (0.6, 0.8) if "shark" in text else (0.0, 1.0)


@pytest.fixture
def samples(tmp_path):
    return read_samples(published_files(write_release(tmp_path / "source"), *RELEASES)).require()


@pytest.fixture
def images():
    return {url: stored(url) for url in (CAT, WHALE, DOG, SHARK)}


def test_tables_of_the_release_are_joined_by_image(samples):
    cat, whale = samples
    assert cat.texts == ("A cat drives a car.", "A cat at the wheel.")
    assert cat.text_distractors == ("A dog drives a car.", "A cat drives a car.")
    assert len(cat.captions) == 3
    assert cat.image_distractors == (DOG, CAT, f"{HOST}/lost.png")
    assert (whale.texts, whale.text_distractors) == (("A flying whale.",), ())


def test_a_table_with_one_row_per_image_is_read(tmp_path):
    (tmp_path / "retrieval.json").write_text(
        f'[{{"url": "{CAT}", "captions": ["A cat"], "image_distractor_url": ["{DOG}"], '
        '"text_distractors": ["A dog", ""]}]'
    )
    (sample,) = read_samples(published_files(tmp_path)).require()
    assert (sample.texts, sample.captions) == (("A cat",), ("A cat",))
    assert (sample.text_distractors, sample.image_distractors) == (("A dog",), (DOG,))


@pytest.mark.parametrize(
    ("n_rows", "is_whole"),
    [
        pytest.param(
            {"i2t_positive": 5740, "i2t_negative": 5590, "t2i": 1000}, True, id="all of it"
        ),
        pytest.param({"t2i": 1000}, True, id="image retrieval alone"),
        pytest.param({"t2i": 999}, False, id="a row is missing"),
        pytest.param({"i2t_positive": 5740, "t2i": 1000}, False, id="no distracting texts"),
        pytest.param({"retrieval": 1000}, True, id="the table of the hub"),
        pytest.param({"retrieval": 300}, False, id="the table of the site"),
    ],
)
def test_a_release_is_known_by_the_rows_of_its_tables(tmp_path, n_rows, is_whole):
    for name, n in n_rows.items():
        write_lines(tmp_path / f"{name}.jsonl", *[{}] * n)
    assert is_release(published_files(tmp_path)) is is_whole


def test_invalid_distractors_are_rejected(samples, images):
    rejections = to_questions(samples, images, {}).rejections
    assert [(row.entry, row.reason) for row in rejections] == [
        (
            "images.example.org/cat%20car.png: A cat drives a car.",
            "a distractor that is also a right text",
        ),
        (f"images.example.org/cat%20car.png: {CAT}", "a distractor that is the image itself"),
        (f"images.example.org/cat%20car.png: {HOST}/lost.png", "the distractor's image is missing"),
    ]


def test_a_sample_without_its_image_is_rejected(samples, images):
    del images[WHALE]
    rejections = to_questions(samples, images, {}).rejections
    assert ("images.example.org/whale.png", f"no image: {WHALE}") in [
        (row.entry, row.reason) for row in rejections
    ]


def test_each_text_and_each_image_is_a_query(samples, images):
    questions = to_questions(samples, images, {}).rows
    ids = [question.question_id for question in questions]
    assert [question_id.removeprefix("journeybench/retrieval/") for question_id in ids] == [
        "text/images.example.org/cat%20car.png",
        "image/images.example.org/cat%20car.png/1",
        "image/images.example.org/cat%20car.png/2",
        "image/images.example.org/cat%20car.png/3",
        "text/images.example.org/whale.png",
        "image/images.example.org/whale.png/1",
        "image/images.example.org/whale.png/2",
    ]


def test_a_query_shows_its_image_or_its_text(samples, images):
    of_image, of_text, *_ = to_questions(samples, images, {}).rows
    assert query_prompt(of_image) == Prompt.of(Image(stored(CAT).sha256))
    assert query_prompt(of_text) == Prompt.of("A cat drives a car.")


def test_candidates_are_the_answers_and_the_distractors_of_queries(samples, images):
    questions = to_questions(samples, images, {}).rows
    candidates = to_candidates(samples, images)
    candidate_ids = {candidate.candidate_id for candidate in candidates}
    # Texts, distractors of texts, images, distractors of images.
    assert len(candidate_ids) == len(candidates) == 3 + 1 + 2 + 2
    assert {name for question in questions for name in question.answer} <= candidate_ids
    distracted_groups = {candidate.distracts for candidate in candidates} - {""}
    assert distracted_groups <= {question.group_id for question in questions}


def test_as_released_a_distractor_may_equal_the_right_text_and_is_ranked_before_it(samples, images):
    questions = to_questions(samples, images, {}).rows
    candidates = to_candidates(samples, images, as_released=True)
    # As above, with a right text among three distractors, and three distractors of images.
    assert len(candidates) == 3 + 2 + 2 + 3
    right, distractor = (row for row in candidates if row.text == "A cat drives a car.")
    assert not right.distracts
    assert distractor.distracts

    predictions = rank(questions, candidates, SingleCaptionEncoder(), "single", "as_released")

    cat_id = "journeybench/retrieval/text/images.example.org/cat%20car.png"
    (cat,) = (row for row in predictions if row.question_id == cat_id)
    assert cat.ranking[0] == distractor.candidate_id
    assert "+own distractors" in cat.decoding


class SingleCaptionEncoder(FixedEncoder):
    """Gives the image of the cat and one of its captions one vector, all others another."""

    def vector(self, text):
        return (1.0, 0.0) if text in {"a cat drives a car.", CAT.lower()} else (0.0, 1.0)


def recall_metrics(samples, images, condition):
    """Overall metrics of ``FixedEncoder`` by name."""
    questions = to_questions(samples, images, {}).rows
    candidates = to_candidates(samples, images)
    predictions = rank(questions, candidates, FixedEncoder(), "fixed", condition)
    scores = pipeline.score(TASK, questions, predictions, [])
    rows = pipeline.summarise(TASK, questions, predictions, scores)
    return {row.metric: row for row in rows if row.category == "all"}


@pytest.mark.parametrize(
    ("condition", "text_r1", "image_r1"),
    [
        pytest.param("without_distractors", 1.0, 1.0, id="among the other samples' only"),
        # The dog has the vector of the cat, and a right candidate is ranked last among equals:
        # only queries about the whale are right.
        pytest.param("main", 1 / 2, 2 / 5, id="among look-alikes"),
    ],
)
def test_distractors_lower_the_recall(samples, images, condition, text_r1, image_r1):
    metrics = recall_metrics(samples, images, condition)
    assert metrics["text_r@1"].value == text_r1
    assert metrics["image_r@1"].value == pytest.approx(image_r1)
    assert (metrics["text_r@1"].n_scored, metrics["image_r@1"].n_scored) == (2, 5)


@pytest.mark.parametrize("condition", ["without_distractors", "main"])
def test_recalls_are_signed_with_the_pools_and_the_rank_among_equals(samples, images, condition):
    signature = recall_metrics(samples, images, condition)["text_r@1"].signature
    assert "pools:3 texts,2 images" in signature
    assert "equal ones: right last" in signature


def ranked_query(rank, points=0.0, direction=TEXT_RETRIEVAL):
    """A query whose right candidate has a rank of 1 to 12."""
    ranking = tuple("right" if n == rank else f"wrong {n}" for n in range(1, 13))
    query = question(question_id=f"r/{rank}", category=direction, answer=("right",))
    score = Score(question_id="", model="m", condition="main", points=points, answer=ranking)
    return ScoredQuestion(query, score)


def test_recalls_are_shares_of_the_queries_of_their_direction():
    queries = [
        *(ranked_query(rank) for rank in (1, 5, 6, 10, 11)),
        ranked_query(1, points=None),
        ranked_query(2, direction=IMAGE_RETRIEVAL),
    ]
    means = {name: measure(queries) for name, measure in recall_measures().items()}
    assert {name: mean.value for name, mean in means.items()} == {
        "text_r@1": 1 / 5,
        "text_r@5": 2 / 5,
        "text_r@10": 4 / 5,
        "image_r@1": 0.0,
        "image_r@5": 1.0,
        "image_r@10": 1.0,
    }
    counts = [(mean.n_scored, mean.n_unscored) for mean in means.values()]
    assert counts == [(5, 1)] * 3 + [(1, 0)] * 3
