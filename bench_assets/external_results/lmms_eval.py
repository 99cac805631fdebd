"""Samples of lmms-eval and of lm-evaluation-harness, beside the results file of the same date.

lmms-eval writes ``<date>_samples_<task>.jsonl`` and ``<date>_results.json``; lm-evaluation-harness,
and ``bench export lm-eval``, ``samples_<task>_<date>.jsonl`` and ``results_<date>.json``, or
``NAME_<date>.json`` after ``--output_path NAME.json``.

Points of a sample are stored under the metric's name, as a number or an object with ``score``; of
MMMU, as the parsed and the right answer. Samples of tasks that log only parsed answers have no
points; only their headline is read. A task with several filters logs each sample once per filter;
those of the first are read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench_assets.core.answer_types.options import parse_list
from bench_assets.core.metrics.official_rules import is_right_open
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import Entry, LocatedEntry, read_lines, read_object
from bench_assets.external_results.results import (
    ExternalMetric,
    ExternalResults,
    ExternalSample,
    category_of,
    shape_errors,
    to_model_name,
    to_number,
    to_text,
)

HARNESS = "lmms-eval"
LM_EVAL = "lm-evaluation-harness"

_DATE = r"\d{4}-\d\d-\d\dT[\d.+-]+"
_LM_EVAL_RESULTS = re.compile(rf".+_(?P<date>{_DATE})\.json")  # --output_path NAME.json
_LM_EVAL_SAMPLES = re.compile(rf"samples_(?P<task>.+?)_(?P<date>{_DATE})\.jsonl")
_SAMPLES = re.compile(r"(?P<date>.*?)_?samples_(?P<task>.+)\.jsonl")
_NO_VERSION = "unknown@unknown"  # lmms_eval_version of an installed package
_SHARED_FIELDS = ("input", "target")  # the same with each filter
_SAMPLE_FIELDS = frozenset(
    (
        *("doc_id", "doc", "target", "input", "arguments", "resps", "filtered_resps"),
        *("token_counts", "doc_hash", "prompt_hash", "target_hash", "input_media", "filter"),
        *("metrics", "max_points", "error", "explanation"),
    )
)


def is_samples_or_results(file: Path) -> bool:
    """Whether a file is named as one of the harnesses names its samples or results."""
    if file.name.endswith("results.json") or _LM_EVAL_RESULTS.fullmatch(file.name):
        return True
    return file.suffix == ".jsonl" and "samples_" in file.name


def read_lmms_samples(file: Path) -> list[ExternalResults]:
    """Read a file of samples, or all that belong to a file of results.

    Raises:
        SourceError: If a file is of neither harness, or its counterpart is missing.
    """
    if match := _LM_EVAL_SAMPLES.fullmatch(file.name):
        return [_read_task(match["task"], file, _lm_eval_results(file, match["date"]))]
    if match := _SAMPLES.fullmatch(file.name):
        results = file.with_name(f"{match['date']}_results.json".removeprefix("_"))
        return [_read_task(match["task"], file, results)]
    if match := _LM_EVAL_RESULTS.fullmatch(file.name):
        samples = _lm_eval_samples(file, match["date"])
    else:
        samples = _lmms_samples(file)
    if not samples:
        raise SourceError(f"{file}: no file of its samples beside it; run it with --log_samples")
    return [_read_task(task, sample_file, file) for task, sample_file in samples.items()]


def _lm_eval_samples(results: Path, date: str) -> dict[str, Path]:
    """The last file of samples, not newer than the results, of each task in them."""
    document = read_object(results)
    with shape_errors(f"{results}, results", LM_EVAL):
        tasks = set(document.get("results") or ())
    samples = {}
    for file in sorted(results.parent.glob("samples_*.jsonl")):
        match = _LM_EVAL_SAMPLES.fullmatch(file.name)
        if match and match["task"] in tasks and match["date"] <= date:
            samples[match["task"]] = file
    return samples


def _lmms_samples(results: Path) -> dict[str, Path]:
    """The file of samples of each task that has the date of the results."""
    date = results.name.removesuffix("results.json")
    samples = {}
    for file in sorted(results.parent.glob(f"{date}samples_*.jsonl")):
        if match := _SAMPLES.fullmatch(file.name):
            samples[match["task"]] = file
    return samples


def _lm_eval_results(samples: Path, date: str) -> Path:
    """The first results file that is not older than samples; else a missing one of their date."""
    files = {}
    for file in samples.parent.glob("*.json"):
        match = _LM_EVAL_RESULTS.fullmatch(file.name)
        if match and match["date"] >= date:
            files[match["date"]] = file
    return files[min(files)] if files else samples.with_name(f"results_{date}.json")


def _read_task(task: str, file: Path, results: Path) -> ExternalResults:
    """Read the samples of a task, and its numbers in the file of results."""
    if not results.is_file():
        raise SourceError(f"{file}: no {results.name} beside it, which has its headline numbers")
    document = read_object(results)
    is_lm_eval = _LM_EVAL_RESULTS.fullmatch(results.name) is not None
    harness = LM_EVAL if is_lm_eval else HARNESS
    with shape_errors(f"{results}, results", harness):
        task_results = (document.get("results") or {}).get(task)
    if not isinstance(task_results, dict):
        raise SourceError(f"{results}: no entry results.{task}")
    located_rows = _first_filter_rows(read_lines(file))
    rows = [row for _, row in located_rows]
    with shape_errors(f"{results}, higher_is_better", harness):
        higher_is_better = (document.get("higher_is_better") or {}).get(task) or {}
        summaries = list(_metrics(task_results, higher_is_better))
    metrics = sorted(summaries, key=lambda metric: not _covers_all_samples(metric, rows))
    key = _points_key(rows, [metric.name for metric in metrics])
    with shape_errors(f"{results}, n-samples", harness):
        partial = _evaluated_part(document, task)
    model = document.get("model_name") or document.get("model_source") or file.parent.name
    return ExternalResults(
        harness=harness,
        version=_version(document, is_lm_eval=is_lm_eval),
        task=task,
        model=to_model_name(str(model)),
        metrics=tuple(metrics),
        samples=tuple(_sample(row, key, where, harness) for where, row in located_rows),
        partial=partial,
    )


def _evaluated_part(document: Entry, task: str) -> str:
    """Part of a task's samples that was evaluated; "" if all were, or it is unknown."""
    count = (document.get("n-samples") or {}).get(task) or {}
    is_partial = bool(count.get("original")) and count["effective"] < count["original"]
    return f"{count['effective']} of {count['original']} samples" if is_partial else ""


