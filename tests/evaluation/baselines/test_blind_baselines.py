from dataclasses import replace

import pytest

from bench_assets.asset_factory.evaluation_tables import read_constants
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.baselines.blind_baselines import (
    BestConstant,
    best_constants,
    chance_level,
    metrics_with_baselines,
    shuffle_responses,
)
from bench_assets.evaluation.baselines.constant_responses import (
    STOCK_RESPONSES,
    composed_texts,
    constant_responses,
)
from bench_assets.evaluation.judged_responses import JudgedResponses
from bench_assets.evaluation.task import ByModel, ByRules, by_category
from bench_resources.tables.parquet import TableFiles
from tests.fakes.flowing import by_rules
from tests.fakes.quiz import TASK
from tests.fakes.rows import prediction, question


def choice_question(number, answer, category=""):
    return question(
        question_id=f"quiz/{number}",
        task="quiz",
        kind="choice",
        options=("left", "right"),
        answer=(answer,),
        category=category,
    )


def text_question(number, *answers):
    return question(question_id=f"quiz/{number}", task="quiz", answer=answers)


def response_of(number, response, **fields):
    return prediction(question_id=f"quiz/{number}", text=response, **fields)


def round_constants(constants):
    return {(row.category, row.response, round(row.value, 3)) for row in constants}


def test_the_best_letter_is_found_for_each_category():
    """B is right for four of six; A for two of the three that are odd."""
    questions = [
        choice_question(n, letter, "odd" if n < 3 else "even") for n, letter in enumerate("AABBBB")
    ]
    assert round_constants(best_constants(TASK, questions)) == {
        ("all", "B", 0.667),
        ("odd", "A", 0.667),
        ("even", "B", 1.0),
    }


@pytest.mark.parametrize(
    ("answers", "best"),
    [
        pytest.param(["7", "7", "8", "9"], ("all", "7", 0.5), id="what is right twice"),
        pytest.param(["7", "8", "No.", "9"], ("all", "No.", 0.25), id="a stock response"),
        pytest.param(["7", "8", "9"], ("all", STOCK_RESPONSES[0], 0.0), id="nothing"),
    ],
)
def test_the_best_response_without_options_is_an_answer_or_a_stock_response(answers, best):
    questions = [text_question(n, answer) for n, answer in enumerate(answers)]
    assert round_constants(best_constants(TASK, questions)) == {best}


@pytest.mark.parametrize(("answers", "is_tried"), [("uud", False), ("ud", True)])
def test_stock_responses_are_tried_where_no_answer_to_options_is_frequent(answers, is_tried):
    questions = [replace(text_question(n, a), options=("u", "d")) for n, a in enumerate(answers)]
    assert (STOCK_RESPONSES[0] in constant_responses(questions, by_category)) is is_tried


@pytest.mark.parametrize(
    ("kind", "answer", "response"), [("choices", ("A", "C"), "AC"), ("blanks", ("3", "4"), "3\n4")]
)
def test_answers_of_several_parts_are_one_response(kind, answer, response):
    def score(answered, _):
        is_right = answered.prediction.text == response
        return Score.of(answered.prediction, points=float(is_right))

    questions = [
        replace(text_question(n), kind=kind, answer=answer, options=("x", "y", "z"))
        for n in range(2)
    ]
    constants = best_constants(replace(TASK, scorers={"whole": score}), questions)
    assert round_constants(constants) == {("all", response, 1.0)}


def share_of(response):
    """A measure: the share of answers that are ``response``."""
    return lambda scored: mean(
        ScoredPoint(float(row.score.answer == (response,))) for row in scored
    )


def score_whole_response(answered, _):
    response = answered.prediction.text
    return Score.of(
        answered.prediction, points=float(response in answered.question.answer), answer=(response,)
    )


def test_every_metric_has_its_own_best_constant():
    """A is the key of all; the metric "b" counts answers B, and "no" is best without answers A."""
    task = replace(
        TASK,
        scorers={"whole": score_whole_response},
        measures={"accuracy": TASK.measures["accuracy"], "b": share_of("B"), "no": share_of("A")},
        lower_is_better=frozenset(["no"]),
    )
    questions = [choice_question(n, "A") for n in range(3)]
    best = {row.metric: (row.response, row.value) for row in best_constants(task, questions)}
    assert best == {"accuracy": ("A", 1.0), "b": ("B", 1.0), "no": ("B", 0.0)}


