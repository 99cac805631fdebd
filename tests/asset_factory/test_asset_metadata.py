"""The page of a model's metrics."""

import base64
import re

import pytest

from bench_assets.asset_factory.asset_metadata import results_page
from tests.fakes.rows import metric


def images(page: str) -> list[str]:
    found = re.findall(r"!\[[^\]]*\]\(data:image/svg\+xml;base64,([^)]*)\)", page)
    return [base64.b64decode(one).decode() for one in found]


def test_a_page_says_the_number_and_what_blind_ones_have():
    chance = metric("m", 0.25, metric="chance")
    row = metric("m", 0.5, low=0.4, high=0.625, constant=0.3, n_failed=2)
    page = results_page([row, chance], "accuracy", [])
    assert page.startswith(
        "**accuracy 0.500** [0.400, 0.625], n=40; chance has 0.250, the best constant response has "
        "0.300. 2 questions have no response.\n\n![bars]("
    )
    (bars,) = images(page)
    assert ">chance<" not in bars  # it is a tick, not a bar


def test_slices_are_drawn_and_those_that_are_too_many_are_counted():
    rows = [metric("m", 0.5), *(metric("m", 0.1, category=f"kind {n}") for n in range(30))]
    page = results_page(rows, "accuracy", [])
    (bars,) = images(page)
    assert bars.count(">kind ") == 24
    assert "6 more slices are in the table." in page


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        pytest.param(
            [metric("run/step-100", 0.25), metric("run/step-300", 0.5)],
            "Step 200 of run: 0.625, after 0.250 at step 100 (+0.375).",
            id="after the step before it",
        ),
        pytest.param([metric("run/step-300", 0.5)], "Step 200 of run: 0.625.", id="the first"),
    ],
)
def test_a_step_is_shown_on_the_curve_of_its_run(others, expected):
    page = results_page([metric("run/step-200", 0.625)], "accuracy", others)
    assert expected in page
    assert images(page)[1].count("<circle") == 1 + len(others)


def test_a_long_run_is_thinned_and_keeps_its_ends_and_this_step():
    others = [metric(f"run/step-{n}", 0.5) for n in range(1000)]
    page = results_page([metric("run/step-501", 0.5)], "accuracy", others)
    curve = images(page)[1]
    assert 50 < curve.count("<circle") <= 61
    assert re.findall(r">(\d+)</text>", curve)[-3:] == ["0", "501", "999"]
    assert len(page) < 50_000
