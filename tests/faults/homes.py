"""A quiz of six questions, two kinds of homes to evaluate it in, and its right accuracy.

``PipelineHome`` runs the steps of an evaluation over a response store; it takes milliseconds.
``BenchHome`` does what ``bench evaluate`` does: a benchmark of bench.toml, its graph, Dagster's
storage.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.outcomes import require_responses
from bench_assets.file_benchmarks.suite import file_benchmark_suites, task_of
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.engine import ServerEngine
from bench_resources.response_cache.caching_model import CachingModel
from tests.fakes.stores import response_file
from tests.faults.table import FindingError

KEY = "sk-faults-7Qx9ZpLw3Rk2Vt5"
"""The key of the server, which must be in no file and no output afterwards."""
KEY_VARIABLE = "BENCH_FAULTS_KEY"
N_QUESTIONS = 6
GOLD = "ABBABA"
RESPONSES = "ABBAAB"
"""Responses of the healed server: four of six are those of GOLD."""
CLEAN = 4 / 6
SPEC: Mapping[str, Any] = {
    "kind": "server",
    "model": "m",
    "api_key_env": KEY_VARIABLE,
    "max_tries": 2,
    "max_wait": 3.0,
    "timeout": 5.0,
    "concurrency": 2,
}
_SAYS_A = {"kind": "scripted", "says": "A"}
_FOREIGN = re.compile(r"[\w/]+: (\w+\.)*[A-Z]\w*(Error|Exception|Interrupt|Exit)\b")
TASK = task_of("quiz", FileBenchmarkSettings(file=Path("quiz.jsonl")), "[benchmarks.quiz]")


def question_text(number: int) -> str:
    """The text of a question, by which the server recognizes it."""
    return f"Question number {number}: which of the two?"


QUESTIONS = [
    Question(
        question_id=f"quiz/{number}",
        task="quiz",
        edition="own",
        kind="choice",
        text=question_text(number),
        options=("red", "blue"),
        answer=(GOLD[number],),
    )
    for number in range(N_QUESTIONS)
]


class PipelineHome:
    """A home folder for the steps of an evaluation, without Dagster."""

    def __init__(self, folder: Path, base_url: str, **spec: Any) -> None:
        self.folder = folder
        self._spec = ServerSpec.model_validate({**SPEC, "base_url": base_url} | spec)

    def evaluate(self) -> float | None:
        """Ask, score and measure; writes all rows, or the error, to output.txt."""
        engine = ServerEngine(self._spec, lambda _: b"", base_delay=0.001)
        model = CachingModel("m", engine, response_file(self.folder / "responses.sqlite"))
        try:
            predictions = pipeline.predict(TASK, QUESTIONS, model)
            require_responses(TASK.name, "questions", predictions, ())
        except BenchError as error:
            (self.folder / "output.txt").write_text(str(error), encoding="utf-8", errors="replace")
            return None
        judgements = pipeline.judge(TASK, QUESTIONS, predictions, None)
        scores = pipeline.score(TASK, QUESTIONS, predictions, judgements)
        metrics = pipeline.summarise(TASK, QUESTIONS, predictions, scores)
        output = "\n".join(map(repr, [*predictions, *scores, *metrics]))
        (self.folder / "output.txt").write_text(output, encoding="utf-8", errors="replace")
        return accuracy(metrics)


class BenchHome:
    """A home folder as users have it; its benchmark has an image for each question."""

    def __init__(
        self, folder: Path, base_url: str = "", further_toml: str = "", **spec: Any
    ) -> None:
        """Write it; without the address of a server its model says A, which is right for half."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        model = {**SPEC, "base_url": base_url, **spec} if base_url else _SAYS_A
        lines = ["[models.m]", *(f"{name} = {json.dumps(model[name])}" for name in model)]
        lines += ["[benchmarks.quiz]", 'file = "quiz.jsonl"', further_toml]
        (folder / "bench.toml").write_text("\n".join(lines), encoding="utf-8")
        rows = []
        for number in range(N_QUESTIONS):
            Image.new("RGB", (8, 8), (40 * number, 0, 0)).save(folder / f"{number}.png")
            row = {"id": number, "question": question_text(number), "image": f"{number}.png"}
            rows.append(row | {"options": ["red", "blue"], "answer": GOLD[number]})
        (folder / "quiz.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def evaluate(self) -> float | None:
        """Evaluate; returns the accuracy, or None if there is none."""
        with self.bench() as bench:
            try:
                bench.refresh_questions("quiz")
                bench.evaluate(["quiz"], "m")
                return accuracy(bench.metrics("quiz", "m"))
            except BenchError as error:
                (self.folder / "output.txt").write_text(
                    str(error), encoding="utf-8", errors="replace"
                )
                require_own_error(error)
                return None

    def bench(self) -> Workbench:
        """The graph over the home folder, with the quiz alone."""
        settings = load_settings(self.folder)
        suites = tuple(suite for _, suite in file_benchmark_suites(settings))
        return Workbench(settings, catalog=Catalog(suites=suites))


def require_own_error(error: BenchError) -> None:
    """Raise a FindingError if Dagster passed on a foreign exception that ended a run."""
    if _FOREIGN.match(str(error)):
        raise FindingError(f"a foreign exception in a run: {error}")


def accuracy(metrics: list[Metric]) -> float | None:
    """The accuracy of the quiz; None if a question has no response."""
    (row,) = [row for row in metrics if row.metric == "accuracy" and row.category == "all"]
    return None if row.n_failed else row.value
