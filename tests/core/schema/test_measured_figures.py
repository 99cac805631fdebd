"""What a home keeps about people and judges reaches the examiners."""

from bench_assets.audit.registry import audit_task
from bench_assets.audit.task_evidence import TaskEvidence
from bench_assets.core.schema.measured_figures import OrderFigure
from bench_assets.suites.codis.dataset import SubmissionVote
from bench_assets.suites.codis.task import TASK
from bench_resources.images.store import ImageStore
from bench_resources.tables.measured_figures import add_figures
from bench_resources.tables.parquet import TableFiles


def figure(task):
    return OrderFigure(
        task=task,
        model="m",
        setup="",
        data="0c",
        orders=0,
        at="2026-01-01",
        figure="circular",
        value=0.8,
        low=0.7,
        high=0.9,
        n=100,
    )


def gathered(folder):
    tables = TableFiles(folder=str(folder / "tables"))
    return TaskEvidence(TASK, tables, ImageStore(folder=str(folder / "images")))


def test_a_home_without_votes_and_figures_has_none(tmp_path):
    figures = gathered(tmp_path)
    assert (figures.votes, list(figures.order_figures), figures.people_checks) == ([], [], {})


def test_votes_and_figures_of_the_task_are_there(tmp_path):
    vote = SubmissionVote(
        submission="1", annotator="p", correct=True, different=True, within_rules=True
    )
    gathered(tmp_path).tables.write(["codis", "votes"], [vote], SubmissionVote)
    add_figures(tmp_path, OrderFigure, [figure("codis"), figure("blink")])
    figures = gathered(tmp_path)
    assert [vote.criterion for vote in figures.votes] == ["correct", "different", "within_rules"]
    assert list(figures.order_figures) == [figure("codis")]


def test_what_could_not_be_looked_at_for_damage_does_not_pass(tmp_path):
    figures = gathered(tmp_path)
    figures.tables.path(["codis", "questions"]).parent.mkdir(parents=True)
    figures.tables.path(["codis", "questions"]).write_bytes(b"PAR1")
    rows = {row.check: row for row in audit_task(figures)}
    assert not rows["one_answer"].passed
    assert rows["one_answer"].sentence.startswith("Cannot be examined: ")
