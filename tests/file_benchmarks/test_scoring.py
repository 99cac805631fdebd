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


def build_task(metric="accuracy", **settings):
    benchmark = FileBenchmarkSettings(file="t.jsonl", metric=metric, **settings)
    return task_of("t", benchmark, "bench.toml")


def score_predictions(task, questions, predictions, judge=None):
    """Score predictions, with the verdicts of the judge if the task has one."""
    verdicts = pipeline.judge(task, questions, predictions, judge) if task.is_judged else []
    return pipeline.score(task, questions, predictions, verdicts)


def score_response(fields, response, metric="accuracy", judge=None):
    """The points of one response to a question with the given fields."""
    answered = question(**fields)
    predictions = [prediction(question_id=answered.question_id, text=response)]
    (score,) = score_predictions(build_task(metric), [answered], predictions, judge)
    return score.points


@pytest.mark.parametrize(
    ("answer_type", "fields", "expected_mean"),
    read_cases(__file__, "random_guesses.jsonl", tuples=True),
)
def test_random_guesses_are_read_and_get_the_points_of_chance(answer_type, fields, expected_mean):
    metric = "mean_iou" if answer_type == "box" else "accuracy"
    task = build_task(metric, answer_type=answer_type)
    questions = [question(question_id=str(n), **fields) for n in range(1000)]
    predictions = pipeline.predict(task, questions, RandomBaseline("random"))
    scores = score_predictions(task, questions, predictions)
    assert not any(score.unread for score in scores)
    # Three standard deviations of a mean of 1,000 are at most 0.048.
    mean = sum(score.points or 0 for score in scores) / len(scores)
    assert mean == pytest.approx(expected_mean, abs=0.048)


@pytest.mark.parametrize(
    ("fields", "response", "metric", "points"),
    read_cases(__file__, "scored_responses.jsonl", tuples=True),
)
def test_a_response_has_points(fields, response, metric, points):
    assert score_response(fields, response, metric) == pytest.approx(points)


@pytest.mark.parametrize(
    ("fields", "response", "reply", "points"),
    [
        pytest.param(TEXT, "I see a mug", "Right.", 1.0, id="a text in other words"),
        pytest.param(TEXT, "I see a plate", "wrong", 0.0, id="another text"),
        pytest.param(TEXT, "I see a mug", "Perhaps", None, id="no word of the judge"),
        pytest.param(TEXT, "mug", "wrong", 1.0, id="a reference is right without asking"),
        pytest.param(COLOURS, "The colour of grass", "right", 0.0, id="letters are not judged"),
        pytest.param(COLOURS, "(A)", "right", 0.0, id="a letter is read without asking"),
    ],
)
def test_a_judge_decides_on_responses_that_rules_do_not_read(fields, response, reply, points):
    judge = ScriptedModel("j", lambda _: reply)
    assert score_response(fields, response, judge=judge) == points


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        pytest.param("accuracy", {"accuracy": (3 / 5, 5)}, id="3 of 5 questions"),
        pytest.param(
            "group_accuracy",
            {"group_accuracy": (1 / 3, 3), "accuracy": (3 / 5, 5)},
            id="only group a of a, b and the ungrouped question",
        ),
        pytest.param(
            "macro_accuracy",
            {"macro_accuracy": (1 / 2, 5), "accuracy": (3 / 5, 5)},
            id="the mean of 1 for x and 0 for y",
        ),
    ],
)
def test_measures_count_questions_groups_and_categories(metric, expected):
    """Groups a: right, right; b: right, wrong; none: wrong. The first three are of category x."""
    rows = [("a", "x", "B"), ("a", "x", "B"), ("b", "x", "B"), ("b", "y", "A"), ("", "y", "A")]
    questions = [
        question(question_id=f"t/{n}", group_id=group, category=category, **COLOURS)
        for n, (group, category, _) in enumerate(rows)
    ]
    predictions = [
        prediction(question_id=f"t/{n}", text=letter) for n, (_, _, letter) in enumerate(rows)
    ]
    task = build_task(metric)
    scores = score_predictions(task, questions, predictions)
    metrics = pipeline.summarise(task, questions, [], scores)
    values = {row.metric: (row.value, row.n_scored) for row in metrics if row.category == "all"}
    assert values == {
        name: (pytest.approx(value), n_scored) for name, (value, n_scored) in expected.items()
    }


def test_slices_are_the_category_and_the_named_labels_that_are_not_empty():
    example = question(category="x", labels={"level": "easy", "by": "", "seen": "2"})
    task = build_task(slices=("level", "by", "gone"))
    assert task.slices(example) == ("x", "level easy")
