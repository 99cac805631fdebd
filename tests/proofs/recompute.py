"""Builds a benchmark from its public files, and scores the published responses."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench_assets.core.schema.rows import Prediction, Question, StoredImage
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import RULES, Task
from bench_assets.file_benchmarks.questions import FileQuestions, benchmark_location, build
from bench_assets.file_benchmarks.scoring import DRAWN
from bench_assets.file_benchmarks.suite import task_of
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from tests.proofs.benchmarks import Answered, KnownBenchmark

FROZEN = Path(__file__).with_name("frozen")


class Points(NamedTuple):
    """Points of one response: by our reading, by the authors' rule, and as they published them."""

    id: str
    ours: float
    official: float | None
    published: float | None


def _no_image(image: object, name: str) -> StoredImage:
    raise AssertionError(f"{name}: the proofs need no image")


def build_known(benchmark: KnownBenchmark, folder: Path) -> tuple[FileQuestions, Task]:
    """Build the questions of a benchmark from a checkout, without images, and its task."""
    with TemporaryDirectory() as home:
        settings = dict(benchmark.settings)
        if benchmark.rows:
            settings["file"] = Path(home) / "rows.jsonl"
            lines = map(json.dumps, benchmark.rows(folder))
            settings["file"].write_text("\n".join(lines) + "\n", encoding="utf-8")
        settings |= {"file": folder / settings["file"], "ignore": benchmark.without}
        settings["columns"] = {"images": (), **settings.get("columns", {})}
        section = FileBenchmarkSettings.model_validate(settings)
        located = benchmark_location(
            benchmark.name,
            Path(section.file),
            Settings(home=Path(home), benchmarks={benchmark.name: section}),
        )
        questions = build(section, located, _no_image)
        return questions, task_of(benchmark.name, section, located.section)


def score_responses(
    task: Task, questions: Sequence[Question], answered: Sequence[Answered]
) -> list[Points]:
    """Score responses by our reading and by the authors' rule; without rejected questions."""
    known = {question.question_id.partition("/")[2]: question for question in questions}
    kept = [row for row in answered if row.id in known]
    kept_questions = [known[row.id] for row in kept]
    predictions = [
        Prediction(
            question_id=question.question_id,
            model="m",
            condition="main",
            sample=0,
            text=row.response,
            raw_text=row.response,
        )
        for question, row in zip(kept_questions, kept, strict=True)
    ]
    verdicts = (
        pipeline.judge(task, kept_questions, predictions, None, RULES) if task.is_judged else []
    )
    ours = pipeline.score(task, kept_questions, predictions, verdicts)
    has_rule = "official" in task.scorers
    rule = (
        pipeline.score(task, kept_questions, predictions, [], "official")
        if has_rule
        else [None] * len(kept)
    )
    return [
        Points(
            answer.id,
            score.points or 0.0,
            None if by_rule is None or by_rule.note == DRAWN else by_rule.points,
            answer.points,
        )
        for answer, score, by_rule in zip(kept, ours, rule, strict=True)
    ]


def frozen_file(benchmark: KnownBenchmark) -> Path:
    """The file with the frozen points of a benchmark."""
    return FROZEN / f"{benchmark.name}.jsonl.gz"


def read_frozen(benchmark: KnownBenchmark) -> dict[str, list[Points]]:
    """The frozen points of each model; {} without responses."""
    if not frozen_file(benchmark).exists():
        return {}
    with gzip.open(frozen_file(benchmark), "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return {row["model"]: [Points(*points) for points in row["points"]] for row in rows}


def write_frozen(benchmark: KnownBenchmark, points: dict[str, list[Points]]) -> None:
    """Freeze the points of each model."""
    text = "".join(
        json.dumps({"model": model, "points": rows}) + "\n" for model, rows in points.items()
    )
    frozen_file(benchmark).write_bytes(gzip.compress(text.encode(), mtime=0))
