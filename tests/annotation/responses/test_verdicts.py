import json
from dataclasses import replace

import pytest

from bench_assets.annotation.responses.verdicts import majority_verdicts, verdicts_task
from bench_assets.annotation.tasks import split_unit_id, unit_id
from bench_assets.core.schema.rows import Judgement
from tests.fakes.answers import answer, complaint
from tests.fakes.rows import drawn_unit, prediction, question

FORM = verdicts_task("t", "T", judged=True)


def questions(n):
    return [question(question_id=f"t/{k}", answer=("key",)) for k in range(n)]


def predictions(n, model="model-a"):
    return [prediction(question_id=f"t/{k}", model=model, text=f"{k} says") for k in range(n)]


def judgement_of(row, verdict):
    return Judgement.of(row, judge="gpt", criterion="c", verdict=verdict, response="")


def test_a_unit_shows_neither_the_model_nor_its_judge():
    (row,) = predictions(1)
    (unit,) = FORM.units(
        questions=questions(1),
        predictions=[row],
        judgements=[judgement_of(row, verdict=True)],
        drawn=draw_pairs(0),
    )
    assert unit.shown == {"Question": "?", "Right": "key", "Response": "0 says"}
    visible = json.dumps([unit.unit_id, dict(unit.shown), list(unit.barred)])
    assert "model-a" not in visible
    assert "gpt" not in visible
    assert complaint(FORM.task, unit, answer(unit.unit_id, verdict="unclear")) == ""


def draw_pairs(*numbers):
    return [drawn_unit(f"p{n}", unit_id(f"t/{n}", f"t/{n + 1}"), model="model-a") for n in numbers]


def test_both_questions_of_drawn_pairs_become_units_in_the_order_of_the_draw():
    units = FORM.units(
        questions=questions(300), predictions=predictions(300), drawn=draw_pairs(8, 2, 298, 400)
    )
    ids = [split_unit_id(unit.unit_id)[0] for unit in units]
    assert ids == ["t/8", "t/9", "t/2", "t/3", "t/298", "t/299"]


def vote_on_response(verdicts):
    """The rows of people's verdicts on one response."""
    (unit,) = FORM.units(questions=questions(1), predictions=predictions(1), drawn=draw_pairs(0))
    return FORM.to_rows(
        [answer(unit.unit_id, f"p{n}", verdict=verdict) for n, verdict in enumerate(verdicts)]
    )


@pytest.mark.parametrize(
    ("verdicts", "majority"),
    [
        pytest.param(["yes"], [True], id="one says yes"),
        pytest.param(["no", "yes", "no"], [False], id="two of three say no"),
        pytest.param(["no", "yes"], [], id="divided"),
        pytest.param(["unclear"], [], id="nobody can tell"),
        pytest.param(["yes", "unclear"], [], id="one can tell, one cannot"),
        pytest.param(["yes", "yes", "unclear"], [True], id="two can tell"),
    ],
)
def test_the_majority_of_verdicts_decides(verdicts, majority):
    rows = vote_on_response(verdicts)
    assert list(majority_verdicts(rows).values()) == majority


def test_responses_that_wait_for_people_are_units_without_a_draw():
    rows = predictions(300)
    waiting = [replace(judgement_of(row, verdict=None), judge="people") for row in rows[:200]]
    units = FORM.units(questions=questions(300), predictions=rows, judgements=waiting)
    assert [split_unit_id(unit.unit_id)[0] for unit in units] == [f"t/{n}" for n in range(200)]


def test_a_response_that_a_model_judged_is_no_unit_without_a_draw():
    rows = predictions(2)
    waiting = replace(judgement_of(rows[0], verdict=None), judge="people")
    judgements = [waiting, judgement_of(rows[1], verdict=True)]
    (unit,) = FORM.units(questions=questions(2), predictions=rows, judgements=judgements)
    assert unit.shown["Response"] == "0 says"
