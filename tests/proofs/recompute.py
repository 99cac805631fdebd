"""Build a benchmark from its public files, and score the published responses."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench_assets.core.schema.rows import Prediction, Question, StoredImage
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import RULES, Task
from bench_assets.file_benchmarks.questions import benchmark_location, build
from bench_assets.file_benchmarks.scoring import DRAWN
from bench_assets.file_benchmarks.suite import task_of
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from tests.proofs.benchmarks import KnownBenchmark

FROZEN = Path(__file__).with_name("frozen")


class Points(NamedTuple):
    """Points of one response: by our reading, by the authors' rule, and as they published them."""

    id: str
    ours: float
    official: float | None
    published: float | None


def _no_image(image: object, name: str) -> StoredImage:
    raise AssertionError(f"{name}: the proofs need no image")


def build_known(benchmark: KnownBenchmark, folder: Path) -> tuple[Sequence[Question], Task]:
    """Build a benchmark from a checkout; returns its questions, without images, and its task."""
    with TemporaryDirectory() as home:
        settings = dict(benchmark.settings)
        if benchmark.rows:
            settings["file"] = Path(home) / "rows.jsonl"
            lines = map(json.dumps, benchmark.rows(folder))
            settings["file"].write_text("\n".join(lines) + "\n", encoding="utf-8")
        settings |= {"file": folder / settings["file"], "ignore": benchmark.without}
        settings["columns"] = {"images": (), **settings.get("columns", {})}
        section = FileBenchmarkSettings.model_validate(settings)
        location = benchmark_location(
            benchmark.name,
            Path(section.file),
            Settings(home=Path(home), benchmarks={benchmark.name: section}),
        )
        questions = build(section, location, _no_image).questions
        return questions, task_of(benchmark.name, section, location.section)


def score_responses(task, questions, responses):
    """Score responses by our reading and by the authors' rule; those to lost rows are left out."""
    questions_by_id = {question.question_id.partition("/")[2]: question for question in questions}
    responses = [response for response in responses if response.id in questions_by_id]
    answered = [questions_by_id[response.id] for response in responses]
    predictions = [
        Prediction(
            question_id=question.question_id,
            model="m",
            condition="main",
            sample=0,
            text=response.response,
            raw_text=response.response,
        )
        for question, response in zip(answered, responses, strict=True)
    ]
    judgements = pipeline.judge(task, answered, predictions, None, RULES) if task.is_judged else []
    scores = pipeline.score(task, answered, predictions, judgements)
    official: list[float | None] = [None] * len(responses)
    if "official" in task.scorers:
        official = [
            None if score.note == DRAWN else score.points
            for score in pipeline.score(task, answered, predictions, [], "official")
        ]
    return [
        Points(response.id, score.points or 0.0, official_points, response.points)
        for response, score, official_points in zip(responses, scores, official, strict=True)
    ]


def frozen_file(benchmark: KnownBenchmark) -> Path:
    return FROZEN / f"{benchmark.name}.jsonl.gz"


def read_frozen(benchmark: KnownBenchmark) -> dict[str, list[Points]]:
    """The frozen points of each model; {} if the benchmark has no responses."""
    if not frozen_file(benchmark).exists():
        return {}
    with gzip.open(frozen_file(benchmark), "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return {row["model"]: [Points(*points) for points in row["points"]] for row in rows}


def write_frozen(benchmark: KnownBenchmark, points: dict[str, list[Points]]) -> None:
    text = "".join(
        json.dumps({"model": model, "points": rows}) + "\n" for model, rows in points.items()
    )
    frozen_file(benchmark).write_bytes(gzip.compress(text.encode(), mtime=0))
