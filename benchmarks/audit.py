"""(16) Whether benchmarks are sound: everything asked of five suites of published sizes.

Questions in the suites' forms, what twenty models of known skill say of them, and what a judge says
of that are drawn; of images only how they look is there.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from bench_assets.asset_factory.evaluation_tables import audit_key, evaluation_key, questions_key
from bench_assets.audit.evidence_inputs import HASHES_FILE
from bench_assets.audit.framework.evidence import Floats
from bench_assets.audit.framework.findings import AuditRow
from bench_assets.audit.registry import audit_task
from bench_assets.audit.task_evidence import TaskEvidence
from bench_assets.core.schema.rows import (
    Judgement,
    Metric,
    Prediction,
    Question,
    Score,
    StoredImage,
)
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import Task
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from benchmarks.drawn_questions import PUBLISHED, questions
from benchmarks.figures import Figure, expect, run_command

BLIND = {"multi": "no_image", "cogbench/vqa": "blind", "journeybench/mcot": "language_only"}
"""Task -> the condition without images that some models are asked under as well."""
MODELS = [f"model-{number:02d}" for number in range(20)]

_N_BLIND = 2  # models
_SAYING = ("{}", "({})", "**{}**", "The answer is {}.", "I see it in the image, so it is {}.")


def measure(folder: Path) -> list[Figure]:
    """Write the tables, and examine all tasks in a process of its own."""
    home = folder / "home"
    write(home)
    command = (sys.executable, "-m", "benchmarks.audit", str(home))
    ran = expect(run_command(home, *command))
    n = sum(PUBLISHED.values()) * len(MODELS)
    return [
        Figure(what="    responses of 20 models to five suites", value=n),
        Figure(what="(16) all examinations of them", value=ran.wall, most=180, unit="s"),
        Figure(what="    their CPU", value=ran.cpu, unit="s"),
        Figure(what="(16) their memory at most", value=ran.peak_mb, most=1024, unit="MiB"),
    ]


def write(home: Path) -> None:
    """Write a home with questions of published sizes, images' looks, and responses."""
    home.mkdir(parents=True, exist_ok=True)
    looks: dict[str, tuple[str, int]] = {}  # hash and range of the levels
    image_store = ImageStore(folder=str(home / "images"))
    with Workbench(load_settings(home)) as bench:
        for task in bench.catalog.tasks:
            if task.name in PUBLISHED:
                rng = np.random.default_rng(PUBLISHED[task.name])
                asked = questions(task, rng)
                shown = dict.fromkeys(image for one in asked for image in one.images)
                looks |= {image: (image[:16], 255) for image in shown}
                _write_images(image_store, bench.tables, task, list(shown))
                bench.tables.write(questions_key(task, "main"), asked, Question)
                _write_responses(bench.tables, task, asked, rng)
    (home / HASHES_FILE).write_text(json.dumps(looks), encoding="utf-8")


def _write_images(
    image_store: ImageStore, tables: TableFiles, task: Task, shown: Sequence[str]
) -> None:
    """Write empty files: that each was decoded once is remembered."""
    for image in shown:
        path = image_store.path(image)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    rows = [
        StoredImage(
            name=f"{number}.png",
            sha256=image,
            format="PNG",
            width=640,
            height=480,
            n_bytes=90_000 + number % 997,
        )
        for number, image in enumerate(sorted(shown))
    ]
    tables.write([*task.name.split("/"), "images"], rows, StoredImage)


@dataclass(frozen=True)
class _Exam:
    """What all models are asked."""

    task: Task
    questions: Sequence[Question]
    ease: Floats
    criteria: Sequence[str]  # that the judge is asked for
    data: str  # digest of the questions


def _write_responses(
    tables: TableFiles, task: Task, asked: Sequence[Question], rng: np.random.Generator
) -> None:
    ease, data = rng.normal(0, 1.2, len(asked)), short_digest(digest(asked))
    exam = _Exam(task, asked, ease, _criteria(task, asked[:5]), data)
    for number, name in enumerate(MODELS):
        _write_model(tables, exam, name, "main", number / 6 - 1.5, rng)
    if task.name in BLIND:
        for name in MODELS[:_N_BLIND]:
            _write_model(tables, exam, name, BLIND[task.name], -3.0, rng)


def _write_model(
    tables: TableFiles,
    exam: _Exam,
    model: str,
    condition: str,
    skill: float,
    rng: np.random.Generator,
) -> None:
    asked = exam.questions
    knows = (rng.random(len(asked)) < 1 / (1 + np.exp(-(skill + exam.ease)))).tolist()
    others = rng.integers(len(asked), size=len(asked)).tolist()
    ways = rng.integers(len(_SAYING), size=len(asked)).tolist()
    said, scores, verdicts = [], [], []
    for one, known, other, way in zip(asked, knows, others, ways, strict=True):
        answer = one.answer if known else asked[other].answer
        prediction = Prediction(
            question_id=one.question_id,
            model=model,
            condition=condition,
            text=_SAYING[way].format("; ".join(answer)),
            prompt_sha256="0" * 64,
            decoding="t=0",
        )
        said.append(prediction)
        right = answer == one.answer
        scores.append(Score.of(prediction, points=float(right), answer=answer))
        verdicts += [_verdict(prediction, criterion, right=right) for criterion in exam.criteria]
    write = partial(_write_rows, tables, exam.task, condition, model)
    write("predictions", said, Prediction)
    write("scores", scores, Score)
    write("judgements", verdicts, Judgement)
    write("metrics", [_metric(exam, model, condition, scores)], Metric)


def _write_rows(  # noqa: PLR0913, PLR0917
    tables: TableFiles,
    task: Task,
    condition: str,
    model: str,
    table: str,
    rows: Sequence[object],
    kind: type[object],
) -> None:
    if rows or task.is_judged:  # of a judge who has nothing to say there is a table without rows
        tables.write(evaluation_key(task, condition, table), rows, kind, model)


def _verdict(said: Prediction, criterion: str, *, right: bool) -> Judgement:
    return replace(
        Judgement.of(
            said,
            judge="judge",
            criterion=criterion,
            verdict=right,
            response="yes" if right else "no",
        ),
        prompt_sha256="1" * 64,
    )


def _metric(exam: _Exam, model: str, condition: str, scores: Sequence[Score]) -> Metric:
    return Metric(
        task=exam.task.name,
        model=model,
        condition=condition,
        metric="accuracy",
        category="all",
        value=float(np.mean([one.points or 0.0 for one in scores])),
        low=0.0,
        high=1.0,
        n_scored=len(scores),
        n_unscored=0,
        n_failed=0,
        edition="own",
        data=exam.data,
        signature=f"{exam.task.name}|{condition}",
    )


def _criteria(task: Task, some: Sequence[Question]) -> list[str]:
    if not task.is_judged:
        return []
    said = [
        Prediction(
            question_id=one.question_id, model="", condition="main", text=", ".join(one.answer)
        )
        for one in some
    ]
    return list(dict.fromkeys(row.criterion for row in pipeline.judge(task, some, said, None)))


def main(home: str) -> None:
    """Examine every task, as its asset does, and keep the rows."""
    with Workbench(load_settings(Path(home))) as bench:
        image_store = ImageStore(folder=str(Path(home) / "images"))
        for task in bench.catalog.tasks:
            if task.name in PUBLISHED:
                rows = audit_task(TaskEvidence(task, bench.tables, image_store))
                bench.tables.write(audit_key(task).path, rows, AuditRow)


if __name__ == "__main__":
    main(sys.argv[1])
