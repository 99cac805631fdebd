"""A number that was measured under another configuration is marked, wherever it is shown."""

import shutil
from dataclasses import replace

import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.defs.checks.staleness import CurrentConfiguration
from bench_assets.defs.checks.table_checks import task_checks
from bench_assets.defs.tables.leaderboard import as_markdown, leaderboard_frame, rank_task
from bench_assets.evaluation.task import ByModel
from bench_assets.workspace.console.output import print_leaderboard
from bench_resources.config.bench_toml import load_settings
from bench_resources.tables.parquet import TableFiles
from tests.defs.checks.test_regression import NEW, OLD, Lab
from tests.fakes.chat_server import ChatServer
from tests.fakes.quiz import TASK, judge_right, questions_asset, quiz, run_for

JUDGED = replace(TASK, judges={"right": ByModel(judge_right)})
MODEL = 'kind = "server"\nbase_url = "{url}"\nmax_tries = 1\nmodel = '
OTHER_MODEL = "measured under another configuration of the model"
OTHER_JUDGE = "measured under another configuration of the judge"


@pytest.fixture(scope="module")
def server():
    with ChatServer("x") as running:
        yield running


class Home:
    """A home with the quiz, whose model and judge are behind a server."""

    def __init__(self, folder, server, task=JUDGED):
        self.folder, self.server, self.task = folder, server, task
        self.configure()

    def configure(self, model='"m"', judge='"j"', more="", scorer="", named="m"):
        section = MODEL.format(url=self.server.base_url)
        (self.folder / "bench.toml").write_text(
            f'[suites.quiz]\njudge = "judge"\n{scorer}\n'
            f"[models.{named}]\n{section}{model}\n{more}\n[models.judge]\n{section}{judge}\n"
        )

    def evaluate(self):
        assets = [questions_asset(quiz(4)), *evaluation_assets(self.task), *answered(self.task)]
        run_for("m", assets, self.folder, raise_on_error=False)

    def standings(self, task=None):
        tables, task = TableFiles(folder=str(self.folder / "tables")), task or self.task
        return rank_task(task, tables, [], CurrentConfiguration(load_settings(self.folder)))

    def stale(self, task=None):
        (row,) = self.standings(task)
        return row.stale


def answered(task):
    """The check that keeps a table with failed requests from being scored."""
    checks = {key.name: check for check in task_checks(task) for key in check.check_keys}
    return [checks["every_question_answered"]]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory, server):
    home = Home(tmp_path_factory.mktemp("evaluated"), server)
    home.evaluate()
    return home.folder


@pytest.fixture
def home(evaluated, tmp_path, server):
    return Home(shutil.copytree(evaluated, tmp_path / "home"), server)


@pytest.mark.parametrize(
    ("changes", "stale"),
    [
        pytest.param({}, "", id="nothing"),
        pytest.param({"more": "concurrency = 3\ntimeout = 7"}, "", id="how fast it is asked"),
        pytest.param({"more": "price_in = 1.0"}, "", id="what it costs"),
        pytest.param({"model": '"m2"'}, OTHER_MODEL, id="the model behind the name"),
        pytest.param({"more": "temperature = 0.5"}, OTHER_MODEL, id="how it is asked"),
        pytest.param({"more": 'revision = "2"'}, OTHER_MODEL, id="its revision"),
        pytest.param({"judge": '"j2"'}, OTHER_JUDGE, id="the model behind the judge's name"),
        pytest.param({"named": "n"}, "m is no longer in bench.toml", id="the name"),
    ],
)
def test_what_was_changed_marks_the_number(home, changes, stale):
    home.configure(**changes)
    assert home.stale() == stale


@pytest.mark.parametrize("n_fail", [1, pytest.param(4, marks=pytest.mark.long)])
def test_an_evaluation_that_fails_in_part_or_wholly_leaves_the_mark(home, n_fail):
    home.configure(more="temperature = 0.5")
    home.server.fail_next(n_fail, 400)
    home.evaluate()
    assert home.stale() == OTHER_MODEL
    home.evaluate()
    assert home.stale() == ""


def test_another_version_or_reading_of_the_task_marks_the_number(home):
    assert home.stale(replace(JUDGED, version=2)) == "measured under another version of the task"
    lenient = replace(JUDGED, scorers={"lenient": TASK.scorers["exact"]})
    assert home.stale(lenient) == "measured with the scorer exact"


def test_what_is_stale_comes_last_and_is_marked_wherever_it_is_shown(home, capsys):
    home.configure(model='"m2"')
    rows = home.standings()
    mark = f"measured here (stale: {OTHER_MODEL})"
    assert mark in as_markdown(rows)
    assert list(leaderboard_frame(rows)["stale"]) == [OTHER_MODEL]
    print_leaderboard(rows, published=True, as_json=False)
    print_leaderboard(rows, published=True, as_json=True)
    table, _, json_lines = capsys.readouterr().out.partition("{")
    assert mark in table
    assert f'"stale": "{OTHER_MODEL}"' in json_lines


def test_a_checkpoint_is_not_compared_with_a_stale_one(tmp_path):
    lab = Lab(tmp_path, quiz(20))
    lab.record(OLD, 20)
    lab.record(NEW, 1)
    lab.evaluate(OLD)
    assert not lab.evaluate(NEW).passed
    lab.toml = ""
    lab.record(OLD, 19)
    lab.record(NEW, 1)
    result = lab.evaluate(NEW)
    assert (result.passed, result.description) == (
        (True, f"not comparable with {OLD}: {OTHER_MODEL}; evaluate it again")
    )
