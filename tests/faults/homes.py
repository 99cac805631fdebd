"""Six questions, two doors to ask them through, and the right number.

``Pure`` runs the four steps over a response store and tables; it takes milliseconds. ``Whole`` is
what ``bench evaluate`` does: a benchmark of bench.toml, its graph, Dagster's storage.
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
from tests.faults.table import FoundError

KEY = "sk-faults-7Qx9ZpLw3Rk2Vt5"
"""What is searched for afterwards."""
KEY_VARIABLE = "BENCH_FAULTS_KEY"
N_QUESTIONS = 6
GOLD = "ABBABA"
RESPONSES = "ABBAAB"
"""What the server answers when it is well: four of six are right."""
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
    """The text of a question; what the server knows it by."""
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


class Pure:
    """The four steps, without Dagster."""

    def __init__(self, home: Path, base_url: str, **spec: Any) -> None:
        self.home = home
        self._spec = ServerSpec.model_validate({**SPEC, "base_url": base_url} | spec)

    def evaluate(self) -> float | None:
        """Ask, score and measure, and write down what was said."""
        engine = ServerEngine(self._spec, lambda _: b"", base_delay=0.001)
        model = CachingModel("m", engine, response_file(self.home / "responses.sqlite"))
        try:
            predictions = pipeline.predict(TASK, QUESTIONS, model)
            require_responses(TASK.name, "questions", predictions, ())
        except BenchError as error:
            (self.home / "said.txt").write_text(str(error), encoding="utf-8", errors="replace")
            return None
        judged = pipeline.judge(TASK, QUESTIONS, predictions, None)
        scores = pipeline.score(TASK, QUESTIONS, predictions, judged)
        metrics = pipeline.summarise(TASK, QUESTIONS, predictions, scores)
        shown = "\n".join(map(repr, [*predictions, *scores, *metrics]))
        (self.home / "said.txt").write_text(shown, encoding="utf-8", errors="replace")
        return accuracy(metrics)


class Whole:
    """A home folder as users have it; its benchmark has an image for each question."""

    def __init__(self, home: Path, base_url: str = "", more: str = "", **spec: Any) -> None:
        """Write it; without the address of a server its model says A: half of it is right."""
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        model = {**SPEC, "base_url": base_url} | spec if base_url else _SAYS_A
        lines = ["[models.m]", *map(_toml, model.items())]
        lines += ["[benchmarks.quiz]", 'file = "quiz.jsonl"', more]
        (home / "bench.toml").write_text("\n".join(lines), encoding="utf-8")
        rows = []
        for number in range(N_QUESTIONS):
            Image.new("RGB", (8, 8), (40 * number, 0, 0)).save(home / f"{number}.png")
            row = {"id": number, "question": question_text(number), "image": f"{number}.png"}
            rows.append(row | {"options": ["red", "blue"], "answer": GOLD[number]})
        (home / "quiz.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def evaluate(self) -> float | None:
        """Evaluate, and read what was measured."""
        with self.bench() as bench:
            try:
                bench.refresh_questions("quiz")
                bench.evaluate(["quiz"], "m")
                return accuracy(bench.metrics("quiz", "m"))
            except BenchError as error:
                (self.home / "said.txt").write_text(str(error), encoding="utf-8", errors="replace")
                ours(error)
                return None

    def bench(self) -> Workbench:
        """Open the home folder, with the quiz alone."""
        settings = load_settings(self.home)
        suites = tuple(suite for _, suite in file_benchmark_suites(settings))
        return Workbench(settings, catalog=Catalog(suites=suites))


def ours(why: BenchError) -> str:
    """What an error says, unless a foreign exception ended a run and Dagster handed it on.

    Raises:
        FoundError: If it did.
    """
    if _FOREIGN.match(str(why)):
        raise FoundError(f"a foreign exception in a run: {why}")
    return str(why)


def accuracy(metrics: list[Metric]) -> float | None:
    """The one number; None if a question stayed without a response."""
    (row,) = [one for one in metrics if (one.metric, one.category) == ("accuracy", "all")]
    return None if row.n_failed else row.value


def _toml(entry: tuple[str, object]) -> str:
    name, value = entry
    return f"{name} = {json.dumps(value)}"
