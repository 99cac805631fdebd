from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_assets import flow
from bench_assets.core.rows import Judgement, Score
from bench_assets.suites.codis import prompts, scoring
from bench_assets.suites.codis.task import TASK
from bench_assets.task import Scored
from resources.models.recorded import RecordedJudge
from resources.models.scripted import ScriptedModel
from tests.rows import answered, prediction, question

UP, YES = ("Up.", "Down."), ("Yes.", "No.")
BAG = ("Opening your bag.", "Closing your bag.")
CAR = ("In the car.", "Out of the car.")
FLIP = ("From right to left.", "From left to right.")
SIDE = ("The person on the left.", "The person on the right.")
FIT = ("Appropriate.", "Not appropriate.")
HALF = ("The first half.", "The second half.")
DAY = ("In the morning.", "In the afternoon.")
EDGE = ("Edge A.", "Edge B.")
HILL = ("A hill.", "A crater.")
CUBES = ("Seven.", "Six.")
TRAIN = ("Arriving the platform.", "Leaving the platform.")
CLOCK = (
    "6:09 (answers from 6:07 to 6:10 are all right).",
    "6:25 (answers from 6:24 to 6:26 are all right).",
)
CLOCK_24 = (
    "7:23 (answers from 7:22 to 7:24 are all right).",
    "19:23 (answers from 19:22 to 19:24 are all right).",
)

# The reply, the two possible answers, and which of them a person would say it gives; None where
# it gives neither of them clearly.
READINGS = [
    pytest.param("Up.", UP, 0, id="the answer itself"),
    pytest.param("down", UP, 1, id="case and full stop do not count"),
    pytest.param("**Up**", UP, 0, id="bold"),
    pytest.param("“Down”", UP, 1, id="curly quotes"),
    pytest.param("The sky is below, so up it goes.\n\nDown.", UP, 1, id="the second part counts"),
    pytest.param("First down, then\nPart 2: Up.", UP, 0, id="a numbered part"),
    pytest.param("Because.\n\n2. Up", UP, 0, id="a number alone"),
    pytest.param("Thinking.\n**Answer:** Down", UP, 1, id="a label in bold"),
    pytest.param("It is not down, therefore the answer is up.", UP, 0, id="the answer is"),
    pytest.param("The stairs lead up.\n\n---\n", UP, 0, id="a ruler after the answer"),
    pytest.param("He is walking up the stairs.", UP, 0, id="inside a sentence"),
    pytest.param("He is walking upstairs.", UP, 0, id="another word for it"),
    pytest.param("Up or down.", UP, None, id="both"),
    pytest.param("It could go up; it could go down.", UP, None, id="both in two clauses"),
    pytest.param("Not up.", UP, None, id="denied"),
    pytest.param("It isn't going down.", UP, None, id="denied in short form"),
    pytest.param("Neither up nor down.", UP, None, id="neither"),
    pytest.param("Up, not down.", UP, 0, id="one and not the other"),
    pytest.param("Down rather than up.", UP, 1, id="one rather than the other"),
    pytest.param("Not up but down.", UP, 1, id="denied first, then said"),
    pytest.param("It cannot be determined whether it is up.", UP, None, id="undecided"),
    pytest.param("It is unclear, maybe up.", UP, None, id="hedged"),
    pytest.param("Up.\nThe greenery lies below the viewer.", UP, 0, id="explained afterwards"),
    pytest.param("Up.\nNo, it moves down.", UP, None, id="taken back afterwards"),
    pytest.param("Down.\nUp.", UP, None, id="two bare answers"),
    pytest.param("I see a staircase.", UP, None, id="no answer"),
    pytest.param("", UP, None, id="nothing"),
    pytest.param(" \n\t\n", UP, None, id="blanks"),
    pytest.param("Yes.", YES, 0, id="yes"),
    pytest.param("no", YES, 1, id="no"),
    pytest.param("No, he will not be fined.", YES, 1, id="no with a reason"),
    pytest.param("Yes, you can turn.", YES, 0, id="yes with a reason"),
    pytest.param("Yes it is legal here.", YES, 0, id="yes without a comma"),
    pytest.param("Therefore, yes.", YES, 0, id="yes after a connective"),
    pytest.param("My answer would be no.", YES, 1, id="no at the end"),
    pytest.param("Yes and no.", YES, None, id="yes and no"),
    pytest.param("Yes/No", YES, None, id="the options repeated"),
    pytest.param("No idea.", YES, None, id="no as another word's article"),
    pytest.param("No information is given.", YES, None, id="no information"),
    pytest.param("There is no doubt.", YES, None, id="no inside the text"),
    pytest.param("No, I cannot tell.", YES, None, id="no that decides nothing"),
    pytest.param("I would not say yes.", YES, None, id="yes denied"),
    pytest.param("No one is in danger.", YES, None, id="no one"),
    pytest.param("Opening the bag.", BAG, 0, id="the word that differs is enough"),
    pytest.param("You are closing it.", BAG, 1, id="a sentence with the word that differs"),
    pytest.param("Your bag.", BAG, None, id="only what both have"),
    pytest.param("Opening and closing.", BAG, None, id="both verbs"),
    pytest.param("The box will be in the car.", CAR, 0, id="a small word that differs"),
    pytest.param("Out of the car, as in the picture.", CAR, 1, id="the small word elsewhere"),
    pytest.param("Taken away in the picture.", CAR, None, id="a small word alone says nothing"),
    pytest.param("Right to left.", FLIP, 0, id="the same words in another order"),
    pytest.param("He flips it from left to right.", FLIP, 1, id="order inside a sentence"),
    pytest.param("The woman on the right.", SIDE, 1, id="another noun"),
    pytest.param("The lady on the left right now.", SIDE, 0, id="right now is no direction"),
    pytest.param("The person.", SIDE, None, id="neither side"),
    pytest.param("Appropriate.", FIT, 0, id="the answer inside the longer one"),
    pytest.param("It is not appropriate.", FIT, 1, id="the longer answer"),
    pytest.param("It is not really appropriate.", FIT, 1, id="the longer one interrupted"),
    pytest.param("Second part: the first half of the year.", HALF, 0, id="label like an option"),
    pytest.param("The second half of the year.", HALF, 1, id="more than the answer"),
    pytest.param("Afternoon.", DAY, 1, id="less than the answer"),
    pytest.param("It was taken at noon.", DAY, None, id="noon is no afternoon"),
    pytest.param("Edge A is closer.", EDGE, 0, id="a letter that is a name"),
    pytest.param("B", EDGE, 1, id="the name alone"),
    pytest.param("I see the edge.", EDGE, None, id="the noun without its name"),
    pytest.param("It is a crater.", HILL, 1, id="a letter that is an article"),
    pytest.param("7", CUBES, 0, id="a digit"),
    pytest.param("There are six cubes.", CUBES, 1, id="a number word"),
    pytest.param("6 or 7", CUBES, None, id="two digits"),
    pytest.param("The train is arriving at the platform.", TRAIN, 0, id="with a preposition"),
    pytest.param("It is 6:08.", CLOCK, 0, id="a time within the range"),
    pytest.param("6:11", CLOCK, None, id="a time outside of both ranges"),
    pytest.param("06:25", CLOCK, 1, id="a leading zero"),
    pytest.param("19:23", CLOCK_24, 1, id="an hour that ends like the other"),
    pytest.param("7:23 p.m.", CLOCK_24, 1, id="the afternoon in 12 hours"),
    pytest.param("Between 7:23 and 19:23", CLOCK_24, None, id="two times"),
]