def score_mentioned_words(answered, _):
    """Give the share of the key's words that the response has."""
    tokens = answered.prediction.text.casefold().split()
    response_words = [token.strip(".,") for token in tokens]
    key_words = answered.question.answer[0].split()
    share = sum(word in response_words for word in key_words) / len(key_words)
    return Score.of(answered.prediction, points=share)


@pytest.mark.parametrize(
    ("answers", "response", "value"),
    [
        pytest.param(["red", "blue", "green"], "red, blue, green", 1.0, id="short answers listed"),
        pytest.param(["a b c d e", "a b x y z"], "b, c, d, e, x, y, z", 0.8, id="frequent words"),
    ],
)
def test_composed_responses_have_words_of_many_answers(answers, response, value):
    task = replace(TASK, scorers={"mentions": score_mentioned_words})
    questions = [text_question(n, answer) for n, answer in enumerate(answers)]
    assert round_constants(best_constants(task, questions)) == {("all", response, value)}


def test_chained_words_follow_the_most_frequent_continuation():
    texts = ["a dog runs in a park", "a dog sits in a car", "the cat sits in a car"]
    # a, dog; of "a dog": runs comes first; runs in; in a: car twice, park once.
    assert "a dog runs in a park" in composed_texts(texts)


def test_nothing_is_composed_of_answers_of_one_word():
    assert composed_texts(["yes", "no"]) == []


def test_each_blank_takes_its_own_most_frequent_answer():
    answers = [("1", "x"), ("1", "y"), ("2", "y")]
    questions = [
        replace(text_question(n), kind="blanks", answer=answer) for n, answer in enumerate(answers)
    ]
    assert "1\ny" in constant_responses(questions, lambda _: ())


def test_every_response_goes_to_another_question_within_its_draw():
    rows = [response_of(n, f"{n} in draw {draw}", sample=draw) for draw in (0, 1) for n in range(5)]
    shuffled = shuffle_responses(rows)
    assert sorted(row.text for row in shuffled) == sorted(row.text for row in rows)
    assert {(row.question_id, row.sample) for row in shuffled} == {
        (row.question_id, row.sample) for row in rows
    }
    for row in shuffled:
        number = row.question_id.removeprefix("quiz/")
        assert not row.text.startswith(number)
        assert row.text.endswith(f"in draw {row.sample}")


def test_a_failed_response_stays_with_its_question_when_responses_are_shuffled():
    rows = [response_of(n, str(n)) for n in range(5)]
    failed = response_of(5, "", error="no connection")
    assert [row for row in shuffle_responses([*rows, failed]) if row.error] == [failed]


def measure_with_baselines(task, questions, rows):
    judgements = pipeline.judge(task, questions, rows, None)
    scores = [
        replace(row, judge="rules") for row in pipeline.score(task, questions, rows, judgements)
    ]
    return metrics_with_baselines(task, questions, rows, scores, best_constants(task, questions))


def score_by_verdict(answered, judgements):
    points = float(bool(judgements[0].verdict)) if judgements else None
    return Score.of(answered.prediction, points=points)


def test_rules_judge_the_shuffled_responses():
    task = replace(TASK, judges={"rules": ByRules(by_rules)}, scorers={"judged": score_by_verdict})
    questions = [text_question(1, "x"), text_question(2, "x"), text_question(3, "y")]
    rows = [response_of(1, "x"), response_of(2, "x"), response_of(3, "y")]
    (metric,) = measure_with_baselines(task, questions, rows)
    # Three responses x, x, y in a ring: one x stays right, the other and y change places.
    assert (metric.value, metric.constant, metric.shuffled) == pytest.approx((1, 2 / 3, 1 / 3))


JUDGE = "paper:gpt"
JUDGED_QUESTIONS = [
    replace(text_question(0, "x"), category="a"),
    replace(text_question(1, "y"), category="b"),
    replace(text_question(2, "x"), category="b"),
]


def judgement_of(response, verdict, judge=JUDGE, setup="judge=paper:0c", error=""):
    row = Judgement.of(response, judge=judge, criterion="c", verdict=verdict, response="")
    return replace(row, setup=setup, error=error, verdict=None if error else verdict)


def judge_texts(model, texts, **fields):
    """A model's responses to the judged questions and their judgements: the key alone is right."""
    predictions = []
    judgements = []
    for n, text in enumerate(texts):
        row = replace(response_of(n, text), model=model)
        predictions.append(row)
        is_right = text == JUDGED_QUESTIONS[n].answer[0]
        judgements.append(judgement_of(row, is_right, **fields))
    return predictions, judgements


