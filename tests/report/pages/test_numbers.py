"""Where a number comes from, as data: what cannot be read is said, and ends nothing."""

from pathlib import Path

import orjson
import pytest

from bench_assets.catalog import Catalog
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.core.schema.signature import Signature
from bench_assets.evaluation.suite import Suite
from bench_assets.report.pages.numbers import NumberPages, explain_signature
from bench_assets.report.site.folder import Site, slug
from bench_resources.config.bench_toml import Settings
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.comparison.sides import build_evaluation
from tests.fakes.quiz import TASK, quiz

MODELS = f"number-{slug('quiz')}-{slug('m')}"


class Lab:
    """A home with one model, and its report."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables = TableFiles(folder=str(folder / "tables"))
        questions = quiz(2)
        self.tables.write(["quiz", "questions"], questions, Question)
        self.one = build_evaluation(questions, {"quiz/0": "x", "quiz/1": "y"})
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


def value(file: Path) -> dict:
    return orjson.loads(file.read_bytes().partition(b",")[2].removesuffix(b");\n"))


def test_a_number_has_its_signature_and_the_commands_of_its_tables(lab):
    number = value(lab.report()[MODELS])
    (main,) = number["conditions"]
    assert (number["task"], number["title"]) == ("quiz", TASK.display_title)
    assert main["signature"] == lab.one.metrics[0].signature
    assert {part["name"] for part in main["parts"]} >= {"data", "model", "decoding", "scorer"}
    assert number["commands"] == ["bench tables show quiz/questions"]


def test_a_signature_is_spelled_out_in_its_own_order():
    parts = {"data": "0c", "model": "sha256:1f,float32|t=0.7,max=40,seed=3", "scorer": "exact"}
    found = explain_signature(Signature("quiz", 2, "main", parts, ("acme",)), TASK)
    assert [part.name for part in found] == [
        "task", "version", "condition", "data", "model", "decoding", "scorer",
    ]  # fmt: skip
    named = {part.name: part for part in found}
    assert named["task"].value == "a quiz+acme"
    assert named["condition"].meaning == "Asked as it is."
    assert named["decoding"].meaning == "Temperature 0.7, at most 40 tokens, seed 3."


def test_parsers_stand_by_source_of_responses(lab):
    lab.report()
    (file,) = (lab.folder / "report" / "data").glob("parser.*js")
    sources = {row["source"]: row for row in value(file)}
    assert list(sources["mmlu-pro"])[:4] == ["source", "n", "bench", "VLMEvalKit"]
    assert {len(row["bench"].split("/")) for row in sources.values()} == {2}
