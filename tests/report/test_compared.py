"""What the page of comparisons pairs: every model's units, in the ways that fit."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from bench_assets.catalog import Catalog
from bench_assets.core.schema.rows import Metric, Question, Score
from bench_assets.evaluation.suite import Suite
from bench_assets.report.pages.comparison import ComparisonPage
from bench_assets.report.site.folder import Site
from bench_assets.report.site.scripts import slug
from resources.images.store import ImageStore
from resources.tables.parquet import TableFiles
from tests.quiz import TASK, quiz
from tests.report.sides import side
from tests.report.test_units import both_halves

PAIRS = replace(TASK, measures={"acc_p": both_halves})


@pytest.fixture
def written(tmp_path: Path):
    """The data of a model that is right on these questions, of four in two pairs."""
    tables = TableFiles(folder=str(tmp_path / "tables"))
    catalog = Catalog(suites=(Suite(name="quiz", tasks=(PAIRS,), assets=list),))
    questions = quiz(4, group=2)

    def write(right: str, asked: list[Question] = questions) -> dict[str, object]:
        said = {f"quiz/{n}": "x" if one == "1" else "y" for n, one in enumerate(right)}
        one = side(questions, said, task=PAIRS)
        tables.write(["quiz", "questions"], asked, Question)
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
        "clusters": {"units": [0, 2], "clusters": [0, 2], "values": [1, 0], "weights": [1, 1]}
    }


def test_a_model_that_is_always_wrong_fits_in_every_way(written):
    # Points fit there too, by chance; the other model may fit in another way.
    main = written("0000")["main"]
    assert list(main["ways"]) == ["points", "clusters", "categories", "groups"]
    assert main["ways"]["points"]["units"] == [0, 1, 2, 3]
    assert main["ways"]["points"]["clusters"] == [0, 0, 2, 2]


def test_a_model_that_was_asked_other_questions_is_not_paired(written):
    assert written("1101", quiz(5, group=2)) == {}
