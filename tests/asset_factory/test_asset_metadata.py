"""The page of a model's metrics."""

import base64
import re

from bench_assets.asset_factory.asset_metadata import results_page
from tests.fakes.rows import metric


def images(page: str) -> list[str]:
    found = re.findall(r"!\[[^\]]*\]\(data:image/svg\+xml;base64,([^)]*)\)", page)
    return [base64.b64decode(one).decode() for one in found]


def test_a_page_says_the_number_and_what_blind_ones_have():
    chance = metric("m", 0.25, metric="chance")
    row = metric("m", 0.5, low=0.4, high=0.625, constant=0.3, n_failed=2)
    page = results_page([row, chance], "accuracy")
    assert page.startswith(
        "**accuracy 0.500** [0.400, 0.625], n=40; chance has 0.250, the best constant response has "
        "0.300. 2 questions have no response.\n\n![bars]("
    )
    (bars,) = images(page)
    assert ">chance<" not in bars  # it is a tick, not a bar


def test_slices_are_drawn_and_those_that_are_too_many_are_counted():
    rows = [metric("m", 0.5), *(metric("m", 0.1, category=f"kind {n}") for n in range(30))]
    page = results_page(rows, "accuracy")
    (bars,) = images(page)
    assert bars.count(">kind ") == 24
    assert "6 more slices are in the table." in page
