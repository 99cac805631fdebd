"""The authors' 1,129 entries: all of them are asked, and counted as the paper counts."""

import json
from collections import Counter

import pytest

from bench_assets.evaluation import pipeline
from hallusion_bench.assets import published_data_are_whole
from hallusion_bench.select import edition_of, select
from hallusion_bench.source import find_release, read_asked
from hallusion_bench.task import TASK
from tests.rows import prediction

FAILURES = {"fp_ratio", "language_hallucination", "visual_illusion", "mixed"}  # over what is wrong


@pytest.fixture(scope="module")
def release(authors_data, tmp_path_factory):
    """All entries; the figures are not there."""
    folder = tmp_path_factory.mktemp("release")
    (folder / "VD").mkdir()
    entries = authors_data("HallusionBench")
    (folder / "HallusionBench.json").write_text(json.dumps(entries))
    return read_asked(find_release(folder))


@pytest.fixture
def questions(release, ask):
    return ask(select(release, {one.image for one in release}).asked, "published")


def constant(questions, word):
    said = [prediction(question_id=q.question_id, text=word) for q in questions]
    scores = pipeline.score(TASK, questions, said, pipeline.judge(TASK, questions, said, None))
    return {
        (metric.metric, metric.category): metric
        for metric in pipeline.summarise(TASK, questions, said, scores)
    }


def test_the_release_is_known_and_with_its_figures_no_entry_is_rejected(release):
    assert edition_of(release) == "published"
    assert edition_of(release[1:]) == "own"
    assert len({one.name for one in release}) == 1129
    assert len({one.image for one in release if one.image}) == 346
    assert select(release, {one.image for one in release}).rejections == []


def test_without_figures_only_vs_questions_that_show_none_are_asked(release):
    found = select(release, ())
    assert len(found.asked) == 178
    assert {one.visual_input for one in found.asked} == {"0"}
    missing = [r for r in found.rejections if "is missing or does not decode" in r.reason]
    assert len(missing) == 1129 - 178


def test_a_missing_figure_stops_the_release_and_no_selection_of_it(release):
    for entries, passed in ((release, False), (release[1:], True)):
        rejections = select(entries, ()).rejections
        assert published_data_are_whole(entries, rejections).passed is passed


def test_there_are_as_many_questions_in_each_topic_as_the_task_says(questions):
    counts = Counter(question.category for question in questions)
    assert TASK.counts == {"all": 1129, **counts}
    assert sum(n for topic, n in counts.items() if topic.startswith("VD")) == 591


def test_measures_are_over_what_table_2_is_over(questions):
    found = constant(questions, "Yes.")
    over = {metric: row.n_scored for (metric, slice_), row in found.items() if slice_ == "all"}
    assert {metric: over[metric] for metric in over.keys() - FAILURES} == {
        "q_acc": 455,
        "f_acc": 346,
        "easy_acc": 455,
        "hard_acc": 430,
        "a_acc": 1129,
        "inconsistent": 346,
        "consistently_wrong": 346,
        "yes_difference": 1129,
    }
    assert {over[metric] for metric in FAILURES} == {645}


@pytest.mark.parametrize(
    ("word", "right", "fp_ratio"),
    [
        pytest.param("Yes.", 484, 1.0, id="always yes: 484 answers are yes"),
        pytest.param("No.", 645, 0.0, id="always no: 645 answers are no"),
    ],
)
def test_a_constant_answer_is_as_good_and_as_biased_as_the_answers_say(
    questions, word, right, fp_ratio
):
    found = constant(questions, word)
    sign = 1 if word == "Yes." else -1
    assert found["a_acc", "all"].value == pytest.approx(right / 1129)
    assert found["yes_difference", "all"].value == pytest.approx(sign * (1129 - right) / 1129)
    assert found["fp_ratio", "all"].value == fp_ratio
    shares = [
        found[name, "all"].value for name in ("language_hallucination", "visual_illusion", "mixed")
    ]
    assert sum(shares) == pytest.approx(1)
    assert found["mixed", "all"].n_scored == 1129 - right
    assert {category for _, category in found} == {"VD", "VS", *TASK.counts}
