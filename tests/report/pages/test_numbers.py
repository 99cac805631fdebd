import csv
from pathlib import Path

import orjson
import pytest

from bench_assets.catalog import Catalog
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.core.schema.signature import Signature
from bench_assets.evaluation.suite import Suite
from bench_assets.report.pages import numbers
from bench_assets.report.pages.numbers import NumberPages, explain_signature
from bench_assets.report.site.folder import Site, slug
from bench_resources.config.bench_toml import Settings
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.comparison.sides import build_evaluation
from tests.fakes.quiz import TASK, quiz

NUMBER_DATA = f"number-{slug('quiz')}-{slug('m')}"


class Lab:
    """A home with one model, and its report."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables = TableFiles(folder=str(folder / "tables"))
        questions = quiz(2)
        self.tables.write(["quiz", "questions"], questions, Question)
        self.evaluation = build_evaluation(questions, {"quiz/0": "x", "quiz/1": "y"})
        self.tables.write(["quiz", "metrics"], self.evaluation.metrics, Metric, "m")

    def write_pages(self) -> dict[str, Path]:
        """Write the pages of numbers; return their data files by name."""
        site = Site(self.folder / "report", ImageStore(folder=str(self.folder / "images")))
        catalog = Catalog(suites=(Suite(name="quiz", tasks=(TASK,), assets=list),))
        NumberPages(settings=Settings(home=self.folder)).write(site, self.tables, catalog)
        site.finish()
        files = (self.folder / "report" / "data").glob("number-*.js")
        return {file.name.split(".")[0]: file for file in files}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def read_data(file: Path) -> dict:
    _, _, value = file.read_bytes().partition(b",")
    return orjson.loads(value.removesuffix(b");\n"))


def test_a_number_has_its_signature_and_the_commands_of_its_tables(lab):
    number = read_data(lab.write_pages()[NUMBER_DATA])
    (main,) = number["conditions"]
    assert (number["task"], number["title"]) == ("quiz", TASK.display_title)
    assert main["signature"] == lab.evaluation.metrics[0].signature
    assert {part["name"] for part in main["parts"]} >= {"data", "model", "decoding", "scorer"}
    assert number["commands"] == ["bench tables show quiz/questions"]


def test_the_parts_of_a_signature_are_explained_in_order():
    parts = {"data": "0c", "model": "sha256:1f,float32|t=0.7,max=40,seed=3", "scorer": "exact"}
    explained = explain_signature(
        Signature(task="quiz", version=2, condition="main", parts=parts, extensions=("acme",)), TASK
    )
    assert [part.name for part in explained] == [
        "task", "version", "condition", "data", "model", "decoding", "scorer",
    ]  # fmt: skip
    by_name = {part.name: part for part in explained}
    assert by_name["task"].value == "a quiz+acme"
    assert by_name["condition"].meaning == "Asked as it is."
    assert by_name["decoding"].meaning == "Temperature 0.7, at most 40 tokens, seed 3."


def test_agreement_of_parsers_is_listed_by_source_of_responses(lab):
    lab.write_pages()
    (file,) = (lab.folder / "report" / "data").glob("parser.*js")
    with Path(numbers.__file__).with_name("parsers.csv").open(encoding="utf-8") as table:
        assert read_data(file) == list(csv.DictReader(table))
