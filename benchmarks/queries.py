"""The leaderboard and a query over a million and ten million predictions."""

from dataclasses import replace
from pathlib import Path
from time import perf_counter

import pyarrow as pa

from bench_assets.core.schema.rows import Metric, Prediction, Question
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.tables.arrow import digest, to_table
from bench_assets.defs.tables.leaderboard import rank_task
from bench_assets.suites.codis.task import TASK as CODIS
from bench_resources.storage.atomic_write import open_atomic
from bench_resources.tables.file_bytes import (
    DIGEST,
    TABLE_NAME_KEY,
    WRITTEN,
    table_name,
    write_groups,
)
from bench_resources.tables.parquet import TableFiles
from benchmarks.figures import Figure
from tests.fakes.rows import metric

_N_MODELS = 100
_KEY = ["codis", "predictions"]
_QUERY = """
SELECT model, count(*) AS n, avg((error = '')::INT) AS answered, avg(seconds) AS seconds,
    avg((text = 'A')::INT) AS says_a
FROM predictions WHERE condition = 'main' GROUP BY model ORDER BY model
"""
_ROW = Prediction(
    question_id="",
    model="",
    condition="main",
    text="",
    raw_text="",
    prompt_sha256="0" * 64,
    decoding="t=0,max=1024",
    finish_reason="stop",
    prompt_tokens=300,
    completion_tokens=5,
    seconds=0.5,
)


def measure(folder: Path) -> list[Figure]:
    """Measure both queries over tables of a hundred models."""
    return [
        *_measure_queries(folder / "1e6", 10**6, max_seconds=1.0),
        *_measure_queries(folder / "1e7", 10**7, max_seconds=3.0),
    ]


def _measure_queries(folder: Path, n_predictions: int, max_seconds: float) -> list[Figure]:
    tables = TableFiles(folder=str(folder))
    _write_tables(tables, n_predictions // _N_MODELS)
    started = perf_counter()
    ranked = rank_task(CODIS, tables, [])
    ranking_seconds = perf_counter() - started
    started = perf_counter()
    result = tables.query(_QUERY, {"predictions": ([_KEY], Prediction)})
    query_seconds = perf_counter() - started
    assert (len(ranked), result.num_rows) == (_N_MODELS, _N_MODELS)
    title = f"{n_predictions:,} predictions"
    return [
        Figure(f"leaderboard beside {title}", ranking_seconds, at_most=max_seconds, unit="s"),
        Figure(f"query over {title}", query_seconds, at_most=max_seconds, unit="s"),
    ]


def _write_tables(tables: TableFiles, n_questions: int) -> None:
    """Write one question, and each model's predictions and five metrics."""
    question = Question(
        question_id="codis/1", task="codis", edition="own", kind="text", text="?", answer=("A",)
    )
    row = metric(
        "",
        0.5,
        task="codis",
        metric="acc_p",
        n_scored=n_questions,
        edition="own",
        data=short_digest(digest([question])),
        signature="codis|v2|main",
    )
    tables.write(["codis", "questions"], [question], Question)
    for number in range(_N_MODELS):
        model = f"model-{number:03d}"
        _write_predictions(tables, model, n_questions)
        rows = [replace(row, model=model, category=name) for name in ("all", *"abcd")]
        tables.write(["codis", "metrics"], rows, Metric, model)


def _write_predictions(tables: TableFiles, model: str, n_questions: int) -> None:
    """Write predictions column by column: as rows, ten million would take minutes."""
    letters = [chr(65 + number % 4) for number in range(n_questions)]
    row = to_table([replace(_ROW, model=model)], Prediction)
    ids = [f"codis/{number}" for number in range(n_questions)]
    varied = {"question_id": ids, "text": letters, "raw_text": letters}
    columns = {
        name: pa.array(varied[name]) if name in varied else pa.repeat(row[name][0], n_questions)
        for name in row.column_names
    }
    metadata = {DIGEST: model, WRITTEN: "0", TABLE_NAME_KEY: table_name(_KEY, model)}
    schema = row.schema.with_metadata(metadata)
    with open_atomic(tables.path(_KEY, model)) as file:
        write_groups([pa.table(columns, schema)], schema, file)