def _version(document: Entry, *, is_lm_eval: bool) -> str:
    """Version of the harness that wrote a results file; "" if unknown."""
    names = ("lm_eval_version", "bench_assets_version") if is_lm_eval else ("lmms_eval_version",)
    for name in (*names, "git_hash"):
        if version := document.get(name):
            return "" if version == _NO_VERSION else str(version)
    return ""


def _first_filter_rows(lines: Iterable[LocatedEntry]) -> list[tuple[str, Entry]]:
    """The first row of each sample's draw, with its location."""
    first_rows: dict[str, tuple[str, Entry]] = {}
    for line in lines:
        row, where = line.entry, line.where
        doc_id = row.get("doc_id")
        if doc_id is None:
            raise SourceError(f"{where}: no doc_id")
        first_where, first_row = first_rows.setdefault(f"{doc_id} {_draw(row)}", (where, row))
        if any(to_text(first_row.get(name)) != to_text(row.get(name)) for name in _SHARED_FIELDS):
            raise SourceError(f"{where}: doc_id {doc_id!r} is also in {first_where}; keep one")
    return list(first_rows.values())


def _draw(row: Entry) -> int:
    """Number of the draw, in samples of ``bench export lm-eval``; 0 elsewhere."""
    doc = row.get("doc")
    draw = doc.get("sample") if isinstance(doc, dict) and "max_points" in row else 0
    return draw if isinstance(draw, int) else 0


def _covers_all_samples(metric: ExternalMetric, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether every sample has the metric; otherwise it is of a category (MMStar, MME)."""
    return all(metric.name.partition(",")[0] in row for row in rows)


def _metrics(
    task_results: Mapping[str, Any], higher_is_better: Mapping[str, Any]
) -> Iterator[ExternalMetric]:
    """The numbers of a task, without standard errors."""
    for name, value in task_results.items():
        number = to_number(value)
        if number is not None and name != "alias" and "_stderr" not in name:
            yield ExternalMetric(
                name=name.removesuffix(",none"),
                value=number,
                lower_is_better=higher_is_better.get(name.partition(",")[0]) is False,
            )


def _points_key(rows: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> str:
    """Key of the samples' points: that of the headline, else the first with values, else ""."""
    columns = dict.fromkeys(
        name for row in rows for name, value in row.items() if _points(value) is not None
    )
    for name in (*(metric.partition(",")[0] for metric in metrics), *columns):
        if name in columns and name not in _SAMPLE_FIELDS:
            return name
    return ""


def _points(value: object) -> float | None:
    if isinstance(value, dict) and "parsed_pred" in value:
        return _mmmu_points(value)
    return to_number(value.get("score")) if isinstance(value, dict) else to_number(value)


def _mmmu_points(details: Entry) -> float:
    """Points of MMMU: one of the parsed answers is the right letter, or the right open answer."""
    parsed, target = details["parsed_pred"], details.get("answer")
    answers = parsed if isinstance(parsed, list) else [parsed]
    if details.get("question_type") == "multiple-choice":
        return float(target in answers)
    targets = [str(text) for text in target] if isinstance(target, list) else [str(target)]
    # Several responses are a list of texts, whose characters lmms-eval compares: none is right.
    single_answers = [answer for answer in answers if not isinstance(answer, list)]
    return float(is_right_open(targets, single_answers))


def _sample(row: Entry, key: str, where: str, harness: str) -> ExternalSample:
    with shape_errors(where, harness):
        score = row.get(key)
        details = score if isinstance(score, dict) else {}
        response = row.get("resps", row.get("filtered_resps"))
        while isinstance(response, list) and len(response) == 1:
            response = response[0]
        target = row.get("target")
        return ExternalSample(
            sample_id=str(row["doc_id"]),
            draw=_draw(row),
            prompt=_prompt(row),
            target=tuple(map(to_text, target)) if isinstance(target, list) else (to_text(target),),
            category=category_of({**(row.get("doc") or {}), **details}),
            response=to_text(response),
            answer=to_text(row.get("filtered_resps")),
            points=_points(score),
            error=to_text(row.get("error")),
        )


def _prompt(row: Entry) -> str:
    prompt = row.get("input", row.get("arguments", ""))
    while isinstance(prompt, list | dict) and prompt:  # {"gen_args_0": {"arg_0": the prompt}}
        prompt = prompt[0] if isinstance(prompt, list) else next(iter(prompt.values()))
    turns = parse_list(prompt)  # API models get messages as JSON
    if isinstance(turns, list) and all(
        isinstance(turn, dict) and "content" in turn for turn in turns
    ):
        return "\n\n".join(to_text(turn["content"]) for turn in turns)
    return to_text(prompt)