@pytest.mark.parametrize(("reply", "options", "named"), READINGS)
def test_rules_give_a_point_to_what_a_person_reads(reply, options, named):
    for gold, answer in enumerate(options):
        pair = answered(reply, answer=(answer,), options=options)
        (judgement,) = scoring.judge_by_rules([pair])
        assert judgement.verdict is (gold == named)
        said = "neither" if named is None else repr(options[named])
        assert judgement.reply.startswith(f"names {said}")


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("right", True),
        ("Wrong.", False),
        (" RIGHT\n", True),
        ("<think>is it right?</think>wrong", False),
        pytest.param("not right", None, id="not right"),
        pytest.param('"right"', True, id="in quotation marks, as the judge is shown it"),
        pytest.param("I have no idea.", None, id="a refusal"),
        pytest.param("The output is right", None, id="a sentence"),
        pytest.param("<think>right", None, id="a thought that never ends"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_a_verdict_is_one_of_two_words(reply, verdict):
    assert scoring.read_verdict(reply) is verdict


def test_a_judge_is_asked_once_for_each_reply_and_quoted():
    said = {"codis/000/1": "Right.", "codis/000/2": "maybe"}
    judge = ScriptedModel("gpt", lambda request: said[request.question.question_id])
    pairs = [answered("up", question_id=name) for name in said]
    rows = scoring.judge(pairs, judge)
    assert [(r.question_id, r.judge, r.verdict, r.reply) for r in rows] == [
        ("codis/000/1", "gpt", True, "Right."),
        ("codis/000/2", "gpt", None, "maybe"),
    ]
    assert [r.prompt_sha256 for r in rows] == [
        prompts.judge(q, said.text).sha256 for q, said in pairs
    ]


def test_a_judge_that_was_not_reached_leaves_its_error(tmp_path):
    judge = RecordedJudge("recorded", [], tmp_path / "replies.jsonl")
    (row,) = scoring.judge([answered("up")], judge)
    assert row.verdict is None
    assert "replies.jsonl" in row.error


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
        pytest.param([judgement(verdict=True, reply="right")], 1.0, 1.0, id="right"),
        pytest.param([judgement(verdict=False, reply="wrong")], 0.0, 0.0, id="wrong"),
        pytest.param([judgement(verdict=True, reply="Right.")], 1.0, 0.0, id="a capital letter"),
        pytest.param([judgement(reply="not right")], None, 1.0, id="the substring in a denial"),
        pytest.param([judgement(reply="")], None, 0.0, id="a judge that says nothing"),
        pytest.param([judgement(error="503")], None, None, id="a judge that was not reached"),
        pytest.param([], None, None, id="no judgement"),
        pytest.param([judgement(reply="right")] * 2, None, None, id="two judgements"),
        pytest.param(
            [judgement(judge="rules", verdict=True, reply="names 'x'")], 1.0, 1.0, id="rules: right"
        ),
        pytest.param(
            [judgement(judge="rules", verdict=False, reply="right or wrong")],
            0.0,
            0.0,
            id="rules: whose reason is no verdict",
        ),
    ],
)
def test_two_readings_of_a_judgement(judgements, strict, official):
    pair = answered("x", options=("x", "y"))
    one, other = (read(pair, judgements) for read in TASK.readings.values())
    assert (one.points, other.points) == (strict, official)
    assert (one.note == "") == (one.points is not None and judgements[0].judge != "rules")