def metrics_beside_judged(evaluation, *other_evaluations):
    """The metrics of a judged evaluation by category, beside the judged responses of all."""
    task = replace(
        TASK,
        judges={"paper": ByModel(lambda answered, model: [])},
        scorers={"judged": score_by_verdict},
        slices=by_category,
    )
    predictions, judgements = evaluation
    judged = JudgedResponses.of(
        [evaluation, *other_evaluations], frozenset({(JUDGE, "judge=paper:0c")})
    )
    scores = pipeline.score(task, JUDGED_QUESTIONS, predictions, judgements)
    rows = metrics_with_baselines(task, JUDGED_QUESTIONS, predictions, scores, [], judged)
    return {row.category: row for row in rows}


@pytest.mark.parametrize(
    ("model_texts", "constant", "expected_baselines"),
    [
        pytest.param({"b": "xxx", "c": "yyy"}, 2 / 3, "best of 2", id="the best of two"),
        pytest.param({"b": "xx", "c": "yyx"}, 2 / 3, "best of 1", id="one from several models"),
        pytest.param({"b": "xx"}, None, "no constant", id="not judged on all questions"),
        pytest.param({}, None, "no constant", id="nothing else was judged"),
    ],
)
def test_the_best_constant_of_a_judged_metric_is_a_response_judged_on_all_questions(
    model_texts, constant, expected_baselines
):
    other_evaluations = [judge_texts(model, texts) for model, texts in model_texts.items()]
    metric = metrics_beside_judged(judge_texts("a", "zz"), *other_evaluations)["all"]
    assert metric.constant == pytest.approx(constant)
    assert expected_baselines in metric.baselines


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"judge": "paper:other"}, id="another judge"),
        pytest.param({"setup": "judge=paper:ff"}, id="the judge with another temperature"),
        pytest.param({"error": "no connection"}, id="a failed request to the judge"),
    ],
)
def test_only_judgements_of_the_same_judge_give_a_constant(fields):
    evaluation, other_evaluation = judge_texts("a", "zz"), judge_texts("b", "xxx", **fields)
    assert metrics_beside_judged(evaluation, other_evaluation)["all"].constant is None


def test_shuffled_responses_need_a_judgement_on_their_new_questions():
    same_texts = metrics_beside_judged(judge_texts("a", "xxx"))["all"]
    assert (same_texts.value, same_texts.shuffled) == pytest.approx((2 / 3, 2 / 3))

    unjudged = metrics_beside_judged(judge_texts("a", "xyx"))["all"]
    expected = "no shuffled: 2 shuffled responses were not judged on their new questions"
    assert unjudged.shuffled is None
    assert expected in unjudged.baselines

    judged = metrics_beside_judged(judge_texts("a", "xyx"), judge_texts("b", "yxy"))["all"]
    assert judged.shuffled == pytest.approx(1 / 3)  # a ring: one x stays right


@pytest.mark.parametrize(
    ("n_options", "metric", "chance"),
    [
        pytest.param([4, 4], "accuracy", 0.25, id="four options each"),
        pytest.param([4, 2], "accuracy", None, id="four and two options"),
        pytest.param([4, 0], "accuracy", None, id="one without options"),
        pytest.param([4, 4], "acc_p", None, id="a metric other than accuracy"),
    ],
)
def test_chance_is_known_where_all_questions_have_as_many_options(n_options, metric, chance):
    questions = [
        question(kind="choice" if n else "text", options=tuple("abcd"[:n])) for n in n_options
    ]
    task = replace(TASK, measures={metric: TASK.measures["accuracy"]})
    assert chance_level(task, questions) == chance


def test_constants_are_read_from_a_table_only_if_it_is_of_the_same_questions(tmp_path):
    tables, key = TableFiles(folder=str(tmp_path)), ["quiz", "constants"]
    questions = [text_question(1, "x"), text_question(2, "x")]
    other_questions = [text_question(1, "x"), text_question(2, "y")]
    computed = best_constants(TASK, questions)
    stored = [replace(computed[0], n_tried=7)]

    assert read_constants(tables, key, TASK, questions) == computed
    tables.write(key, best_constants(TASK, other_questions), BestConstant)
    assert read_constants(tables, key, TASK, questions) == computed
    tables.write(key, stored, BestConstant)
    assert read_constants(tables, key, TASK, questions) == stored
