"""Points and measures by pencil."""

from dataclasses import replace

import pytest

from bench_assets.evaluation import pipeline
from bench_assets.file_benchmarks.suite import task_of
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from bench_resources.models.registry.baselines import RandomBaseline, ScriptedModel
from tests.cases import read_cases
from tests.fakes.rows import prediction, question

COLOURS = {"kind": "choice", "options": ("red", "green", "blue"), "answer": ("B",)}
BOTH = {**COLOURS, "kind": "choices", "answer": ("A", "C")}
TEXT = {"answer": ("a cup", "mug")}


def task(metric="accuracy", **settings):
    return task_of(
        "t", FileBenchmarkSettings(file="t.jsonl", metric=metric, **settings), "bench.toml"
    )


def scores(questions, responses, metric="accuracy", judge=None):
    """Points of responses, one for each question."""
    predictions = [
        prediction(question_id=q.question_id, text=text)
        for q, text in zip(questions, responses, strict=True)
    ]
    one = task(metric)
    verdicts = pipeline.judge(one, questions, predictions, judge) if one.is_judged else []
    return pipeline.score(one, questions, predictions, verdicts)


@pytest.mark.parametrize(
    ("answer_type", "fields", "mean"),
    [
        pytest.param("choice", COLOURS, 1 / 3, id="one of three options"),
        pytest.param("choices", BOTH, 0.0, id="one letter of two"),
        pytest.param("yes_no", {"answer": ("yes",)}, 0.5, id="yes or no"),
        pytest.param("text", {"answer": ("no",)}, 0.5, id="yes or no as texts"),
        pytest.param("text", TEXT, 0.0, id="texts"),
        pytest.param("number", {"answer": ("7",)}, 0.1, id="one of ten digits"),
        pytest.param("list", {"answer": ('["a", "b"]',)}, 0.0, id="lists"),
        pytest.param("json", {"answer": ('{"a": 1}',)}, 0.0, id="JSON"),
        pytest.param("box", {"answer": ("1,2,3,4",)}, 0.0, id="boxes"),
        pytest.param("point", {"answer": ("1,2,3,4",)}, 0.0, id="points"),
    ],
)
def test_random_guesses_are_all_read(answer_type, fields, mean):
    settings = {"metric": "mean_iou"} if answer_type == "box" else {}
    one = task(**settings, answer_type=answer_type)
    questions = [question(question_id=str(n), **fields) for n in range(1000)]
    predictions = pipeline.predict(one, questions, RandomBaseline("random"))
    verdicts = pipeline.judge(one, questions, predictions, None) if one.is_judged else []
    row_score = pipeline.score(one, questions, predictions, verdicts)
    assert not any(score.unread for score in row_score)
    # Three standard deviations of a mean of 1,000 are at most 0.048.
    assert sum(score.points or 0 for score in row_score) / 1000 == pytest.approx(mean, abs=0.048)


@pytest.mark.parametrize(
    ("fields", "response", "metric", "points"),
    read_cases(__file__, "scored_responses.jsonl", tuples=True),
)
def test_a_response_has_points(fields, response, metric, points):
    (score,) = scores([question(**fields)], [response], metric)
    assert score.points == pytest.approx(points)


@pytest.mark.parametrize(
    ("fields", "response", "says", "points"),
    [
        pytest.param(TEXT, "I see a mug", "Right.", 1.0, id="a text in other words"),
        pytest.param(TEXT, "I see a plate", "wrong", 0.0, id="another text"),
        pytest.param(TEXT, "I see a mug", "Perhaps", None, id="no word of the judge"),
        pytest.param(TEXT, "mug", "wrong", 1.0, id="a reference is right without asking"),
        pytest.param(COLOURS, "The colour of grass", "right", 0.0, id="letters are not judged"),
        pytest.param(COLOURS, "(A)", "right", 0.0, id="a letter is read without asking"),
    ],
)
def test_a_judge_decides_what_the_rules_do_not_read(fields, response, says, points):
    (score,) = scores([question(**fields)], [response], judge=ScriptedModel("j", lambda _: says))
    assert score.points == points


def test_measures_count_questions_groups_and_categories():
    """Groups a: 1, 1; b: 1, 0; c alone: 0. Categories x: 1, 1, 1; y: 0, 0."""
    groups, categories, responses = "aabbc", "xxxyy", ["(B)", "(B)", "(B)", "A", "A"]
    questions = [
        question(question_id=f"t/{n}", group_id=group.strip("c"), category=category, **COLOURS)
        for n, (group, category) in enumerate(zip(groups, categories, strict=True))
    ]
    points = [
        replace(score, question_id=q.question_id)
        for q, score in zip(questions, scores(questions, responses), strict=True)
    ]
    values = {
        (metric, row.metric): (row.value, row.n_scored)
        for metric in ("accuracy", "group_accuracy", "macro_accuracy")
        for row in pipeline.summarise(task(metric), questions, [], points)
        if row.category == "all"
    }
    assert values == {
        ("accuracy", "accuracy"): (pytest.approx(3 / 5), 5),
        ("group_accuracy", "group_accuracy"): (pytest.approx(1 / 3), 3),
        ("group_accuracy", "accuracy"): (pytest.approx(3 / 5), 5),
        ("macro_accuracy", "macro_accuracy"): (pytest.approx(1 / 2), 5),
        ("macro_accuracy", "accuracy"): (pytest.approx(3 / 5), 5),
    }


def test_tables_are_sliced_by_category_and_by_named_labels():
    example = question(category="x", labels={"level": "easy", "by": "", "seen": "2"})
    assert task(slices=("level", "by", "gone")).slices(example) == ("x", "level easy")
