import csv
from pathlib import Path

import pytest

from bench_assets.core.schema.rows import Metric, Question
from bench_assets.core.schema.signature import Signature
from bench_assets.report.pages import numbers
from bench_assets.report.pages.numbers import NumberPages, explain_signature
from bench_assets.report.site.folder import Site, slug
from bench_resources.config.bench_toml import Settings
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.audit.test_report_page import data
from tests.comparison.sides import build_evaluation
from tests.fakes.quiz import TASK, quiz
from tests.report.quiz_report import catalog_of

NUMBER_DATA = f"number-{slug('quiz')}-{slug('m')}"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one model, and the report's pages of its numbers."""
    folder = tmp_path_factory.mktemp("home")
    tables = TableFiles(folder=str(folder / "tables"))
    questions = quiz(2)
    tables.write(["quiz", "questions"], questions, Question)
    evaluation = build_evaluation(questions, {"quiz/0": "x", "quiz/1": "y"})
    tables.write(["quiz", "metrics"], evaluation.metrics, Metric, "m")
    site = Site(folder / "report", ImageStore(folder=str(folder / "images")))
    NumberPages(settings=Settings(home=folder)).write(site, tables, catalog_of(TASK))
    site.finish()
    return folder


def test_a_number_has_its_signature_and_the_commands_of_its_tables(home):
    number = data(home, NUMBER_DATA)
    (main,) = number["conditions"]
    metric, *_ = TableFiles(folder=str(home / "tables")).read(["quiz", "metrics"], Metric, "m")
    assert (number["task"], number["title"]) == ("quiz", TASK.display_title)
    assert main["signature"] == metric.signature
    assert [part["name"] for part in main["parts"]] == [
        "task", "version", "condition", "data", "prompts",
        "model", "decoding", "judge", "scorer", "n",
    ]  # fmt: skip
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


def test_agreement_of_parsers_is_listed_by_source_of_responses(home):
    with Path(numbers.__file__).with_name("parsers.csv").open(encoding="utf-8") as table:
        assert data(home, "parser") == list(csv.DictReader(table))
