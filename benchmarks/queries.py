"""(6) The leaderboard's and a metric's query over a million and ten million predictions."""

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

_MODELS = 100
_KEY = ["codis", "predictions"]
_METRIC = """
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
    """Write predictions and metrics of a hundred models, and ask for both tables."""
    return _of(folder / "1e6", 10**6, 1.0) + _of(folder / "1e7", 10**7, 3.0)


def _of(folder: Path, n: int, most: float) -> list[Figure]:
    tables = TableFiles(folder=str(folder))
    _write(tables, n)
    started = perf_counter()
    ranked = rank_task(CODIS, tables, [])
    between = perf_counter()
    found = tables.query(_METRIC, {"predictions": ([_KEY], Prediction)})
    ended = perf_counter()
    assert (len(ranked), found.num_rows) == (_MODELS, _MODELS)
    return [
        Figure(
            what=f"(6) leaderboard beside {n:.0e} predictions",
            value=between - started,
            most=most,
            unit="s",
        ),
        Figure(
            what=f"(6) a metric of {n:.0e} predictions", value=ended - between, most=most, unit="s"
        ),
    ]


def _write(tables: TableFiles, n: int) -> None:
    question = Question(
        question_id="codis/1", task="codis", edition="own", kind="text", text="?", answer=("A",)
    )
    metric = Metric(
        task="codis",
        model="",
        condition="main",
        metric="acc_p",
        category="all",
        value=0.5,
        low=0.4,
        high=0.6,
        n_scored=n // _MODELS,
        n_unscored=0,
        n_failed=0,
        edition="own",
        data=short_digest(digest([question])),
        signature="codis|v2|main",
    )
    tables.write(["codis", "questions"], [question], Question)
    for number in range(_MODELS):
        name = f"model-{number:03d}"
        _write_predictions(tables, name, n // _MODELS)
        rows = [replace(metric, model=name, category=c) for c in ("all", "a", "b", "c", "d")]
        tables.write(["codis", "metrics"], rows, Metric, name)


def _write_predictions(tables: TableFiles, model: str, n: int) -> None:
    """Write rows that are never objects: ten million would take minutes."""
    letters = [chr(65 + i % 4) for i in range(n)]
    columns = to_table([replace(_ROW, model=model)], Prediction)
    varied = {"question_id": [f"codis/{i}" for i in range(n)], "text": letters, "raw_text": letters}
    values = {
        name: pa.array(varied[name]) if name in varied else pa.repeat(columns[name][0], n)
        for name in columns.column_names
    }
    metadata = {DIGEST: model, WRITTEN: "0", TABLE_NAME_KEY: table_name(_KEY, model)}
    schema = columns.schema.with_metadata(metadata)
    with open_atomic(tables.path(_KEY, model)) as file:
        write_groups([pa.table(values, schema)], schema, file)
