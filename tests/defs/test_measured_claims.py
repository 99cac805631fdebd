"""Claims on what was measured in a home: who is tried, what is paired, what cannot be told."""

from dataclasses import replace

import pytest

from bench_assets.core.metrics.aggregates import group_accuracy
from bench_assets.core.schema.published_numbers import Cell, Claim, PublishedNumber, make_terms
from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.defs.tables.claims import MeasuredClaims
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import Condition
from bench_resources.tables.parquet import TableFiles
from tests.quiz import TASK, quiz


def less(most, least):
    return make_terms([most], [least])


BLIND = replace(
    TASK,
    conditions={
        **TASK.conditions,
        "blind": Condition(prompt=TASK.conditions["main"].prompt, about="Without the image."),
    },
)
SEEN = Cell(task="quiz", metric=TASK.primary_metric)
UNSEEN = replace(SEEN, condition="blind")
NEEDED = Claim(name="needed", section="1", sentence="It is.", terms=less(SEEN, UNSEEN))
PEOPLE = Claim(
    name="people",
    section="1",
    sentence="They do.",
    terms=less(Cell(task="quiz", metric=TASK.primary_metric, model="Human", n=40), SEEN),
)
PRINTED = PublishedNumber(
    task="quiz",
    model="Human",
    condition="main",
    metric=TASK.primary_metric,
    category="all",
    value=0.9,
    printed="90",
    source="Quiz, Table 1",
)


def measured(tables, model, right, condition="main", n=40, *, task=BLIND, unscored=(), **fields):
    """A model that has the first ``right`` questions right, asked under a condition."""
    questions = [replace(one, edition="published") for one in quiz(n, **fields)]
    tables.write(["quiz", "questions"], questions, Question)
    said = [
        Prediction(
            question_id=one.question_id,
            model=model,
            condition=condition,
            text=one.answer[0] if number < right else "no",
        )
        for number, one in enumerate(questions)
    ]
    scores = [
        replace(score, points=None if number in unscored else score.points)
        for number, score in enumerate(pipeline.score(task, questions, said, []))
    ]
    metrics = pipeline.summarise(task, questions, said, scores)
    place = ["quiz", *([] if condition == "main" else [condition])]
    tables.write([*place, "scores"], scores, Score, model)
    tables.write([*place, "metrics"], metrics, Metric, model)


def tried(tables, *claims, uninformed=(), printed=(PRINTED,)):
    rows = MeasuredClaims("quiz", [BLIND], tables, printed, uninformed).tried(claims)
    return {(row.claim, row.model): row for row in rows}


@pytest.fixture
def tables(tmp_path):
    return TableFiles(folder=str(tmp_path))


def test_two_conditions_are_paired_by_their_questions(tables):
    measured(tables, "m", right=30)
    measured(tables, "m", right=10, condition="blind")
    row = tried(tables, NEEDED)["needed", "m"]
    # 20 of 40 differ by 1: the error is sqrt(40/39 * 10) / 40 = 0.0801, Student's t of 39 is 2.023.
    assert (row.value, row.n, row.verdict) == (0.5, 40, "holds")
    assert (row.low, row.high) == pytest.approx((0.338, 0.662), abs=1e-3)
    assert "paired on 40 questions" in row.why


def test_pairs_with_an_unscored_half_are_left_out(tables):
    """Of 20 pairs the first 5 are right, and none without the image; half of a sixth is right."""
    pairs = replace(BLIND, measures={"group_accuracy": group_accuracy})
    cells = [replace(cell, metric="group_accuracy") for cell in (SEEN, UNSEEN)]
    for condition, right in (("main", 10), ("blind", 0)):
        measured(tables, "m", right, condition, task=pairs, group=2, unscored=(11,))
    claim = replace(NEEDED, terms=less(*cells))
    rows = MeasuredClaims("quiz", [pairs], tables, ()).tried([claim])
    (row,) = [one for one in rows if one.model]
    assert "paired on 39 questions" in row.why
    assert row.value == pytest.approx(5 / 19)


def test_people_are_compared_unpaired(tables):
    measured(tables, "m", right=30)
    row = tried(tables, PEOPLE)["people", "m"]
    # Wilson: 0.9 of 40 is 0.7695 to 0.9604, 0.75 of 40 is 0.5981 to 0.8581 (of 39, as a metric has
    # it, a little wider); Newcombe's of the two is -0.0195 to 0.3135.
    assert row.value == pytest.approx(0.15)
    assert (row.low, row.high) == pytest.approx((-0.0195, 0.3135), abs=3e-3)
    assert row.verdict == "cannot be told"


@pytest.mark.parametrize(
    ("claim", "change", "why"),
    [
        pytest.param(
            NEEDED, {}, "evaluated on all of: main, blind", id="nobody was asked without images"
        ),
        pytest.param(PEOPLE, {"printed": ()}, "not measured: Human", id="no people"),
        pytest.param(
            PEOPLE, {"uninformed": ["m"]}, "no model that sees images", id="a baseline alone"
        ),
    ],
)
def test_what_cannot_be_told_says_why(tables, claim, change, why):
    measured(tables, "m", right=30)
    row = tried(tables, claim, **change)[claim.name, ""]
    assert row.verdict == "cannot be told"
    assert why in row.why


def test_people_are_not_compared_with_models_that_had_other_questions(tables):
    measured(tables, "m", right=30)
    key = ["quiz", "metrics"]
    drawn = [replace(row, edition="mini") for row in tables.read(key, Metric, "m")]
    tables.write(key, drawn, Metric, "m")
    row = tried(tables, PEOPLE)["people", ""]
    assert (row.verdict, row.p) == ("cannot be told", None)
    assert "'mini'" in row.why


def test_questions_that_changed_since_count_no_more(tables):
    measured(tables, "m", right=30)
    measured(tables, "n", right=20, n=41)
    assert ("people", "m") not in tried(tables, PEOPLE)
    assert ("people", "n") in tried(tables, PEOPLE)


def test_what_is_said_of_every_model_fails_with_one(tables):
    for model, main, blind in (("a", 30, 10), ("b", 10, 30)):
        measured(tables, model, right=main)
        measured(tables, model, right=blind, condition="blind")
    rows = tried(tables, NEEDED)
    assert [rows["needed", name].verdict for name in ("a", "b", "")] == [
        *("holds", "does not hold", "does not hold")
    ]
    assert "as claimed for 1 of 2 models" in rows["needed", ""].why


def test_more_claims_take_more_evidence(tables):
    measured(tables, "m", right=30)
    measured(tables, "m", right=10, condition="blind")
    again = [replace(NEEDED, name=f"needed_{number}") for number in range(10)]
    alone = tried(tables, NEEDED)["needed", "m"].p
    assert tried(tables, *again)["needed_0", "m"].p == pytest.approx(10 * alone)
