"""What a home keeps about people and judges reaches the examiners."""

from bench_assets.graph.gathered import Gathered
from bench_assets.suites.codis.source import Vote
from bench_assets.suites.codis.task import TASK
from resources.home.judge_figures import add_figures
from resources.home.tables import TableFiles
from resources.pictures.images import ImageStore
from tests.report.test_judges import figure


def gathered(folder):
    tables = TableFiles(folder=str(folder / "tables"))
    return Gathered(TASK, tables, ImageStore(folder=str(folder / "images")))


def test_a_home_without_votes_and_figures_has_none(tmp_path):
    assert (gathered(tmp_path).votes, list(gathered(tmp_path).judge_figures)) == ([], [])


def test_votes_and_figures_of_the_task_are_there(tmp_path):
    vote = Vote(submission="1", annotator="p", correct=True, different=True, within_rules=True)
    gathered(tmp_path).tables.write(["codis", "votes"], [vote], Vote)
    add_figures(tmp_path, [figure("kappa_people"), figure("kappa_people", task="blink")])
    found = gathered(tmp_path)
    assert [one.criterion for one in found.votes] == ["correct", "different", "within_rules"]
    assert list(found.judge_figures) == [figure("kappa_people")]
