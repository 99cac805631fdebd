"""Runs that are limited, in progress or interrupted are in the report, marked partial."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from bench_assets.asset_factory.partial_results import (
    partial_tables,
    snapshot_while_running,
)
from bench_assets.asset_factory.suite_assets import ModelSession
from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.rows import Metric, Question, Score
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
from tests.report.fair import catalog, measure, report

QUESTIONS = quiz(6, categories=2, group=2)


class Interrupted:
    """An engine that answers some requests, and then Ctrl-C is pressed."""

    identity, decoding, peak_memory = "m", None, None

    def __init__(self, n: int) -> None:
        self._n = n

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for position in range(self._n):
            yield position, Response(text="right")
        raise KeyboardInterrupt

    def close(self) -> None:
        """Nothing is held."""


def interrupt(home: Path, n: int) -> None:
    """Ask a model six questions, of which it answers the first ``n``."""
    progress = RequestProgress("m", lambda _: None, "in the log")
    model = CachingModel("m", Interrupted(n), response_file(home / "responses"), progress)
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


def test_an_interrupted_run_keeps_the_groups_that_are_answered(tmp_path: Path) -> None:
    interrupt(tmp_path, 5)  # two of three pairs
    few = partial_tables(tmp_path)
    scores = few.read(["quiz", "scores"], Score, "m")
    assert [row.question_id for row in scores] == ["quiz/0", "quiz/1", "quiz/2", "quiz/3"]
    metrics = few.read(["quiz", "metrics"], Metric, "m")
    assert {partial_part(row.signature) for row in metrics} == {"4 of 6 questions so far"}
    assert {row.n_scored for row in metrics if row.category == "all"} == {4}


@pytest.mark.parametrize(
    ("known", "constant"),
    [
        pytest.param(["x", "right"], 1.0, id="all are x"),
        pytest.param(["right"], 0.0, id="what was best on all is wrong here"),
        pytest.param([], None, id="a home without that table"),
    ],
)
def test_the_best_constant_of_a_part_is_of_what_is_best_on_the_whole(
    tmp_path: Path, known: list[str], constant: float | None
) -> None:
    cell = partial(BestConstant, scorer="exact", metric="accuracy", value=0.5, data="0c")
    found = [cell(category=text, response=text) for text in known]
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["quiz", "constants"], found, BestConstant)
    interrupt(tmp_path, 5)
    rows = partial_tables(tmp_path).read(["quiz", "metrics"], Metric, "m")
    assert {row.constant for row in rows if row.category == "all"} == {constant}


def rows(home: Path, tables: TableFiles) -> list[tuple[str, str]]:
    """Models of the report's first page, and of which part of the questions they are."""
    page = report(home, tables, catalog(home))
    (file,) = (page.parent / "data").glob("index.*.js")
    script = file.read_text(encoding="utf-8")
    columns = json.loads(script.removeprefix('Bench.put("index",').removesuffix(");\n"))["rows"]
    texts = [[columns[n][0][i] for i in columns[n][1]] for n in ("model", "partial")]
    return list(zip(*texts, strict=True))


def test_a_number_over_all_questions_replaces_the_partial_one(tmp_path: Path) -> None:
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["quiz", "questions"], QUESTIONS, Question)
    interrupt(tmp_path, 5)
    assert rows(tmp_path, tables) == [("m", "4 of 6 questions so far")]
    measure(tables, "m", 0.5)
    assert [part for _, part in rows(tmp_path, tables)] == [""]
