"""Who goes by an option's place is caught, and nobody else: the check on figures of orders."""

from dataclasses import replace
from functools import partial

import pytest

from bench_assets.core.schema.measured_figures import OrderFigure
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.tables.arrow import digest
from tests.audit.choosing import figures, first, knowing, shifted_responses
from tests.audit.held import Held, exam, failed, found

EXAM = exam("choice")


def examined(*models, data=""):
    whose = partial(OrderFigure, task="exam", setup="", orders=0, at="2026")
    data = data or short_digest(digest(EXAM.questions))
    rows = [
        row
        for n, one in enumerate(models)
        for row in figures(
            shifted_responses(one), partial(whose, model=f"m{n}", data=data)
        ).values()
    ]
    return replace(EXAM, order_figures=rows)


def memorised(question, places):
    """Knows the answers of the order that the benchmark has, and of no other."""
    return places.index(question % 4 if places[0] == 0 else (question + 1) % 4)


def leaning(question, places):
    """Says B where it does not know, which is a third of the time."""
    return 1 if question % 3 == 0 else knowing(question, places)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (first, "answers A 100 % of the time"),
        (leaning, "answers B 51 % of the time"),
        (memorised, "the benchmark's own order gains +1.000"),
    ],
    ids=["always the first", "the second where it does not know", "learned the order by heart"],
)
def test_a_model_whose_place_hangs_on_the_order_is_caught(model, why):
    evidence = examined(knowing, model)
    assert failed(evidence) == {"option_orders"}
    assert {one.about for one in found(evidence, "option_orders").suspects} == {"m1"}
    assert any(why in one.evidence for one in found(evidence, "option_orders").suspects)


def test_what_was_measured_last_counts():
    before = examined(first)
    after = [replace(row, at="2027") for row in examined(knowing).order_figures]
    assert failed(Held(questions=EXAM.questions, order_figures=before.order_figures)) >= {
        "option_orders"
    }
    assert failed(replace(before, order_figures=[*before.order_figures, *after])) == set()