def test_a_score_says_what_was_read_and_nothing_if_there_was_nothing():
    assert TASK.readings["strict"](answered("Up it is.", options=UP), []).answer == ("Up.",)
    assert TASK.readings["strict"](answered("A staircase.", options=UP), []).answer == (
        "A staircase.",
    )
    assert TASK.readings["strict"](answered("", options=UP), []).answer == ()


def test_what_a_model_thinks_aloud_is_judged_for_the_official_reading_only():
    pair = answered("up", options=UP)
    pair = pair._replace(prediction=replace(pair.prediction, raw_text="<think>down?</think>up"))
    judge = ScriptedModel(
        "gpt", lambda request: "wrong" if "<think>" in request.prompt.turns[0].parts[0] else "right"
    )
    judgements = scoring.judge([pair], judge)
    assert [row.verdict for row in judgements] == [True, False]
    strict, official = (read(pair, judgements) for read in TASK.readings.values())
    assert (strict.points, official.points) == (1.0, 0.0)


def test_what_the_judge_thinks_aloud_counts_officially():
    said = judgement(verdict=False, reply="<think>Is it right?</think>wrong")
    strict, official = (read(answered("up"), [said]) for read in TASK.readings.values())
    assert (strict.points, official.points) == (0.0, 1.0)


def half(pair, number, points, *, answer="", sample=0, error=""):
    asked = question(question_id=f"codis/{pair}/{number}", group_id=pair)
    said = prediction(question_id=asked.question_id, sample=sample)
    score = Score.of(said, points=points, answer=(answer,))
    return Scored(
        asked, Score(**{n: getattr(score, n) for n in score.__slots__} | {"error": error})
    )


NAN = pytest.approx(float("nan"), nan_ok=True)


@pytest.mark.parametrize(
    ("scored", "acc_p", "acc_q"),
    [
        pytest.param([half("0", 1, 1), half("0", 2, 1)], (1, 1, 0), (1, 2, 0), id="both right"),
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
            [half("0", 1, 1)], (NAN, 0, 1), (1, 1, 0), id="a pair with a missing half is unscored"
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
        found = measure(scored)
        assert (found.value, found.n_scored, found.n_unscored) == expected


def test_pairs_about_one_picture_are_not_independent():
    def pairs(picture):
        return [
            Scored(question(group_id=str(n), question_id=f"codis/{n}/{h}", labels={"image": i}), s)
            for n in range(40)
            for i in [picture(n)]
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
            [half("0", 1, 1, answer="Up."), half("0", 2, 1, answer="Down.")],
            (1, 1, 0),
            id="two answers",
        ),
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
            id="a query without a reply has no answer",
        ),
    ],
)
def test_context_awareness(scored, expected):
    found = scoring.context_awareness(scored)
    assert (found.value, found.n_scored, found.n_unscored) == expected


HALVES = st.tuples(st.integers(0, 5), st.sampled_from([1, 2]))


@given(st.dictionaries(HALVES, st.sampled_from([0.0, 1.0])))
def test_acc_p_never_exceeds_acc_q_where_both_halves_are_scored(points):
    whole = [half(str(n), h, p) for (n, h), p in points.items() if (n, 3 - h) in points]
    acc_p, acc_q = scoring.pair_accuracy(whole), scoring.query_accuracy(whole)
    assert (acc_p.n_scored, acc_p.n_unscored) == (len(whole) // 2, 0)
    rounding = 1e-9
    assert not whole or (2 * acc_q.value - 1 - rounding <= acc_p.value <= acc_q.value + rounding)


def test_the_task_counts_add_up_to_the_706_queries_of_the_paper():
    assert sum(TASK.counts.values()) == 2 * 706
    assert flow.score(TASK, [], [], []) == []
