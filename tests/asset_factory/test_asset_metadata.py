import base64
import re

from bench_assets.asset_factory.asset_metadata import results_page
from tests.fakes.rows import metric


def embedded_svgs(page: str) -> list[str]:
    encoded = re.findall(r"!\[[^\]]*\]\(data:image/svg\+xml;base64,([^)]*)\)", page)
    return [base64.b64decode(svg).decode() for svg in encoded]


def test_a_page_begins_with_the_metric_chance_and_the_best_constant():
    chance = metric("m", 0.25, metric="chance")
    row = metric("m", 0.5, low=0.4, high=0.625, constant=0.3, n_failed=2)
    page = results_page([row, chance], "accuracy")
    assert page.startswith(
        "**accuracy 0.500** [0.400, 0.625], n=40; chance has 0.250, the best constant response has "
        "0.300. 2 questions have no response.\n\n![bars]("
    )
    (bars,) = embedded_svgs(page)
    assert ">chance<" not in bars  # it is a tick, not a bar


def test_24_slices_are_drawn_and_the_others_are_counted():
    rows = [metric("m", 0.5), *(metric("m", 0.1, category=f"kind {n}") for n in range(30))]
    page = results_page(rows, "accuracy")
    (bars,) = embedded_svgs(page)
    assert bars.count(">kind ") == 24
    assert "The table has more slices: 6." in page
