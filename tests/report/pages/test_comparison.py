"""What the page of comparisons pairs: every model's units of the metric."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from bench_assets.catalog import Catalog
from bench_assets.core.schema.rows import Metric, Question, Score
from bench_assets.evaluation.suite import Suite
from bench_assets.report.pages.comparison import ComparisonPage
from bench_assets.report.site.folder import Site, slug
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.comparison.sides import side
from tests.fakes.measures import both_halves
from tests.fakes.quiz import TASK, quiz

PAIRS = replace(TASK, measures={"acc_p": both_halves})


@pytest.fixture
def written(tmp_path: Path):
    """The data of a model that is right on these questions, of four in two pairs."""
    tables = TableFiles(folder=str(tmp_path / "tables"))
    catalog = Catalog(suites=(Suite(name="quiz", tasks=(PAIRS,), assets=list),))
    questions = quiz(4, group=2)

    def write(right: str, exam: list[Question] = questions) -> dict[str, object]:
        texts = {f"quiz/{n}": "x" if one == "1" else "y" for n, one in enumerate(right)}
        one = side(questions, texts, task=PAIRS)
        tables.write(["quiz", "questions"], exam, Question)
        tables.write(["quiz", "scores"], one.scores, Score, "m")
        tables.write(["quiz", "metrics"], one.metrics, Metric, "m")
        site = Site(tmp_path / "report", ImageStore(folder=str(tmp_path / "images")))
        ComparisonPage().write(site, tables, catalog)
        site.finish()
        (file,) = (tmp_path / "report" / "data").glob(f"compare-{slug('quiz')}-{slug('m')}.*.js")
        _, _, value = file.read_bytes().partition(b",")
        return orjson.loads(value.removesuffix(b");\n"))

    return write


def test_pairs_are_units_of_their_own(written):
    main = written("1101")["main"]
    assert main["value"] == 0.5
    assert main["ways"] == {
        "pairs": {"units": [0, 2], "clusters": [0, 2], "values": [1, 0], "weights": [1, 1]}
    }


@pytest.mark.parametrize("right", ["0000", "1111", "1100", "0011"])
def test_points_that_add_up_to_the_metric_by_chance_are_not_its_units(written, right):
    main = written(right)["main"]
    assert list(main["ways"]) == ["pairs"]
    assert main["ways"]["pairs"]["units"] == [0, 2]


def test_a_model_with_other_questions_is_not_paired(written):
    assert written("1101", quiz(5, group=2)) == {}
