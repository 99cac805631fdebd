"""One verdict: the demo, the leaderboard and the comparison page say the same sentence."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bench_assets.catalog import Catalog
from bench_assets.comparison.runs import run_verdicts
from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.core.stats.means import ScoredPoint, mean, product
from bench_assets.defs.tables.leaderboard import rank_tasks
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.suite import Suite
from bench_resources.tables.parquet import TableFiles
from tests.fakes.measures import macro, squared
from tests.fakes.quiz import TASK, quiz
from tests.report.fair import report

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def whole_pairs(scored):
    """Pairs of which both halves are right; without points where one half has none."""
    groups: dict[str, list[float | None]] = {}
    for one in scored:
        groups.setdefault(one.question.group_id, []).append(one.score.points)
    halves = (points if len(points) == 2 else [None] for points in groups.values())
    return mean(ScoredPoint(product(points)) for points in halves)


FIRST, BETWEEN, LAST = "run/step-1@aaaaaaaa", "run/step-3@cccccccc", "run/step-20@bbbbbbbb"
MEASURES: dict[str, tuple[Any, float, float]] = {
    "points": (TASK.measures["accuracy"], 0.4, 0.8),
    "pairs": (whole_pairs, 0.8, 0.3),
    "macro": (macro, 0.5, 0.55),
    "squared": (squared, 0.5, 0.7),
}


def tasks():
    return [
        replace(
            TASK,
            name=name,
            title=name,
            measures={"metric": measure},
            extensions=("acme",) if name == "points" else (),
        )
        for name, (measure, *_) in MEASURES.items()
    ]


def evaluate(tables, task, model, chance, rng, lost=()):
    """Right by chance; without points for the questions ``lost``, as where a judge failed."""
    exam = [replace(one, task=task.name) for one in quiz(60, categories=3, group=2)]
    right = rng.random(len(exam)) < chance
    predictions = [
        Prediction(question_id=one.question_id, model=model, condition="main", decoding="m|t=0",
                   text="x" if is_right else "y")
        for one, is_right in zip(exam, right, strict=True)
    ]  # fmt: skip
    scores = [
        replace(row, unread=False, points=None if n in lost else row.points)
        for n, row in enumerate(pipeline.score(task, exam, predictions, []))
    ]
    tables.write([task.name, "questions"], exam, Question)
    tables.write([task.name, "predictions"], predictions, Prediction, model)
    tables.write([task.name, "scores"], scores, Score, model)
    metrics = pipeline.summarise(task, exam, predictions, scores)
    tables.write([task.name, "metrics"], metrics, Metric, model)


@pytest.mark.parametrize("lost", [(), (3, 8, 41)], ids=["all judged", "three not judged"])
def test_all_places_say_the_same_sentence(page: "Page", tmp_path: "Path", lost) -> None:
    """The end of the demo, the leaderboard, and the comparison page that opens without a choice."""
    tables, rng = TableFiles(folder=str(tmp_path / "tables")), np.random.default_rng(4)
    for task in tasks():
        _, first, last = MEASURES[task.name]
        evaluate(tables, task, FIRST, first, rng)
        evaluate(tables, task, BETWEEN, first, rng)
        whole = task.name in ("macro", "squared")
        evaluate(tables, task, LAST, last, rng, () if whole else lost)
    catalog = Catalog(
        suites=tuple(Suite(name=one.name, tasks=(one,), assets=list) for one in tasks())
    )
    (wanted,) = run_verdicts(tables, catalog.tasks, rank_tasks(catalog.tasks, tables, []))
    assert wanted.startswith(f"{LAST} against {FIRST}: better at points+acme (")
    assert "; worse at pairs (" in wanted

    wanted = wanted.replace("-", "\N{MINUS SIGN}")  # as pages write numbers
    address = report(tmp_path, tables, catalog).as_uri()
    for place in ("#/", "#/compare", f"#/compare?a={FIRST}&b={LAST}"):
        page.goto("about:blank")
        page.goto(f"{address}{place}")
        summary = page.locator("p.summary")
        summary.wait_for()
        assert summary.inner_text().replace("-", "\N{MINUS SIGN}") == wanted
