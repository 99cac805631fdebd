from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from bench_assets.asset_factory.partial_results import partial_tables, snapshot_while_running
from bench_assets.asset_factory.suite_assets import ModelSession
from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.rows import Metric, Score
from bench_assets.core.schema.signature import partial_part
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.baselines.blind_baselines import BestConstant
from bench_assets.evaluation.runner import GeneratedResponses
from bench_resources.config.bench_toml import load_settings
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.response_cache.throughput import RequestProgress
from bench_resources.tables.parquet import TableFiles
from tests.fakes.quiz import TASK, quiz
from tests.fakes.stores import response_file

QUESTIONS = quiz(6, categories=2, group=2)


class InterruptedEngine:
    """An engine that responds to some requests before Ctrl-C is pressed."""

    identity, decoding, peak_memory = "m", None, None

    def __init__(self, n_responses: int) -> None:
        self._n_responses = n_responses

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for position in range(self._n_responses):
            yield position, Response(text="right")
        raise KeyboardInterrupt

    def close(self) -> None:
        """Release nothing."""


def interrupt(home: Path, n_responses: int) -> None:
    """Interrupt the evaluation of six questions after some responses."""
    progress = RequestProgress("m", lambda _: None, "in the log")
    model = CachingModel(
        "m", InterruptedEngine(n_responses), response_file(home / "responses"), progress
    )
    session = ModelSession(model, progress)
    with (
        pytest.raises(KeyboardInterrupt),
        snapshot_while_running(
            load_settings(home),
            TASK,
            "main",
            QUESTIONS,
            session,
            GeneratedResponses.of(session.model),
        ),
    ):
        pipeline.predict(TASK, QUESTIONS, model)


def test_an_interrupted_run_keeps_complete_groups(tmp_path: Path) -> None:
    interrupt(tmp_path, 5)  # two of three pairs are complete
    tables = partial_tables(tmp_path)
    scores = tables.read(["quiz", "scores"], Score, "m")
    assert [row.question_id for row in scores] == ["quiz/0", "quiz/1", "quiz/2", "quiz/3"]
    metrics = tables.read(["quiz", "metrics"], Metric, "m")
    assert {partial_part(row.signature) for row in metrics} == {"4 of 6 questions so far"}
    assert {row.n_scored for row in metrics if row.category == "all"} == {4}


@pytest.mark.parametrize(
    ("stored_responses", "constant"),
    [
        pytest.param(["x", "right"], 1.0, id="x, the answer to all questions"),
        pytest.param(["right"], 0.0, id="a wrong response"),
        pytest.param([], None, id="an empty table"),
    ],
)
def test_partial_metrics_have_the_best_of_the_stored_constants(
    tmp_path: Path, stored_responses: list[str], constant: float | None
) -> None:
    constant_row = partial(BestConstant, scorer="exact", metric="accuracy", value=0.5, data="0c")
    constants = [constant_row(category=text, response=text) for text in stored_responses]
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["quiz", "constants"], constants, BestConstant)
    interrupt(tmp_path, 5)
    rows = partial_tables(tmp_path).read(["quiz", "metrics"], Metric, "m")
    assert {row.constant for row in rows if row.category == "all"} == {constant}
