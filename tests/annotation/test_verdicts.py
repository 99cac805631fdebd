"""People's verdicts on models' responses: what is asked, what most say."""

import json
from dataclasses import replace

import pytest

from bench_assets.annotation.responses.verdicts import majority_verdicts, verdicts_task
from bench_assets.annotation.tasks import split_unit_id
from bench_assets.core.schema.rows import Judgement
from tests.annotation.said import answer, fits
from tests.rows import prediction, question

FORM = verdicts_task("t", "T", judged=True)


def asked(n, category=""):
    return [question(question_id=f"t/{k}", category=category, answer=("key",)) for k in range(n)]


def said(n, model="model-a", text="{} says"):
    return [prediction(question_id=f"t/{k}", model=model, text=text.format(k)) for k in range(n)]


def judged(row, verdict):
    return Judgement.of(row, judge="gpt", criterion="c", verdict=verdict, response="")


def test_who_judges_sees_neither_the_model_nor_its_judge():
    (row,) = said(1)
    (unit,) = FORM.units(questions=asked(1), predictions=[row], judgements=[judged(row, True)])
    assert unit.shown == {"Question": "?", "Right": "key", "Response": "0 says"}
    assert "model-a" not in json.dumps([unit.unit_id, dict(unit.shown), list(unit.barred)])
    assert fits(FORM.task, unit, answer(unit.unit_id, verdict="unclear")) == ""


def test_as_many_are_asked_as_tell_the_agreement_to_five_points():
    units = FORM.units(questions=asked(300), predictions=said(300))
    assert len(units) == 139  # 1.96 squared times 0.9 times 0.1 over 0.05 squared


def test_the_sample_has_each_verdict_of_the_judge_as_often_as_there_are():
    """Of 278 responses the judge calls 28 right: 14 of 139."""
    rows = said(278)
    verdicts = [judged(row, number < 28) for number, row in enumerate(rows)]
    units = FORM.units(questions=asked(278), predictions=rows, judgements=verdicts)
    right = {row.question_id for row in rows[:28]}
    assert sum(split_unit_id(unit.unit_id)[0] in right for unit in units) == 14


def verdicts(*words, text="0 says"):
    (unit,) = FORM.units(questions=asked(1), predictions=said(1, text=text))
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


def test_where_people_judge_they_are_asked_about_what_they_judge_and_no_sample():
    rows = said(300)
    waits = [replace(judged(row, None), judge="people") for row in rows]
    units = FORM.units(questions=asked(300), predictions=rows, judgements=waits[:200])
    assert [split_unit_id(unit.unit_id)[0] for unit in units] == [f"t/{n}" for n in range(200)]
    both = [*waits[:2], judged(said(1, model="model-b", text="{} too")[0], True)]
    units = FORM.units(questions=asked(300), predictions=rows, judgements=both)
    assert len(units) == 2
