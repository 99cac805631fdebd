"""Forms about responses in the graph: asked where bench.toml names them, answered, summed up."""

import json

import dagster as dg
import pytest

from bench_assets.annotation.responses.error_analysis import CodeCount
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score
from bench_assets.defs.tables.annotation import annotation_assets, summary_asset
from bench_assets.suites.codis.suite import SUITE
from bench_assets.suites.codis.task import TASK
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, TableIOManager
from tests.audit.judged import queries
from tests.rows import prediction

MISTAKES = TASK.response_tasks[1]
CODE = TASK.code_book.codes[0].name
ASKED = queries(12)


def made(home, *assets):
    tables = TableFiles(folder=str(home / "tables"))
    settings = load_settings(home)
    images = ImageStore(folder=str(home / "images"))
    with dg.DagsterInstance.ephemeral() as instance:
        dg.materialize(
            list(assets),
            instance=instance,
            resources={
                "settings": settings,
                "models": Models(settings=settings, image_store=images),
                "tables": tables,
                "io_manager": TableIOManager(files=tables),
            },
        )
    return tables


@pytest.fixture
def home(tmp_path):
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["codis", "questions"], ASKED, Question)
    for model in ("a", "b"):
        rows = [
            prediction(question_id=q.question_id, model=model, text=f"{model} {n}")
            for n, q in enumerate(ASKED)
        ]
        judged = [
            Judgement.of(row, judge="gpt", criterion="correct", verdict=True, response="")
            for row in rows
        ]
        scores = [Score.of(row, points=0.0) for row in rows]
        tables.write(["codis", "predictions"], rows, Prediction, model)
        tables.write(["codis", "scores"], scores, Score, model)
        tables.write(["codis", "judgements"], judged, Judgement, model)
    (tmp_path / "bench.toml").write_text(
        '[annotation.tasks."codis/verdicts"]\n[annotation.tasks."codis/mistakes"]\n'
    )
    return tmp_path


def answer_all(home, task, field, says):
    folder = home / "annotation" / task.task.name
    units = [json.loads(line) for line in (folder / "units.jsonl").read_text().splitlines()]
    lines = [
        json.dumps({"unit": one["unit"], "person": "ana", "values": {field: says(one)}})
        for one in units
    ]
    (folder / "answers.jsonl").write_text("\n".join(lines))
    return units


def test_codes_become_counts(home):
    made(home, annotation_assets(MISTAKES))
    units = answer_all(home, MISTAKES, "codes", lambda _: [CODE])
    tables = made(home, annotation_assets(MISTAKES), summary_asset(MISTAKES))
    rows = tables.read(["codis", "annotation", "mistakes_counts"], CodeCount)
    (count,) = [row for row in rows if (row.model, row.code) == ("all", CODE)]
    assert (count.n, count.n_read, count.share) == (len(units), len(units), 1.0)
    assert count.n > 0


def test_without_answers_the_summary_is_empty(home):
    tables = made(home, summary_asset(MISTAKES))
    assert tables.read(["codis", "annotation", "mistakes_counts"], CodeCount) == []


def test_only_tasks_that_are_configured_are_asked():
    assert SUITE.annotation_tasks_asked([]) == ()
    named = SUITE.annotation_tasks_asked(["codis/verdicts", "cogbench/annotation", "codis/votes"])
    assert [task.task.name for task in named] == ["codis/votes", "codis/verdicts"]


def test_a_form_that_is_not_about_responses_has_no_summary():
    with pytest.raises(ValueError, match="not about responses"):
        summary_asset(SUITE.annotation_tasks[0])
