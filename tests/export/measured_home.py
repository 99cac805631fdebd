"""A home in which a quiz was measured: one model, four questions, each with a fate of its own."""

from pathlib import Path
from typing import Any

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
    """Four choices between a text that is hard to write, and an easy one."""
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


RESPONDED = (  # text, points, error, no_answer
    ("A", 1.0, "", ""),
    (f"B {NASTY}", 0.0, "", ""),
    ("", None, "the server did not answer", ""),
    ("", 0.0, "", "no answer in 512 tokens"),
)


def measure(tables: TableFiles, rows: list[Question], model: str = MODEL) -> None:
    """Write what a model responded to the quiz, and what it came to."""
    named: list[dict[str, Any]] = [
        {"question_id": f"quiz/{n}", "model": model, "condition": "main"} for n in range(4)
    ]
    predictions = [
        Prediction(**name, text=text, raw_text=text, error=error, no_answer=cut, seconds=0.5)
        for name, (text, _, error, cut) in zip(named, RESPONDED, strict=True)
    ]
    scores = [
        Score(**name, points=points, answer=(text[:1],), error=error, no_answer=bool(cut))
        for name, (text, points, error, cut) in zip(named, RESPONDED, strict=True)
    ]
    judgements = [
        Judgement.of(one, judge="rules", criterion="right", verdict=None, response="why")
        for one in predictions
    ]
    data = short_digest(digest(rows))
    metrics = [
        metric(
            model,
            value,
            task="quiz",
            category=category,
            low=float("nan"),  # of too few
            n_scored=3,
            n_failed=n_failed,
            constant=constant,
            shuffled=0.25 if category == "all" else None,
            edition=rows[0].edition,
            data=data,
            signature=f"quiz|v3|main|data:{data}|model:{model}|n:4",
        )
        for category, value, n_failed, constant in (
            ("all", 1 / 3, 1, 1.0),
            ("kind", float("nan"), 0, None),
        )
    ]
    tables.write(["quiz", "questions"], rows, Question)
    tables.write(["quiz", "predictions"], predictions, Prediction, model)
    tables.write(["quiz", "judgements"], judgements, Judgement, model)
    tables.write(["quiz", "scores"], scores, Score, model)
    tables.write(["quiz", "metrics"], metrics, Metric, model)


def leaving(home: Path, out: Path, wanted: TableFilter | None = None, **more: Any) -> ExportJob:
    """What leaves a home."""
    tables = TableFiles(folder=str(home / "tables"))
    return ExportJob(
        collection=TableCollection(tables, wanted or TableFilter([TASK])),
        standings=list,
        out=out,
        **more,
    )


def write(form: str, job: ExportJob) -> list[Path]:
    """Files that a format writes."""
    return [Path(path) for path in FORMATS[form](job)]
