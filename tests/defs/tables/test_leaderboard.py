import csv
import io
import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench_assets.asset_factory.partial_results import partial_tables
from bench_assets.core.schema.published_numbers import PublishedNumber
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.core.schema.signature import short_digest, with_partial
from bench_assets.core.tables.arrow import digest
from bench_assets.defs.tables.leaderboard import (
    MEASURED,
    as_csv,
    as_markdown,
    leaderboard_frame,
    rank_task,
)
from bench_assets.workspace.inspect.leaderboard import matrices
from bench_resources.tables.parquet import TableFiles
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import metric, standing

METRICS, QUESTIONS = ["quiz", "metrics"], ["quiz", "questions"]
METRIC = metric(
    "whole", 0.5, task="quiz", low=0.4, high=0.6, n_scored=4, edition="own",
    data=short_digest(digest(quiz(4))), signature="quiz|v1|main",
)  # fmt: skip


@pytest.fixture
def tables(tmp_path: Path) -> TableFiles:
    files = TableFiles(folder=str(tmp_path / "tables"))
    files.write(QUESTIONS, quiz(4), Question)
    for model in ("whole", "spoilt"):
        files.write(METRICS, [replace(METRIC, model=model)], Metric, model)
    return files


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.write_bytes(b""), id="an empty file"),
        pytest.param(lambda path: path.write_bytes(b"\0" * 999), id="null bytes"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-99]), id="truncated"),
        pytest.param(
            lambda path: path.write_bytes(path.read_bytes().replace(b"spoilt", b"whole2")),
            id="other bytes",
        ),
        pytest.param(lambda path: (path.unlink(), path.mkdir()), id="a folder"),
        pytest.param(lambda path: pq.write_table(pa.table({"a": [1]}), path), id="another schema"),
    ],
)
def test_an_unreadable_table_of_metrics_is_a_row_without_a_value(tables, spoil):
    spoil(tables.path(METRICS, "spoilt"))
    whole, spoilt = rank_task(TASK, tables, published=[])
    assert (whole.model, whole.value, whole.source) == ("whole", 0.5, MEASURED)
    assert (spoilt.model, spoilt.edition) == ("spoilt", "own")
    assert math.isnan(spoilt.value)
    assert spoilt.source.startswith("unreadable: ")
    assert "| spoilt | nan |" in as_markdown([whole, spoilt])
    assert len(leaderboard_frame([whole, spoilt])) == 2


def test_the_lowest_error_is_the_best(tmp_path: Path) -> None:
    """Errors of 0.1, 0.2 and 0.3, each within 0.01: three ranks, the lowest first."""
    error_task = replace(TASK, lower_is_better=frozenset({"accuracy"}))
    files = TableFiles(folder=str(tmp_path))
    files.write(QUESTIONS, quiz(4), Question)
    for model, value in (("a", 0.3), ("b", 0.1), ("c", 0.2)):
        row = replace(METRIC, model=model, value=value, low=value - 0.01, high=value + 0.01)
        files.write(METRICS, [row], Metric, model)
    failed = replace(METRIC, model="d", value=0.05, low=0.04, high=0.06, n_failed=1)
    files.write(METRICS, [failed], Metric, "d")
    published = [
        PublishedNumber(
            task="quiz", model=model, metric="accuracy", category="all", condition="main",
            value=value, printed=str(value), source="P, Table 1",
        )
        for model, value in (("p", 0.5), ("q", 0.4))
    ]  # fmt: skip
    rows = rank_task(error_task, files, published)
    assert [(row.model, row.ranks) for row in rows] == [
        ("b", "1"), ("c", "2"), ("a", "3"), ("d", ""), ("q", ""), ("p", ""),
    ]  # fmt: skip
    by_accuracy = rank_task(TASK, files, published)
    assert [row.model for row in by_accuracy] == ["a", "c", "b", "d", "p", "q"]


def test_partial_metrics_are_last_and_have_no_rank(tables: TableFiles) -> None:
    signature = with_partial(METRIC.signature, "2 of 4 questions")
    for model in ("limited", "whole"):
        row = replace(METRIC, model=model, value=1.0, signature=signature)
        partial_tables(tables.home).write(METRICS, [row], Metric, model)
    rows = rank_task(TASK, tables, published=[], with_partial=True)
    assert [(row.model, row.value, row.ranks) for row in rows] == [
        ("spoilt", 0.5, "1-2"), ("whole", 0.5, "1-2"), ("limited", 1.0, ""),
    ]  # fmt: skip
    assert "limited" not in [row.model for row in rank_task(TASK, tables, published=[])]


@pytest.mark.parametrize("constants", [(0.2, None, 0.7), (0.7, 0.2, None)])
def test_the_best_constant_does_not_depend_on_the_order_of_models(constants):
    rows = [standing(METRIC, model=f"m{n}", constant=value) for n, value in enumerate(constants)]
    (matrix,) = matrices(rows, {})
    assert [(row.name, row.cells) for row in matrix.blind] == [
        ("best constant response", {"quiz": "0.700"})
    ]


def test_rows_without_readable_metrics_have_the_edition_of_the_questions(tables):
    questions = [replace(question, edition="own") for question in quiz(4)]
    tables.write(QUESTIONS, questions, Question)
    for model in ("whole", "spoilt"):
        tables.path(METRICS, model).write_bytes(b"")
    assert [row.edition for row in rank_task(TASK, tables, published=[])] == ["own", "own"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＠"])
def test_no_cell_of_the_csv_is_a_formula(start):
    frame = pd.DataFrame({"model": [f"{start}1+1", "plain"], "value": [-0.5, 0.5]})
    _, *rows = csv.reader(io.StringIO(as_csv(frame), newline=""))
    assert rows == [[f"'{start}1+1", "-0.5"], ["plain", "0.5"]]


def test_without_readable_questions_no_model_has_a_value(tables: TableFiles) -> None:
    tables.path(QUESTIONS).write_bytes(b"PAR1")
    rows = rank_task(TASK, tables, published=[])
    assert sorted(row.model for row in rows) == ["spoilt", "whole"]
    assert all(math.isnan(row.value) and "questions" in row.source for row in rows)
