"""People's verdicts on models' responses: what is asked, what most say."""

import json
from dataclasses import replace

import pytest

from bench_assets.annotation.responses.verdicts import majority_verdicts, verdicts_task
from bench_assets.annotation.tasks import split_unit_id, unit_id
from bench_assets.core.schema.rows import Judgement
from tests.fakes.answers import answer, fits
from tests.fakes.rows import drawn_unit, prediction, question

FORM = verdicts_task("t", "T", judged=True)


def exam(n, category=""):
    return [question(question_id=f"t/{k}", category=category, answer=("key",)) for k in range(n)]


def answers(n, model="model-a", text="{} says"):
    return [prediction(question_id=f"t/{k}", model=model, text=text.format(k)) for k in range(n)]


def judged(row, verdict):
    return Judgement.of(row, judge="gpt", criterion="c", verdict=verdict, response="")


def test_who_judges_sees_neither_the_model_nor_its_judge():
    (row,) = answers(1)
    (unit,) = FORM.units(
        questions=exam(1), predictions=[row], judgements=[judged(row, True)], drawn=drawn(0)
    )
    assert unit.shown == {"Question": "?", "Right": "key", "Response": "0 says"}
    assert "model-a" not in json.dumps([unit.unit_id, dict(unit.shown), list(unit.barred)])
    assert fits(FORM.task, unit, answer(unit.unit_id, verdict="unclear")) == ""


def drawn(*numbers):
    return [
        drawn_unit(f"pair {n}", unit_id(f"t/{n}", f"t/{n + 1}"), model="model-a") for n in numbers
    ]


def test_both_questions_of_drawn_pairs_become_units_in_the_order_of_the_draw():
    units = FORM.units(questions=exam(300), predictions=answers(300), drawn=drawn(8, 2, 298, 400))
    ids = [split_unit_id(unit.unit_id)[0] for unit in units]
    assert ids == ["t/8", "t/9", "t/2", "t/3", "t/298", "t/299"]


def verdicts(*words, text="0 says"):
    (unit,) = FORM.units(questions=exam(1), predictions=answers(1, text=text), drawn=drawn(0))
    return FORM.to_rows([answer(unit.unit_id, f"p{n}", verdict=w) for n, w in enumerate(words)])


@pytest.mark.parametrize(
    ("words", "truth"),
    [
        pytest.param(["yes"], [True], id="one says yes"),
        pytest.param(["no", "yes", "no"], [False], id="two of three say no"),
        pytest.param(["no", "yes"], [], id="divided"),
        pytest.param(["unclear"], [], id="nobody can tell"),
        pytest.param(["yes", "unclear"], [], id="one can tell, one cannot"),
        pytest.param(["yes", "yes", "unclear"], [True], id="two can tell"),
    ],
)
def test_what_most_say_decides(words, truth):
    assert list(majority_verdicts(verdicts(*words)).values()) == truth


def test_where_people_judge_the_units_are_what_they_judge():
    rows = answers(300)
    waits = [replace(judged(row, None), judge="people") for row in rows]
    units = FORM.units(questions=exam(300), predictions=rows, judgements=waits[:200])
    assert [split_unit_id(unit.unit_id)[0] for unit in units] == [f"t/{n}" for n in range(200)]
    both = [*waits[:2], judged(answers(1, model="model-b", text="{} too")[0], True)]
    units = FORM.units(questions=exam(300), predictions=rows, judgements=both)
    assert len(units) == 2
