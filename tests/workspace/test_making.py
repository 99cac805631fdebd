"""What counts as a change of what an evaluation makes, and what is done when nothing changed."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.rows import Judgement, Metric, Question, Score
from bench_assets.suites.codis.task import TASK
from bench_assets.workspace.materialization.table_groups import (
    HomeContext,
    evaluation_groups,
)
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.baselines import ScriptedModel
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles
from tests.rows import question
from tests.sensors.watched import write_checkpoint
from tests.suites.codis.raw import entry, write_release

TOML = """
[sources]
codis = "../codis"
[suites.codis]
judge = "{judge}"
[checkpoints]
smallest_change = {smallest_change}
[models."run/step-2"]
kind = "transformers"
path = "weights"
dtype = "float32"
max_tokens = {max_tokens}
[models.written]
kind = "python"
factory = "tests.quiz:make"
options = {{ weights = "weights" }}
[models.told]
kind = "recorded"
file = "told.jsonl"
[models.yes]
kind = "scripted"
says = "{says}"
"""
ASKED = "run/step-2"
QUESTIONS = [question(question_id="codis/1")]


def configure(home, **changed):
    usual = {"judge": "yes", "smallest_change": 0.02, "max_tokens": 40, "says": "right"}
    (home / "bench.toml").write_text(TOML.format_map(usual | changed))


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    with Workbench(load_settings(tmp_path_factory.mktemp("graph")), ["codis"]) as bench:
        definitions = bench.definitions
        return lambda: definitions, bench.catalog


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    write_checkpoint(folder / "weights")
    (folder / "told.jsonl").write_text('{"question_id": "codis/000/1", "text": "Opening."}\n')
    write_release(tmp_path / "codis", [entry()])
    configure(folder)
    TableFiles(folder=str(folder / "tables")).write(["codis", "questions"], QUESTIONS, Question)
    return folder


def making(graph, home, model):
    tables, settings = TableFiles(folder=str(home / "tables")), load_settings(home)
    models = Models(settings=settings, image_store=ImageStore(folder=str(home / "images")))
    sources = SourceFiles(settings=settings)
    (one,) = evaluation_groups(HomeContext(*graph, tables, models, sources), [TASK], model, "main")
    return one


def toml(**changed):
    return lambda home: configure(home, **changed)


def questions(*rows):
    return lambda home: TableFiles(folder=str(home / "tables")).write(
        ["codis", "questions"], rows, Question
    )


def metrics_of(model):
    return lambda home: TableFiles(folder=str(home / "tables")).write(
        ["codis", "metrics"], [], Metric, model
    )


def another_weight(home):
    """The file stays as long as it was."""
    file = home / "weights" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"\x7f")


def another_response(home):
    (home / "told.jsonl").write_text('{"question_id": "codis/000/1", "text": "?"}')


@pytest.mark.parametrize(
    ("model", "change", "counts"),
    [
        pytest.param(ASKED, lambda _: None, False, id="nothing at all"),
        pytest.param(ASKED, questions(*QUESTIONS), False, id="the same questions made again"),
        pytest.param(
            ASKED, questions(replace(QUESTIONS[0], answer=("y",))), True, id="another answer"
        ),
        pytest.param(ASKED, another_weight, True, id="a weight of the model"),
        pytest.param("told", another_weight, False, id="a weight of another model"),
        pytest.param("told", another_response, True, id="a response in the file of the model"),
        pytest.param("written", another_weight, True, id="a file in the options of a factory"),
        pytest.param(ASKED, toml(max_tokens=41), True, id="how the model is asked"),
        pytest.param("told", toml(max_tokens=41), False, id="how another model is asked"),
        pytest.param(ASKED, toml(says="wrong"), True, id="what the judge says"),
        pytest.param(ASKED, toml(judge="rules"), True, id="who judges"),
        pytest.param(ASKED, toml(smallest_change=0.1), True, id="how checkpoints are compared"),
        pytest.param(ASKED, metrics_of("run/step-1"), True, id="metrics of the step before"),
        pytest.param(ASKED, metrics_of("run/step-3"), False, id="metrics of the step behind"),
    ],
)
def test_change(graph, home, model, change, counts):
    before = making(graph, home, model).made_of
    change(home)
    assert (making(graph, home, model).made_of != before) == counts


def test_a_model_that_cannot_be_opened_is_told_by_the_reason(graph, home):
    whole = making(graph, home, ASKED).made_of
    (home / "weights" / "model.safetensors").unlink()
    assert making(graph, home, ASKED).made_of != whole


def test_tables_with_a_judgement_that_failed_are_made_again(graph, home):
    judgement = Judgement(
        question_id="codis/1", model="m", condition="main", judge="j", criterion="c", verdict=None
    )
    one = making(graph, home, "yes")
    for error, fresh in (("no connection", False), ("", True)):
        rows = [replace(judgement, error=error)]
        one.tables.write(["codis", "judgements"], rows, Judgement, "yes")
        one.note()
        assert one.is_fresh() == fresh


def test_a_table_that_is_gone_or_new_counts_and_so_do_images_that_are_gone(graph, home):
    one = making(graph, home, "yes")
    one.images.mkdir()
    one.note()
    table = Path(one.tables.write(["codis", "scores"], [], Score, "yes"))
    assert not one.is_fresh()
    table.unlink()
    assert one.is_fresh()
    one.images.rmdir()
    assert not one.is_fresh()


@pytest.fixture
def bench(home):
    with Workbench(load_settings(home), ["codis"], scratch=home / "tables") as opened:
        opened.build_questions("codis")
        yield opened


def runs_of(bench, act):
    before = bench.instance.get_runs_count()
    act()
    return bench.instance.get_runs_count() - before


def test_what_nothing_changed_for_is_made_once(home, bench):
    def evaluate():
        bench.evaluate(["codis"], "yes")

    assert [runs_of(bench, evaluate) for _ in range(2)] == [1, 0]
    assert [runs_of(bench, bench.refresh_leaderboard) for _ in range(2)] == [1, 0]
    bench.tables.write(["codis", "metrics"], [], Metric, "yes")
    assert [runs_of(bench, bench.refresh_leaderboard) for _ in range(2)] == [1, 0]
    assert [runs_of(bench, evaluate) for _ in range(2)] == [1, 0]
    assert bench.metrics("codis", "yes")


EDITED = """
[models.edited]
kind = "python"
factory = "tests.workspace.test_making:edited"
options = {{ file = "{file}" }}
"""


def edited(name, _, file):
    """A model: while it is asked, somebody has its responses judged by another."""

    def response(_):
        written = Path(file).read_text().replace('judge = "rules"', 'judge = "yes"')
        Path(file).write_text(written)
        return "Opening."

    return ScriptedModel(name, response)


@pytest.mark.long
def test_what_is_made_while_the_judge_is_changed_has_the_judge_of_the_start(home):
    configure(home, judge="rules")
    file = home / "bench.toml"
    file.write_text(file.read_text() + EDITED.format(file=file))
    runs, judges = [], []
    for _ in range(3):
        with Workbench(load_settings(home), ["codis"], scratch=home / "tables") as bench:
            bench.refresh_questions("codis")
            runs.append(runs_of(bench, lambda bench=bench: bench.evaluate(["codis"], "edited")))
            judges.append({row.judge for row in bench.rows("codis/judgements", "edited")})
    assert judges == [{"rules"}, {"yes"}, {"yes"}]
    assert runs[1:] == [1, 0]


@pytest.mark.long
def test_responses_that_failed_are_asked_again(bench):
    for _ in range(2):  # two questions, and one recorded response
        with pytest.raises(BenchError, match="every_question_answered"):
            bench.evaluate(["codis"], "told")
