"""Verdicts of a judge and of rules, and points of pairs."""

from dataclasses import replace

import pytest

from bench_assets.core.reading.readings import UNREAD
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.evaluation.task import ScoredQuestion
from bench_assets.suites.codis import prompts, scoring
from bench_assets.suites.codis.task import TASK
from bench_resources.models.registry.baselines import ScriptedModel
from tests.cases import read_cases
from tests.fakes.rows import answered, prediction, question

UP = ("Up.", "Down.")


def test_a_judge_is_called_once_for_each_response_and_quoted():
    replies = {"codis/000/1": "Right.", "codis/000/2": "maybe"}
    judge = ScriptedModel(
        "gpt", lambda request: replies[request.question.question_id if request.question else ""]
    )
    pairs = [answered("up", question_id=name) for name in replies]
    rows = scoring.judge(pairs, judge)
    assert [(r.question_id, r.judge, r.verdict, r.response) for r in rows] == [
        ("codis/000/1", "gpt", True, "Right."),
        ("codis/000/2", "gpt", None, "maybe"),
    ]
    assert [r.prompt_sha256 for r in rows] == [
        prompts.judge(q, predicted.text).sha256 for q, predicted in pairs
    ]


def judgement(**fields):
    return Judgement(
        **{
            "question_id": "t/1",
            "model": "m",
            "condition": "main",
            "judge": "gpt",
            "criterion": "correct",
            "verdict": None,
            "prompt_sha256": "" if fields.get("judge") == "rules" else "p",
        }
        | fields
    )


@pytest.mark.parametrize(
    ("judgements", "strict", "official"),
    [
        pytest.param([judgement(verdict=True, response="right")], 1.0, 1.0, id="right"),
        pytest.param([judgement(verdict=True, response="Right.")], 1.0, 0.0, id="a capital letter"),
        pytest.param([judgement(response="not right")], None, 1.0, id="the substring in a denial"),
        pytest.param([judgement(error="503")], None, None, id="a judge that was not reached"),
        pytest.param([], None, None, id="no judgement"),
        pytest.param(
            [judgement(judge="rules", verdict=True, response="names 'x'")],
            1.0,
            1.0,
            id="rules: right",
        ),
        pytest.param(
            [judgement(judge="rules", verdict=False, response="right or wrong")],
            0.0,
            0.0,
            id="rules: whose reason is no verdict",
        ),
    ],
)
def test_two_scorers_of_a_judgement(judgements, strict, official):
    pair = answered("x", options=("x", "y"))
    one, other = (read(pair, judgements) for read in TASK.scorers.values())
    assert (one.points, other.points) == (strict, official)
    assert (one.note == "") == (one.points is not None and judgements[0].judge != "rules")


def test_what_a_model_thinks_aloud_is_judged_for_the_official_reading_only():
    pair = answered("up", options=UP)
    pair = pair._replace(prediction=replace(pair.prediction, raw_text="<think>down?</think>up"))
    judge = ScriptedModel(
        "gpt", lambda r: "wrong" if "<think>" in str(r.prompt.turns[0].parts[0]) else "right"
    )
    judgements = scoring.judge([pair], judge)
    assert [row.verdict for row in judgements] == [True, False]
    strict, official = (read(pair, judgements) for read in TASK.scorers.values())
    assert (strict.points, official.points) == (1.0, 0.0)


def half(pair, number, points, *, answer="", sample=0, error="", no_answer=False):
    query = question(question_id=f"codis/{pair}/{number}", group_id=pair)
    predicted = prediction(question_id=query.question_id, sample=sample)
    score = Score.of(predicted, points=points, answer=(answer,))
    return ScoredQuestion(
        query,
        Score(
            **{n: getattr(score, n) for n in score.__slots__}
            | {"error": error, "no_answer": no_answer}
        ),
    )


NAN = pytest.approx(float("nan"), nan_ok=True)


@pytest.mark.parametrize(
    ("scored", "acc_p", "acc_q"),
    [
        pytest.param(
            [half("0", 1, 1), half("0", 2, 0)],
            (0, 1, 0),
            (0.5, 2, 0),
            id="a pair with one half right scores nothing",
        ),
        pytest.param(
            [half("0", 1, 0), half("0", 2, None)],
            (NAN, 0, 1),
            (0, 1, 1),
            id="a pair with an unscored half is unscored, whatever the other half is",
        ),
        pytest.param(
            [half("0", 1, 1), half("1", 2, 1)],
            (NAN, 0, 2),
            (1, 2, 0),
            id="halves of two pairs make no pair",
        ),
        pytest.param(
            [half("0", n, p, sample=s) for n, p, s in [(1, 1, 0), (2, 1, 0), (1, 1, 1), (2, 0, 1)]],
            (0.5, 2, 0),
            (0.75, 4, 0),
            id="each draw is a pair of its own",
        ),
        pytest.param([], (NAN, 0, 0), (NAN, 0, 0), id="nothing has no mean"),
    ],
)
def test_accuracy_over_pairs_and_queries(scored, acc_p, acc_q):
    for measure, expected in ((scoring.pair_accuracy, acc_p), (scoring.query_accuracy, acc_q)):
        metric = measure(scored)
        assert (metric.value, metric.n_scored, metric.n_unscored) == expected


def test_pairs_about_one_image_are_not_independent():
    def pairs(image):
        return [
            ScoredQuestion(
                question(group_id=str(n), question_id=f"codis/{n}/{h}", labels={"image": i}), s
            )
            for n in range(40)
            for i in [image(n)]
            for h in (1, 2)
            for s in [Score(question_id="", model="m", condition="main", points=float(n % 4 < 2))]
        ]

    alone = scoring.pair_accuracy(pairs(lambda n: f"{n}.jpg"))
    shared = scoring.pair_accuracy(pairs(lambda n: f"{n // 2}.jpg"))
    assert alone.value == shared.value == 0.5
    assert shared.high - shared.low > 1.2 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("scored", "expected"),
    [
        pytest.param(
            [half("0", 1, 1, answer="Up."), half("0", 2, 0, answer="up")],
            (0, 1, 0),
            id="one answer twice",
        ),
        pytest.param(
            [half("0", 1, None, answer="Up."), half("0", 2, None, answer="Down.")],
            (1, 1, 0),
            id="no judge is needed",
        ),
        pytest.param(
            [half("0", 1, 1, answer="Up."), half("0", 2, None, error="timeout")],
            (NAN, 0, 1),
            id="a query without a response has no answer",
        ),
        pytest.param(
            [half("0", 1, 1, answer="Up."), half("0", 2, 0, answer="Down.", no_answer=True)],
            (0, 1, 0),
            id="a query that was cut off is not answered differently",
        ),
    ],
)
def test_context_awareness(scored, expected):
    awareness = scoring.context_awareness(scored)
    assert (awareness.value, awareness.n_scored, awareness.n_unscored) == expected


# The response, the two possible answers, and which of them is read; None for neither.
RESPONSES = read_cases(__file__, "read_responses.jsonl", tuples=True)


@pytest.mark.parametrize(("response", "options", "read"), RESPONSES)
def test_rules_judge_one_of_the_two_answers(response, options, read):
    for gold, answer in enumerate(options):
        pair = answered(response, answer=(answer,), options=options)
        (judgement,) = scoring.judge_by_rules([pair])
        assert judgement.verdict is (gold == read)
        expected = UNREAD if read is None else f"gives {options[read]!r}: "
        assert judgement.response.startswith(expected)
