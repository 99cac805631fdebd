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

JUDGED_TASK = replace(TASK, judges={"right": ByModel(judge_right)})
MODEL = 'kind = "server"\nbase_url = "{url}"\nmax_tries = 1\nmodel = '
OTHER_MODEL = "measured under another configuration of the model"
OTHER_JUDGE = "measured under another configuration of the judge"


@pytest.fixture(scope="module")
def server():
    with ChatServer("x") as chat_server:
        yield chat_server


class Home:
    """A home with the quiz, whose model and judge are on a server."""

    def __init__(self, folder, server):
        self.folder, self.server = folder, server
        self.configure()

    def configure(self, model='"m"', judge='"j"', more="", name="m"):
        """Write bench.toml with the model, more of its options, and the judge."""
        section = MODEL.format(url=self.server.base_url)
        (self.folder / "bench.toml").write_text(
            '[suites.quiz]\njudge = "judge"\n'
            f"[models.{name}]\n{section}{model}\n{more}\n[models.judge]\n{section}{judge}\n"
        )

    def evaluate(self):
        """Evaluate the model, but score no predictions with failed requests."""
        checks = {key.name: check for check in task_checks(JUDGED_TASK) for key in check.check_keys}
        assets = [questions_asset(quiz(4)), *evaluation_assets(JUDGED_TASK)]
        blocking_check = checks["every_question_answered"]
        run_for("m", [*assets, blocking_check], self.folder, raise_on_error=False)

    def leaderboard_rows(self, task=JUDGED_TASK):
        tables = TableFiles(folder=str(self.folder / "tables"))
        return rank_task(task, tables, [], CurrentConfiguration(load_settings(self.folder)))

    def stale_reason(self, task=JUDGED_TASK):
        """Why the only row of the leaderboard is stale; "" if it is not."""
        (row,) = self.leaderboard_rows(task)
        return row.stale


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory, server):
    home = Home(tmp_path_factory.mktemp("evaluated"), server)
    home.evaluate()
    return home.folder


@pytest.fixture
def home(evaluated, tmp_path, server):
    return Home(shutil.copytree(evaluated, tmp_path / "home"), server)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({}, "", id="nothing"),
        pytest.param({"more": "concurrency = 3\ntimeout = 7"}, "", id="concurrency and timeout"),
        pytest.param({"more": "price_in = 1.0"}, "", id="its price"),
        pytest.param({"model": '"m2"'}, OTHER_MODEL, id="the model behind the name"),
        pytest.param({"more": "temperature = 0.5"}, OTHER_MODEL, id="its temperature"),
        pytest.param({"more": 'revision = "2"'}, OTHER_MODEL, id="its revision"),
        pytest.param({"judge": '"j2"'}, OTHER_JUDGE, id="the model behind the judge's name"),
        pytest.param({"name": "n"}, "m is no longer in bench.toml", id="the name"),
    ],
)
def test_changes_that_affect_responses_make_metrics_stale(home, changes, reason):
    home.configure(**changes)
    assert home.stale_reason() == reason


@pytest.mark.parametrize("n_failed", [1, pytest.param(4, marks=pytest.mark.long)])
def test_metrics_stay_stale_until_an_evaluation_without_failed_requests(home, n_failed):
    home.configure(more="temperature = 0.5")
    home.server.fail_next(n_failed, 400)
    home.evaluate()
    assert home.stale_reason() == OTHER_MODEL
    home.evaluate()
    assert home.stale_reason() == ""


def test_another_version_of_the_task_makes_metrics_stale(home):
    reason = home.stale_reason(replace(JUDGED_TASK, version=2))
    assert reason == "measured under another version of the task"


def test_another_scorer_of_the_task_makes_metrics_stale(home):
    lenient = replace(JUDGED_TASK, scorers={"lenient": TASK.scorers["exact"]})
    assert home.stale_reason(lenient) == "measured with the scorer exact"


def test_stale_metrics_are_marked_in_every_form_of_the_leaderboard(home, capsys):
    home.configure(model='"m2"')
    rows = home.leaderboard_rows()
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
    lab.models_toml = ""
    lab.record(OLD, 19)
    lab.record(NEW, 1)
    result = lab.evaluate(NEW)
    assert result.passed
    assert result.description == f"not comparable with {OLD}: {OTHER_MODEL}; evaluate it again"
