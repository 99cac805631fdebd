"""The audit of five suites of published sizes, with the responses of twenty models.

Questions, responses and judgements are drawn at random. Image files are empty, and their perceptual
hashes are written instead.
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
from benchmarks.drawn_questions import N_PUBLISHED, draw_questions
from benchmarks.figures import Figure, run_command
from tests.fakes.rows import metric

CONDITIONS_WITHOUT_IMAGES = {
    "multi": "no_image",
    "cogbench/vqa": "blind",
    "journeybench/mcot": "language_only",
}
"""Task -> a condition under which some models are evaluated as well."""
MODELS = [f"model-{number:02d}" for number in range(20)]

_N_MODELS_WITHOUT_IMAGES = 2
_RESPONSE_FORMS = (
    *("{}", "({})", "**{}**", "The answer is {}.", "I see it in the image, so it is {}."),
)


def measure(folder: Path) -> list[Figure]:
    """Write the tables, and audit all tasks in a new process."""
    home = folder / "home"
    write_home(home)
    run = run_command(home, sys.executable, "-m", "benchmarks.audit", str(home))
    n_responses = sum(N_PUBLISHED.values()) * len(MODELS)
    return [
        Figure("responses of 20 models to five suites", n_responses),
        Figure("    their audit", run.wall_seconds, at_most=180, unit="s"),
        Figure("    its CPU", run.cpu_seconds, unit="s"),
        Figure("    its peak memory", run.peak_mib, at_most=1024, unit="MiB"),
    ]


def write_home(home: Path) -> None:
    """Write a home with questions, images, their hashes and responses."""
    home.mkdir(parents=True, exist_ok=True)
    hashes: dict[str, tuple[str, int]] = {}  # digest -> perceptual hash, range of levels
    image_store = ImageStore(folder=str(home / "images"))
    with Workbench(load_settings(home)) as bench:
        for task in bench.catalog.tasks:
            if task.name in N_PUBLISHED:
                rng = np.random.default_rng(N_PUBLISHED[task.name])
                questions = draw_questions(task, rng)
                images = dict.fromkeys(image for query in questions for image in query.images)
                hashes |= {image: (image[:16], 255) for image in images}
                _write_images(image_store, bench.tables, task, list(images))
                bench.tables.write(questions_key(task, "main"), questions, Question)
                _write_responses(bench.tables, task, questions, rng)
    (home / HASHES_FILE).write_text(json.dumps(hashes), encoding="utf-8")


def _write_images(
    image_store: ImageStore, tables: TableFiles, task: Task, digests: Sequence[str]
) -> None:
    """Write empty files and the task's table of images."""
    for image in digests:
        path = Path(image_store.place.address(image))
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
        for number, image in enumerate(sorted(digests))
    ]
    tables.write([*task.name.split("/"), "images"], rows, StoredImage)


@dataclass(frozen=True, kw_only=True)
class _Exam:
    """The questions of a task, with the same difficulty for each model."""

    task: Task
    questions: Sequence[Question]
    ease: Floats  # of each question, in logits
    criteria: Sequence[str]  # of the judge; empty without a judge
    data: str  # digest of the questions


def _write_responses(
    tables: TableFiles, task: Task, questions: Sequence[Question], rng: np.random.Generator
) -> None:
    exam = _Exam(
        task=task,
        questions=questions,
        ease=rng.normal(0, 1.2, len(questions)),
        criteria=_find_criteria(task, questions[:5]),
        data=short_digest(digest(questions)),
    )
    for number, name in enumerate(MODELS):
        _write_model(tables, exam, name, "main", number / 6 - 1.5, rng)
    if task.name in CONDITIONS_WITHOUT_IMAGES:
        for name in MODELS[:_N_MODELS_WITHOUT_IMAGES]:
            _write_model(tables, exam, name, CONDITIONS_WITHOUT_IMAGES[task.name], -3.0, rng)


def _write_model(
    tables: TableFiles,
    exam: _Exam,
    model: str,
    condition: str,
    skill: float,
    rng: np.random.Generator,
) -> None:
    """Draw a model's answers by its skill in logits, and write its tables.

    In place of the right answer, a model gives that of a random question.
    """
    n = len(exam.questions)
    knows_answer = (rng.random(n) < 1 / (1 + np.exp(-(skill + exam.ease)))).tolist()
    random_questions = rng.integers(n, size=n).tolist()
    forms = rng.integers(len(_RESPONSE_FORMS), size=n).tolist()
    predictions, scores, judgements = [], [], []
    for query, knows, random_question, form in zip(
        exam.questions, knows_answer, random_questions, forms, strict=True
    ):
        answer = query.answer if knows else exam.questions[random_question].answer
        prediction = Prediction(
            question_id=query.question_id,
            model=model,
            condition=condition,
            text=_RESPONSE_FORMS[form].format("; ".join(answer)),
            prompt_sha256="0" * 64,
            decoding="t=0",
        )
        predictions.append(prediction)
        right = answer == query.answer
        scores.append(Score.of(prediction, points=float(right), answer=answer))
        judgements += [_judge(prediction, criterion, right=right) for criterion in exam.criteria]
    key = partial(evaluation_key, exam.task, condition)
    tables.write(key("predictions"), predictions, Prediction, model)
    tables.write(key("scores"), scores, Score, model)
    if exam.task.is_judged:
        tables.write(key("judgements"), judgements, Judgement, model)
    tables.write(key("metrics"), [_build_metric(exam, model, condition, scores)], Metric, model)


def _judge(prediction: Prediction, criterion: str, *, right: bool) -> Judgement:
    response = "yes" if right else "no"
    judgement = Judgement.of(
        prediction, judge="judge", criterion=criterion, verdict=right, response=response
    )
    return replace(judgement, prompt_sha256="1" * 64)


def _build_metric(exam: _Exam, model: str, condition: str, scores: Sequence[Score]) -> Metric:
    return metric(
        model,
        float(np.mean([score.points or 0.0 for score in scores])),
        task=exam.task.name,
        condition=condition,
        n_scored=len(scores),
        edition="own",
        data=exam.data,
        signature=f"{exam.task.name}|{condition}",
    )


def _find_criteria(task: Task, questions: Sequence[Question]) -> list[str]:
    """The criteria of judgements of right answers to some questions; none without a judge."""
    if not task.is_judged:
        return []
    predictions = [
        Prediction(
            question_id=query.question_id, model="", condition="main", text=", ".join(query.answer)
        )
        for query in questions
    ]
    judgements = pipeline.judge(task, questions, predictions, None)
    return list(dict.fromkeys(judgement.criterion for judgement in judgements))


def main(home: str) -> None:
    """Audit the published tasks, and write their audit tables."""
    with Workbench(load_settings(Path(home))) as bench:
        image_store = ImageStore(folder=str(Path(home) / "images"))
        for task in bench.catalog.tasks:
            if task.name in N_PUBLISHED:
                rows = audit_task(TaskEvidence(task, bench.tables, image_store))
                bench.tables.write(audit_key(task).path, rows, AuditRow)


if __name__ == "__main__":
    main(sys.argv[1])
