"""lm-eval results and samples.

Our intervals are not standard errors (ADR 4), so they are stored in ``configs``. A sample without a
response, or without a verdict of its judge, has no value.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import Any

from bench_assets.core.schema.provenance import text_digest
from bench_assets.core.schema.rows import Metric
from bench_assets.export.samples import (
    ExportSample,
    as_json,
    blind_baselines,
    items,
    none_if_nan,
    unread_bounds,
)
from bench_assets.workspace.inspect.table_collection import ModelResponses, TableCollection
from bench_resources.storage.atomic_write import open_atomic

_FILTER = "none"  # lm-eval's name for unfiltered responses
_POINTS = "points"
_INVALID_CHARACTERS = re.compile(
    r"[\"<>:/|\\?*\[\]]+"
)  # replaced in names of models, as in lm-eval


def write_lm_eval_results(gathered: TableCollection, out: Path) -> list[Path]:
    """Write the results and samples of each model into a folder of its own.

    Raises:
        HomeError: If a file cannot be written.
    """
    written: list[Path] = []
    by_model: dict[str, list[tuple[datetime, dict[str, Any]]]] = defaultdict(list)
    for evaluation in gathered.evaluations():
        by_model[evaluation.model].append((evaluation.asked_at, task_results(evaluation)))
        date = _date(evaluation.asked_at)
        written.append(
            out / model_folder(evaluation.model) / f"samples_{task_key(evaluation)}_{date}.jsonl"
        )
        with open_atomic(written[-1]) as file:
            file.writelines(f"{as_json(line)}\n".encode() for line in sample_lines(evaluation))
    for model, evaluations in by_model.items():
        last = max(at for at, _ in evaluations)
        written.append(out / model_folder(model) / f"results_{_date(last)}.json")
        with open_atomic(written[-1]) as file:
            document = results(model, last, [evaluation for _, evaluation in evaluations])
            file.write(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False).encode())
    return written


def task_key(one: ModelResponses) -> str:
    """Name a task for lm-eval, with its condition and, unless published, its edition.

    Numbers of different editions thus have different names.
    """
    edition = "" if one.exam.edition == "published" else f"_{one.exam.edition}"
    return re.sub(r"\W", "_", f"{one.name}{edition}")


def model_folder(model: str) -> str:
    """Name of a model's folder, as in lm-eval; names such as ".." are escaped.

    >>> model_folder("run/step-0150"), model_folder("..")
    ('run__step-0150', '__')
    """
    name = _INVALID_CHARACTERS.sub("__", model)
    return name if name.strip(".") else "_" * len(name)


def task_results(one: ModelResponses) -> dict[str, Any]:
    """Entries of one task, by part of the results file."""
    metrics = [row for row in one.metrics if row.category == "all" and not isnan(row.value)]
    question_ids = {row.question_id for row in one.predictions}
    done = {item.question.question_id for item in items(one) if item.points is not None}
    title = f"{one.task.title}{'' if one.condition == 'main' else f', {one.condition}'}"
    values: dict[str, Any] = {"alias": f"{title} ({one.exam.edition} edition)"}
    for row in metrics:
        values[f"{row.metric},{_FILTER}"] = row.value
        values[f"{row.metric}_stderr,{_FILTER}"] = "N/A"
    return {
        "results": values,
        "group_subtasks": [],
        "higher_is_better": {
            one.task.primary_metric: not one.task.is_lowest_best,
            **dict.fromkeys(sorted(one.task.lower_is_better), False),
        },
        "configs": _config(one, metrics),
        "versions": one.task.version,
        "n-shot": 0,
        "n-samples": {"original": len(question_ids), "effective": len(done)},
    }


def results(model: str, at: datetime, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Content of a model's results file."""
    parts = ("results", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better")
    return {
        **{
            part: {task["configs"]["task"]: task[part] for task in tasks}
            for part in (*parts, "n-samples")
        },
        "config": {"model": model, "model_args": "", "limit": None},
        "date": at.timestamp(),
        "model_source": "bench-assets",
        "model_name": model,
        "model_name_sanitized": model_folder(model),
        "bench_assets_version": version("bench-assets"),
    }


def sample_lines(one: ModelResponses) -> Iterator[dict[str, Any]]:
    """Lines of a samples file, one per sample of each question."""
    numbers: dict[str, int] = {}
    for item in items(one):
        doc_id = numbers.setdefault(item.question.question_id, len(numbers))
        yield _sample(item, doc_id)


def _sample(item: ExportSample, doc_id: int) -> dict[str, Any]:
    question, prediction = item.question, item.prediction
    failed = bool(prediction.error)
    prompt, target = item.prompt.to_json(), ", ".join(question.answer)
    doc = {
        "question_id": question.question_id,
        "question": question.text,
        "sample": prediction.sample,
    }
    doc |= {"options": list(question.options), "context": question.context, **item.about}
    points = {} if item.points is None else {_POINTS: item.points}
    return {
        "doc_id": doc_id,
        "doc": doc,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": prediction.decoding}},
        "resps": [] if failed else [[prediction.raw_text or prediction.text]],
        "filtered_resps": [] if failed else [prediction.text or "\n".join(prediction.ranking)],
        "filter": _FILTER,
        "metrics": list(points),
        **points,
        "max_points": item.score.max_points if item.score else None,
        "error": prediction.error,
        "explanation": item.explanation,
        "doc_hash": text_digest(as_json(doc)),
        "prompt_hash": prediction.prompt_sha256 or text_digest(prompt),
        "target_hash": text_digest(target),
    }


def _config(one: ModelResponses, metrics: list[Metric]) -> dict[str, Any]:
    return {
        "task": task_key(one),
        "dataset_name": one.task.name,
        "output_type": "generate_until",
        "repeats": max((row.sample for row in one.predictions), default=0) + 1,
        "num_fewshot": 0,
        "metric_list": [{"metric": row.metric} for row in metrics],
        "metadata": {
            "version": one.task.version,
            "edition": one.exam.edition,
            "condition": one.condition,
            "scorer": one.scorer,
            "signatures": {row.metric: row.signature for row in metrics},
            "intervals": {
                row.metric: [none_if_nan(row.low), none_if_nan(row.high)] for row in metrics
            },
            "blind_baselines": {row.metric: blind_baselines(row) for row in metrics},
            "unread": {row.metric: bounds for row in metrics if (bounds := unread_bounds(row))},
            "n_scored": {row.metric: row.n_scored for row in metrics},
            "n_unscored": {row.metric: row.n_unscored for row in metrics},
            "failed": one.primary.n_failed if one.primary else None,
        },
    }


def _date(at: datetime) -> str:
    return at.isoformat().replace(":", "-").replace("_", "-")
