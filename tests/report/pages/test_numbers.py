"""Where a number comes from, as data: what cannot be read is said, and ends nothing."""

from pathlib import Path

import orjson
import pytest

from bench_assets.catalog import Catalog
from bench_assets.core.schema.rows import Metric, Question, Rejection, SourceFile
from bench_assets.evaluation.suite import Suite
from bench_assets.report.pages.numbers import NumberPages
from bench_assets.report.site.folder import Site, slug
from bench_resources.config.bench_toml import Settings
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.comparison.sides import side
from tests.fakes.quiz import TASK, quiz

TASKS = f"number-{slug('quiz')}"
MODELS = f"number-{slug('quiz')}-{slug('m')}"


class Lab:
    """A home with one model, and its report."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables = TableFiles(folder=str(folder / "tables"))
        questions = quiz(2)
        self.tables.write(["quiz", "questions"], questions, Question)
        self.tables.write(["quiz", "source"], [source("a", 3)], SourceFile)
        self.tables.write(["quiz", "rejections"], [Rejection(entry="e", reason="r")], Rejection)
        self.one = side(questions, {"quiz/0": "x", "quiz/1": "y"})
        self.tables.write(["quiz", "metrics"], self.one.metrics, Metric, "m")

    def report(self) -> dict[str, Path]:
        """Make it; its data files by name."""
        site = Site(self.folder / "report", ImageStore(folder=str(self.folder / "images")))
        catalog = Catalog(suites=(Suite(name="quiz", tasks=(TASK,), assets=list),))
        NumberPages(settings=Settings(home=self.folder)).write(site, self.tables, catalog)
        site.finish()
        files = (self.folder / "report" / "data").glob("number-*.js")
        return {file.name.split(".")[0]: file for file in files}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def source(path: str, n_bytes: int) -> SourceFile:
    return SourceFile(path=path, sha256="0" * 64, n_bytes=n_bytes)


def value(file: Path) -> dict:
    return orjson.loads(file.read_bytes().partition(b",")[2].removesuffix(b");\n"))


def test_a_number_has_its_signature_and_the_lineage_of_its_task(lab):
    files = lab.report()
    number, lineage = value(files[MODELS]), value(files[TASKS])
    (main,) = number["conditions"]
    assert (number["task"], number["lineage"]) == ("quiz", TASKS)
    assert main["signature"] == lab.one.metrics[0].signature
    assert {part["name"] for part in main["parts"]} >= {"data", "model", "decoding", "scorer"}
    assert (lineage["source"]["n_bytes"], lineage["questions"]["n"]) == (3, 2)
    assert lineage["rejections"][0]["groups"][0]["reason"] == "r"


def test_a_damaged_table_is_reported_and_the_others_stay(lab):
    lab.tables.path(["quiz", "rejections"]).write_bytes(b"damaged")
    lineage = value(lab.report()[TASKS])
    assert "rejections" in lineage["problems"][0]
    assert (lineage["rejections"], lineage["source"]["n"]) == ([], 1)


def test_only_what_changed_is_written_anew(lab):
    before = lab.report()
    lab.tables.write(["quiz", "source"], [source("a", 3), source("b", 4)], SourceFile)
    after = lab.report()
    assert before[MODELS] == after[MODELS]
    assert before[TASKS] != after[TASKS]
    assert value(after[TASKS])["source"]["n"] == 2


def test_parsers_stand_by_source_of_responses(lab):
    lab.report()
    (file,) = (lab.folder / "report" / "data").glob("parser.*js")
    sources = {row["source"]: row for row in value(file)}
    assert list(sources["mmlu-pro"])[:4] == ["source", "n", "bench", "VLMEvalKit"]
    assert {len(row["bench"].split("/")) for row in sources.values()} == {2}
