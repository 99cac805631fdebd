"""Which of two responses people prefer: drawn orders, win rates by pencil, always the first."""

import json

from bench_assets.annotation.responses.preferences import preferences_task, win_rates
from bench_assets.annotation.responses.units import response_name
from bench_assets.annotation.tasks import split_unit_id
from tests.annotation.said import answer, fits
from tests.rows import prediction, question

FORM = preferences_task("t", "T")
N = 400
ASKED = [question(question_id=f"t/{k}", answer=("secret",)) for k in range(N)]
SAID = [
    prediction(question_id=f"t/{k}", model=model, text=f"{model[-1]} {k}")
    for k in range(N)
    for model in ("model-a", "model-b")
]
ITEMS = FORM.units(questions=ASKED, predictions=SAID)


def by_a(unit):
    """The choice that is model a's response."""
    return "the first" if unit.shown["First response"].startswith("a") else "the second"


def by_b(unit):
    return "the second" if by_a(unit) == "the first" else "the first"


def cast(says, units=ITEMS, person="ana"):
    return FORM.to_rows([answer(unit.unit_id, person, better=says(unit)) for unit in units])


def test_fifty_questions_of_two_models_are_asked_and_each_is_first_in_half():
    assert len(ITEMS) == 50
    assert sum(by_a(unit) == "the first" for unit in ITEMS) == 25
    assert FORM.units(questions=ASKED, predictions=SAID[::-1]) == ITEMS


def test_neither_a_model_nor_the_key_is_shown():
    told = json.dumps([[unit.unit_id, dict(unit.shown)] for unit in ITEMS])
    assert "model-" not in told
    assert "secret" not in told
    assert fits(FORM.task, ITEMS[0], answer(ITEMS[0].unit_id, better="neither")) == ""


def test_equal_responses_are_not_compared():
    same = [prediction(model=model, text="the same") for model in ("a", "b")]
    assert FORM.units(questions=[question()], predictions=same) == []


def test_the_order_is_drawn_by_what_is_shown_and_not_by_the_models_names():
    renamed = [
        prediction(
            question_id=row.question_id, model={"a": "z", "b": "c"}[row.model[-1]], text=row.text
        )
        for row in SAID
    ]
    shown = {unit.unit_id for unit in FORM.units(questions=ASKED, predictions=renamed)}
    turned = {f"{q}/{second}/{first}" for q, first, second in (i.split("/") for i in shown)}
    assert not turned & {unit.unit_id for unit in ITEMS}


def test_win_rates_are_counted_whoever_was_shown_first():
    """Of the first four questions a wins two, b one, and one is a tie: 2.5 of 4."""
    says = [by_a, by_a, by_b, lambda _: "neither"]
    rows = [
        row for says_one, unit in zip(says, ITEMS, strict=False) for row in cast(says_one, [unit])
    ]
    (rate,) = win_rates(rows, SAID)
    assert (rate.model, rate.other, rate.n) == ("model-a", "model-b", 4)
    assert (rate.wins, rate.losses, rate.ties, rate.rate) == (2, 1, 1, 0.625)
    assert 0 < rate.low < 0.625 < rate.high < 1


def test_a_response_of_two_models_counts_for_both():
    rows = [prediction(model=m, text=t) for m, t in (("a", "x"), ("b", "x"), ("c", "y"))]
    units = FORM.units(questions=[question()], predictions=rows)
    assert units == []  # one question has one order only: both orders cannot be balanced
    said = FORM.to_rows(
        [answer(f"t%2F1/{response_name('x')}/{response_name('y')}", better="the first")]
    )
    assert [(r.model, r.other, r.rate) for r in win_rates(said, rows)] == [
        ("a", "c", 1.0),
        ("b", "c", 1.0),
    ]


def test_who_always_says_first_prefers_no_model():
    (rate,) = win_rates(cast(lambda _: "the first"), SAID)
    assert rate.rate == 0.5
    assert [split_unit_id(unit.unit_id)[0] for unit in ITEMS[:1]] == ["t/0"] or rate.n == 50
