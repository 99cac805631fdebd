"""Samples of lmms-eval: ``<date>_samples_<task>.jsonl`` beside ``<date>_results.json``.

Points of a sample are stored under the metric's name, as a number or an object with ``score``.
Samples of tasks that log only parsed answers have no points; only their headline is read. A task
with several filters logs each sample once per filter; those of the first are read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import Entry, read_lines, read_object
from bench_assets.external_results.results import (
    ExternalMetric,
    ExternalResults,
    ExternalSample,
    category_of,
    shape_errors,
    to_number,
    to_text,
)

HARNESS = "lmms-eval"

_SAMPLES = re.compile(r"(?P<date>.*?)_?samples_(?P<task>.+)\.jsonl")
_NO_VERSION = "unknown@unknown"  # lmms_eval_version of an installed package
_SHARED_FIELDS = ("input", "target")  # the same with each filter
_SAMPLE_FIELDS = frozenset(
    (
        *("doc_id", "doc", "target", "input", "arguments", "resps", "filtered_resps"),
        *("token_counts", "doc_hash", "prompt_hash", "target_hash", "input_media", "filter"),
    )
)


def read_lmms_samples(file: Path) -> list[ExternalResults]:
    """Read a file of samples, or all that belong to a ``results.json``.

    Raises:
        SourceError: If a file is not of lmms-eval, or its counterpart is missing.
    """
    if named := _SAMPLES.fullmatch(file.name):
        results = file.with_name(f"{named['date']}_results.json".removeprefix("_"))
        return [_read_task(named["task"], file, results)]
    date = file.name.removesuffix("results.json")
    found = sorted(file.parent.glob(f"{date}samples_*.jsonl"))
    if not found:
        raise SourceError(
            f"{file}: no {date}samples_*.jsonl beside it; run lmms-eval with --log_samples"
        )
    return [_read_task(_SAMPLES.fullmatch(one.name)["task"], one, file) for one in found]  # type: ignore[index]


def _read_task(task: str, file: Path, results: Path) -> ExternalResults:
    if not results.is_file():
        raise SourceError(f"{file}: no {results.name} beside it, which has its headline numbers")
    document = read_object(results)
    with shape_errors(f"{results}, results", HARNESS):
        measured = (document.get("results") or {}).get(task)
    if not isinstance(measured, dict):
        raise SourceError(f"{results}: no entry results.{task}")
    placed = _first_filter_rows(read_lines(file))
    rows = [row for _, row in placed]
    with shape_errors(f"{results}, higher_is_better", HARNESS):
        higher = (document.get("higher_is_better") or {}).get(task) or {}
        found = list(_metrics(measured, higher))
    metrics = sorted(found, key=lambda metric: not _covers_all_samples(metric, rows))
    key = _points_key(rows, [one.name for one in metrics])
    version = str(document.get("lmms_eval_version") or document.get("git_hash") or "")
    with shape_errors(f"{results}, n-samples", HARNESS):
        count = (document.get("n-samples") or {}).get(task) or {}
        is_partial = bool(count.get("original")) and count["effective"] < count["original"]
    return ExternalResults(
        harness=HARNESS,
        version="" if version == _NO_VERSION else version,
        task=task,
        model=str(document.get("model_name") or document.get("model_source") or file.parent.name),
        metrics=tuple(metrics),
        samples=tuple(_sample(row, key, where) for where, row in placed),
        about=f"{count['effective']} of {count['original']} samples" if is_partial else "",
    )


def _first_filter_rows(lines: Iterable[tuple[Entry, str]]) -> list[tuple[str, Entry]]:
    first: dict[str, tuple[str, Entry]] = {}
    for row, where in lines:
        if row.get("doc_id") is None:
            raise SourceError(f"{where}: no doc_id")
        first_where, one = first.setdefault(str(row["doc_id"]), (where, row))
        if any(to_text(one.get(name)) != to_text(row.get(name)) for name in _SHARED_FIELDS):
            raise SourceError(
                f"{where}: doc_id {row['doc_id']!r} is also in {first_where}; keep one"
            )
    return list(first.values())


def _covers_all_samples(metric: ExternalMetric, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether every sample has the metric; otherwise it is of a category (MMStar, MME)."""
    return all(metric.name.partition(",")[0] in row for row in rows)


def _metrics(
    measured: Mapping[str, Any], higher_is_better: Mapping[str, Any]
) -> Iterator[ExternalMetric]:
    for name, value in measured.items():
        known = to_number(value)
        if known is not None and name != "alias" and "_stderr" not in name:
            yield ExternalMetric(
                name=name.removesuffix(",none"),
                value=known,
                lower_is_better=higher_is_better.get(name.partition(",")[0]) is False,
            )


def _points_key(rows: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> str:
    """Key of the samples' points: that of the headline, else the first with values."""
    own = {name: None for row in rows for name in row if _points(row[name]) is not None}
    names = [metric.partition(",")[0] for metric in metrics]
    return next((name for name in [*names, *own] if name in own and name not in _SAMPLE_FIELDS), "")


def _points(value: object) -> float | None:
    return to_number(value.get("score")) if isinstance(value, dict) else to_number(value)


def _sample(row: Entry, key: str, where: str) -> ExternalSample:
    with shape_errors(where, HARNESS):
        return _parse_sample(row, key)


def _parse_sample(row: Entry, key: str) -> ExternalSample:
    scored = row.get(key)
    details = scored if isinstance(scored, dict) else {}
    response = row.get("resps", row.get("filtered_resps"))
    while isinstance(response, list) and len(response) == 1:
        response = response[0]
    sent = row.get("input", row.get("arguments", ""))
    while isinstance(sent, list) and sent:
        sent = sent[0]
    return ExternalSample(
        sample_id=str(row["doc_id"]),
        prompt=to_text(sent),
        target=(to_text(row.get("target")),),
        category=category_of({**(row.get("doc") or {}), **details}),
        response=to_text(response),
        answer=to_text(row.get("filtered_resps")),
        points=_points(scored),
    )
