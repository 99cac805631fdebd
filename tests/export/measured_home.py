"""A home in which one model answered a quiz: right, wrong, not at all, and without an answer."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Edition, Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.task import ByRules, Condition, Task
from bench_assets.export.formats import FORMATS, ExportJob
from bench_assets.workspace.inspect.table_collection import TableCollection, TableFilter
from bench_resources.tables.parquet import TableFiles
from tests.fakes.rows import metric

MODEL = "run/step-0150"
NASTY = '=1+1, "quoted"\r\n\ttab | 中文 \u202e<script>'

TASK = Task(
    name="quiz",
    title="A quiz",
    version=3,
    conditions={
        "main": Condition(
            prompt=lambda q: Prompt.of(*map(Image, q.images), q.text, system="Be brief."),
            about="As it is.",
        ),
        "blind": Condition(prompt=lambda q: Prompt.of(q.text), about="x", own_questions=True),
    },
    scorers={"exact": lambda answered, _: Score.of(answered.prediction, points=None)},
    measures={"accuracy": lambda scored: mean(ScoredPoint(score.points) for _, score in scored)},
    judges={"rules": ByRules(lambda answered: [])},
)


def questions(edition: Edition) -> list[Question]:
    """Four questions with two options, the first of which is hard to write into files."""
    return [
        Question(
            question_id=f"quiz/{number}",
            task="quiz",
            edition=edition,
            kind="choice",
            text=f"What is {number}? {NASTY}",
            answer=("A",),
            options=(NASTY, "- minus"),
            context="@context",
            category="kind",
            labels={"level": "hard"},
        )
        for number in range(4)
    ]


class Outcome(NamedTuple):
    """A response to a question and its points."""

    text: str
    points: float | None
    error: str = ""
    no_answer: str = ""


OUTCOMES = (
    Outcome("A", 1.0),
    Outcome(f"B {NASTY}", 0.0),
    Outcome("", None, error="the server did not answer"),
    Outcome("", 0.0, no_answer="no answer in 512 tokens"),
)


def measure(tables: TableFiles, rows: list[Question], model: str = MODEL) -> None:
    """Write the tables of a model that responded to the quiz."""
    predictions, scores = [], []
    for n, outcome in enumerate(OUTCOMES):
        response: dict[str, Any] = {
            "question_id": f"quiz/{n}", "model": model, "condition": "main", "error": outcome.error,
        }  # fmt: skip
        predictions.append(
            Prediction(**response, text=outcome.text, raw_text=outcome.text,
                       no_answer=outcome.no_answer, seconds=0.5)
        )  # fmt: skip
        scores.append(
            Score(**response, points=outcome.points, answer=(outcome.text[:1],),
                  no_answer=bool(outcome.no_answer))
        )  # fmt: skip
    judgements = [
        Judgement.of(row, judge="rules", criterion="right", verdict=None, response="why")
        for row in predictions
    ]
    data = short_digest(digest(rows))
    overall = metric(
        model,
        1 / 3,
        task="quiz",
        low=float("nan"),  # of too few
        n_scored=3,
        n_failed=1,
        constant=1.0,
        shuffled=0.25,
        edition=rows[0].edition,
        data=data,
        signature=f"quiz|v3|main|data:{data}|model:{model}|n:4",
    )
    of_category = replace(
        overall, category="kind", value=float("nan"), n_failed=0, constant=None, shuffled=None
    )
    tables.write(["quiz", "questions"], rows, Question)
    tables.write(["quiz", "predictions"], predictions, Prediction, model)
    tables.write(["quiz", "judgements"], judgements, Judgement, model)
    tables.write(["quiz", "scores"], scores, Score, model)
    tables.write(["quiz", "metrics"], [overall, of_category], Metric, model)


def export_job(home: Path, out: Path, table_filter: TableFilter | None = None) -> ExportJob:
    """An export of the tables of a home into the folder ``out``."""
    tables = TableFiles(folder=str(home / "tables"))
    return ExportJob(
        collection=TableCollection(tables, table_filter or TableFilter([TASK])),
        standings=list,
        out=out,
    )


def write_export(export_format: str, job: ExportJob) -> list[Path]:
    return [Path(path) for path in FORMATS[export_format](job)]
