"""What is scored without looking, counted by hand."""

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
from tests.fakes.quiz import TASK
from tests.fakes.rows import prediction, question


def choice(number, answer, category=""):
    return question(
        question_id=f"quiz/{number}",
        task="quiz",
        kind="choice",
        options=("left", "right"),
        answer=(answer,),
        category=category,
    )


def text(number, *answers):
    return question(question_id=f"quiz/{number}", task="quiz", answer=answers)


def draw_of(number, response, **fields):
    return prediction(question_id=f"quiz/{number}", text=response, **fields)


def cells(found):
    return {(one.category, one.response, round(one.value, 3)) for one in found}


def test_the_best_letter_is_found_for_each_category():
    """B is right for four of six; A for two of the three that are odd."""
    right = "AABBBB"
    exam = [choice(n, r, "odd" if n < 3 else "even") for n, r in enumerate(right)]
    assert cells(best_constants(TASK, exam)) == {
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
def test_the_best_response_in_words(answers, best):
    assert cells(best_constants(TASK, [text(n, a) for n, a in enumerate(answers)])) == {best}


@pytest.mark.parametrize(("answers", "tried"), [("uud", False), ("ud", True)])
def test_stock_responses_are_tried_where_no_answer_to_options_is_frequent(answers, tried):
    exam = [replace(text(n, a), options=("u", "d")) for n, a in enumerate(answers)]
    assert (STOCK_RESPONSES[0] in constant_responses(exam, by_category)) is tried


@pytest.mark.parametrize(
    ("kind", "answer", "response"),
    [("choices", ("A", "C"), "AC"), ("blanks", ("3", "4"), "3\n4")],
)
def test_answers_of_several_parts_are_one_response(kind, answer, response):
    read = {
        "whole": lambda one, _: Score.of(
            one.prediction, points=float(one.prediction.text == response)
        )
    }
    exam = [replace(text(n), kind=kind, answer=answer, options=("x", "y", "z")) for n in range(2)]
    assert cells(best_constants(replace(TASK, scorers=read), exam)) == {("all", response, 1.0)}


def share_of(wanted):
    """A metric: the share of responses that are ``wanted``."""
    return lambda scored: mean(ScoredPoint(float(one.score.answer == (wanted,))) for one in scored)


def read_whole(answered, _):
    response = answered.prediction.text
    return Score.of(
        answered.prediction, points=float(response in answered.question.answer), answer=(response,)
    )


def test_every_metric_has_its_own_best_constant():
    """A is right most often; of those that only count B, and of refusals, others are the best."""
    task = replace(
        TASK,
        scorers={"whole": read_whole},
        measures={"accuracy": TASK.measures["accuracy"], "b": share_of("B"), "no": share_of("A")},
        lower_is_better=frozenset(["no"]),
    )
    values = {constant.metric: (constant.response, constant.value) for constant in best_constants(
        task, [replace(choice(n, "A"), answer=("A",)) for n in range(3)]
    )}  # fmt: skip
    assert values == {"accuracy": ("A", 1.0), "b": ("B", 1.0), "no": ("B", 0.0)}


def mentions(answered, _):
    tokens, right = answered.prediction.text.casefold().split(), answered.question.answer[0]
    words = [word.strip(".,") for word in tokens]
    share = sum(one in words for one in right.split()) / len(right.split())
    return Score.of(answered.prediction, points=share)


@pytest.mark.parametrize(
    ("answers", "response", "value"),
    [
        pytest.param(["red", "blue", "green"], "red, blue, green", 1.0, id="short answers listed"),
        pytest.param(["a b c d e", "a b x y z"], "b, c, d, e, x, y, z", 0.8, id="frequent words"),
    ],
)
def test_composed_responses_say_a_little_of_everything(answers, response, value):
    task = replace(TASK, scorers={"mentions": mentions})
    found = cells(best_constants(task, [text(n, a) for n, a in enumerate(answers)]))
    assert found == {("all", response, value)}


def test_chained_words_follow_the_most_frequent_continuation():
    texts = ["a dog runs in a park", "a dog sits in a car", "the cat sits in a car"]
    # a, dog; of "a dog": runs comes first; runs in; in a: car twice, park once.
    assert "a dog runs in a park" in composed_texts(texts)
    assert composed_texts(["yes", "no"]) == []


def test_blanks_take_the_most_frequent_answer_of_each_place():
    exam = [replace(text(n), kind="blanks", answer=pair)
            for n, pair in enumerate([("1", "x"), ("1", "y"), ("2", "y")])]  # fmt: skip
    assert "1\ny" in constant_responses(exam, lambda _: ())


def test_every_response_goes_to_another_question_and_every_draw_stays_one():
    rows = [draw_of(n, f"{n} in draw {draw}", sample=draw) for draw in (0, 1) for n in range(5)]
    rows.append(draw_of(5, "", error="no connection"))
    dealt = shuffle_responses(rows)
    assert sorted(row.text for row in dealt) == sorted(row.text for row in rows)
    for row in dealt:
        number = row.question_id.removeprefix("quiz/")
        assert row.error if number == "5" else not row.text.startswith(number)
        assert row.error or row.text.endswith(f"in draw {row.sample}")
    assert {(row.question_id, row.sample) for row in dealt} == {
        (row.question_id, row.sample) for row in rows
    }


def measured(task, exam, rows, judge="rules"):
    judgements = pipeline.judge(task, exam, rows, None) if task.is_judged else []
    scores = [replace(row, judge=judge) for row in pipeline.score(task, exam, rows, judgements)]
    return metrics_with_baselines(task, exam, rows, scores, best_constants(task, exam))


def test_rules_judge_the_dealt_responses():
    def rules(answered):
        return [
            Judgement.of(
                response,
                judge="rules",
                criterion="c",
                verdict=response.text in question.answer,
                response="",
            )
            for question, response in answered
        ]

    def read(answered, judgements):
        return Score.of(answered.prediction, points=float(bool(judgements[0].verdict)))

    task = replace(TASK, judges={"rules": ByRules(rules)}, scorers={"judged": read})
    exam = [text(1, "x"), text(2, "x"), text(3, "y")]
    (row,) = measured(task, exam, [draw_of(1, "x"), draw_of(2, "x"), draw_of(3, "y")])
    # Three responses x, x, y in a ring: one x stays right, the other and y change places.
    assert (row.value, row.constant, row.shuffled) == pytest.approx((1, 2 / 3, 1 / 3))


JUDGE = "paper:gpt"
ABB = [replace(text(n, answer), category="abb"[n]) for n, answer in enumerate("xyx")]


def verdict(response, right, judge=JUDGE, setup="judge=paper:0c", error=""):
    one = Judgement.of(response, judge=judge, criterion="c", verdict=right, response="")
    return replace(one, setup=setup, error=error, verdict=None if error else right)


def evaluated(model, responses, **judged):
    """What a model said, and that the judge called "x" right wherever it is."""
    rows = [replace(draw_of(n, text), model=model) for n, text in enumerate(responses) if text]
    return rows, [verdict(row, row.text == ABB[int(row.question_id[5:])].answer[0], **judged)
                  for row in rows]  # fmt: skip


def beside_known(own, *others):
    """The numbers of a judged evaluation, by category, beside what is known of others."""

    def read(answered, judgements):
        points = float(bool(judgements[0].verdict)) if judgements else None
        return Score.of(answered.prediction, points=points)

    task = replace(
        TASK,
        judges={"paper": ByModel(lambda answered, model: [])},
        scorers={"judged": read},
        slices=by_category,
    )
    judged = JudgedResponses.of([own, *others], frozenset({(JUDGE, "judge=paper:0c")}))
    scores = pipeline.score(task, ABB, *own)
    rows = metrics_with_baselines(task, ABB, own[0], scores, [], judged)
    return {row.category: row for row in rows}


@pytest.mark.parametrize(
    ("others", "constant", "why"),
    [
        pytest.param([("b", "xxx"), ("c", "yyy")], 2 / 3, "best of 2", id="the best of two"),
        pytest.param([("b", "xx"), ("c", "yyx")], 2 / 3, "best of 1", id="said by several models"),
        pytest.param([("b", "xx")], None, "no constant", id="not judged on all questions"),
        pytest.param([], None, "no constant", id="nothing else was judged"),
    ],
)
def test_the_best_constant_of_a_judged_number_is_of_what_the_judge_has_judged(
    others, constant, why
):
    own = evaluated("a", "zz")
    rows = beside_known(own, *(evaluated(*other) for other in others))
    assert rows["all"].constant == (pytest.approx(constant) if constant else None)
    assert why in rows["all"].baselines


@pytest.mark.parametrize(
    "judged",
    [
        pytest.param({"judge": "paper:other"}, id="another judge"),
        pytest.param({"setup": "judge=paper:ff"}, id="the judge with another temperature"),
        pytest.param({"error": "no connection"}, id="what the judge did not answer"),
    ],
)
def test_words_of_another_judge_do_not_count(judged):
    assert (
        beside_known(evaluated("a", "zz"), evaluated("b", "xxx", **judged))["all"].constant is None
    )


def test_judged_responses_are_dealt_where_each_was_judged():
    one_word = beside_known(evaluated("a", "xxx"))["all"]
    assert (one_word.value, one_word.shuffled) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    rows = beside_known(evaluated("a", "xyx"))
    assert rows["all"].shuffled is None
    assert (
        "no shuffled: 2 shuffled responses were not judged on their new questions"
        in rows["all"].baselines
    )
    known = beside_known(evaluated("a", "xyx"), evaluated("b", "yxy"))["all"]
    assert known.shuffled == pytest.approx(1 / 3)  # a ring: one x stays right


@pytest.mark.parametrize(
    ("options", "metric", "chance"),
    [
        pytest.param([4, 4], "accuracy", 0.25, id="four options each"),
        pytest.param([4, 2], "accuracy", None, id="not as many everywhere"),
        pytest.param([4, 0], "accuracy", None, id="some in words"),
        pytest.param([4, 4], "acc_p", None, id="no share of right answers"),
    ],
)
def test_chance_is_known_where_all_offer_as_many_options(options, metric, chance):
    questions = [
        question(kind="choice" if n else "text", options=tuple("abcd"[:n])) for n in options
    ]
    task = replace(TASK, measures={metric: TASK.measures["accuracy"]})
    assert chance_level(task, questions) == chance


def test_a_table_of_other_questions_or_none_does_not_cost_the_constant(tmp_path):
    tables, key = TableFiles(folder=str(tmp_path)), ["quiz", "constants"]
    exam, others = [text(1, "x"), text(2, "x")], [text(1, "x"), text(2, "y")]
    computed = best_constants(TASK, exam)
    assert read_constants(tables, key, TASK, exam) == computed
    tables.write(key, best_constants(TASK, others), BestConstant)
    assert read_constants(tables, key, TASK, exam) == computed
    tables.write(key, stored := [replace(computed[0], n_tried=7)], BestConstant)
    assert read_constants(tables, key, TASK, exam) == stored
