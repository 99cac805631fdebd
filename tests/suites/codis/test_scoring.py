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


def test_each_response_gets_the_verdict_that_the_judge_prints():
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
def test_points_by_the_strict_and_the_official_scorer(judgements, strict, official):
    pair = answered("x", options=("x", "y"))
    strict_score, official_score = (score(pair, judgements) for score in TASK.scorers.values())
    assert (strict_score.points, official_score.points) == (strict, official)


def test_the_note_of_a_score_says_what_was_no_plain_verdict():
    by_rules = judgement(judge="rules", verdict=True, response="names 'x'")
    lists = [[judgement(verdict=True, response="right")], [judgement(error="503")], [by_rules]]
    notes = [TASK.scorers["strict"](answered("x"), judgements).note for judgements in lists]
    assert notes == ["", "the judge gave no response: 503", "names 'x'"]


def test_only_the_official_scorer_counts_the_verdict_on_the_thoughts():
    pair = answered("up", options=UP)
    pair = pair._replace(prediction=replace(pair.prediction, raw_text="<think>down?</think>up"))
    judge = ScriptedModel(
        "gpt",
        lambda request: "wrong" if "<think>" in str(request.prompt.turns[0].parts[0]) else "right",
    )
    judgements = scoring.judge([pair], judge)
    assert [row.verdict for row in judgements] == [True, False]
    strict_score, official_score = (score(pair, judgements) for score in TASK.scorers.values())
    assert (strict_score.points, official_score.points) == (1.0, 0.0)


def scored_half(pair_id, half, points, *, answer="", sample=0, error="", no_answer=False):
    query = question(question_id=f"codis/{pair_id}/{half}", group_id=pair_id)
    predicted = prediction(question_id=query.question_id, sample=sample)
    score = Score.of(predicted, points=points, answer=(answer,))
    return ScoredQuestion(query, replace(score, error=error, no_answer=no_answer))


NAN = pytest.approx(float("nan"), nan_ok=True)


@pytest.mark.parametrize(
    ("halves", "acc_p", "acc_q"),
    [
        pytest.param(
            [scored_half("0", 1, 1), scored_half("0", 2, 0)],
            (0, 1, 0),
            (0.5, 2, 0),
            id="a pair with one half right scores nothing",
        ),
        pytest.param(
            [scored_half("0", 1, 0), scored_half("0", 2, None)],
            (NAN, 0, 1),
            (0, 1, 1),
            id="a pair with an unscored half is unscored, whatever the other half is",
        ),
        pytest.param(
            [scored_half("0", 1, 1), scored_half("1", 2, 1)],
            (NAN, 0, 2),
            (1, 2, 0),
            id="halves of two pairs make no pair",
        ),
        pytest.param(
            [
                *(scored_half("0", half, 1, sample=0) for half in (1, 2)),
                *(scored_half("0", half, 2 - half, sample=1) for half in (1, 2)),
            ],
            (0.5, 2, 0),
            (0.75, 4, 0),
            id="each draw is a pair of its own",
        ),
        pytest.param([], (NAN, 0, 0), (NAN, 0, 0), id="nothing has no mean"),
    ],
)
def test_accuracy_over_pairs_and_queries(halves, acc_p, acc_q):
    by_pair, by_query = scoring.pair_accuracy(halves), scoring.query_accuracy(halves)
    assert (by_pair.value, by_pair.n_scored, by_pair.n_unscored) == acc_p
    assert (by_query.value, by_query.n_scored, by_query.n_unscored) == acc_q


def scored_pairs(n_per_image):
    """40 pairs, of which two are right and two are wrong in turn."""
    halves = []
    for n in range(40):
        score = Score(question_id="", model="m", condition="main", points=float(n % 4 < 2))
        labels = {"image": f"{n // n_per_image}.jpg"}
        for half in (1, 2):
            query = question(group_id=str(n), question_id=f"codis/{n}/{half}", labels=labels)
            halves.append(ScoredQuestion(query, score))
    return halves


def test_pairs_about_one_image_widen_the_interval():
    independent = scoring.pair_accuracy(scored_pairs(n_per_image=1))
    clustered = scoring.pair_accuracy(scored_pairs(n_per_image=2))
    assert independent.value == clustered.value == 0.5
    # Half as many independent points widen it by up to the root of 2.
    assert clustered.high - clustered.low > 1.2 * (independent.high - independent.low)


@pytest.mark.parametrize(
    ("halves", "expected"),
    [
        pytest.param(
            [scored_half("0", 1, 1, answer="Up."), scored_half("0", 2, 0, answer="up")],
            (0, 1, 0),
            id="one answer twice",
        ),
        pytest.param(
            [scored_half("0", 1, None, answer="Up."), scored_half("0", 2, None, answer="Down.")],
            (1, 1, 0),
            id="no judge is needed",
        ),
        pytest.param(
            [scored_half("0", 1, 1, answer="Up."), scored_half("0", 2, None, error="timeout")],
            (NAN, 0, 1),
            id="a query without a response has no answer",
        ),
        pytest.param(
            [
                scored_half("0", 1, 1, answer="Up."),
                scored_half("0", 2, 0, answer="Down.", no_answer=True),
            ],
            (0, 1, 0),
            id="a query that was cut off is not answered differently",
        ),
    ],
)
def test_context_awareness_is_the_share_of_pairs_answered_differently(halves, expected):
    awareness = scoring.context_awareness(halves)
    assert (awareness.value, awareness.n_scored, awareness.n_unscored) == expected


@pytest.mark.parametrize(
    ("response", "options", "index_read"),  # of the option; None for neither
    read_cases(__file__, "read_responses.jsonl", tuples=True),
)
@pytest.mark.parametrize("gold", [0, 1])
def test_rules_judge_by_the_option_that_they_read(response, options, index_read, gold):
    pair = answered(response, answer=(options[gold],), options=options)
    (judgement,) = scoring.judge_by_rules([pair])
    assert judgement.verdict is (gold == index_read)
    expected = UNREAD if index_read is None else f"gives {options[index_read]!r}: "
    assert judgement.response.startswith(expected)
