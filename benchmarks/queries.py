"""(6) The leaderboard's and a metric's query over a million and ten million predictions."""

from dataclasses import replace
from pathlib import Path
from time import perf_counter

import duckdb

from bench_assets.core.schema.rows import Metric, Prediction, Question
from bench_assets.core.schema.signature import short
from bench_assets.core.tables.arrow import digest
from bench_assets.defs.tables.leaderboard import standings
from bench_assets.suites.codis.task import TASK as CODIS
from benchmarks.figures import Figure
from resources.tables.parquet import TableFiles

_MODELS = 100
_KEY = ["codis", "predictions"]
_METRIC = """
SELECT model, count(*) AS n, avg((error = '')::INT) AS answered, avg(seconds) AS seconds,
    avg((text = 'A')::INT) AS says_a
FROM predictions WHERE condition = 'main' GROUP BY model ORDER BY model
"""
_PREDICTIONS = """
COPY (
    SELECT 'codis/' || i AS question_id, $model AS model, 'main' AS condition, 0::BIGINT AS sample,
        chr(65 + (i % 4)::INT) AS text, 'The answer is ' || chr(65 + (i % 4)::INT) AS raw_text,
        []::VARCHAR[] AS ranking, sha256(i::VARCHAR) AS prompt_sha256, 't=0,max=1024' AS decoding,
        'stop' AS finish_reason, 300::BIGINT AS prompt_tokens, 5::BIGINT AS completion_tokens,
        (i % 100) / 100 AS seconds, '' AS error
    FROM range($n) AS numbers(i)
) TO '{file}' (FORMAT parquet)
"""


def measure(folder: Path) -> list[Figure]:
    """Write predictions and metrics of a hundred models, and ask for both tables."""
    return _of(folder / "1e6", 10**6, 1.0) + _of(folder / "1e7", 10**7, 3.0)


def _of(folder: Path, n: int, most: float) -> list[Figure]:
    tables = TableFiles(folder=str(folder))
    _write(tables, n)
    started = perf_counter()
    ranked = standings(CODIS, tables, [])
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
        data=short(digest([question])),
        signature="codis|v2|main",
    )
    tables.write(["codis", "questions"], [question], Question)
    for number in range(_MODELS):
        name = f"model-{number:03d}"
        file = tables.path(_KEY, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        duckdb.execute(_PREDICTIONS.format(file=file), {"model": name, "n": n // _MODELS})
        rows = [replace(metric, model=name, category=c) for c in ("all", "a", "b", "c", "d")]
        tables.write(["codis", "metrics"], rows, Metric, name)
