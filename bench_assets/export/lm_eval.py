"""lm-eval results and samples.

Our intervals are not standard errors, so they are stored in ``configs``. A sample without a
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

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.provenance import text_digest
from bench_assets.core.schema.rows import Metric
from bench_assets.export.samples import (
    ExportSample,
    as_json,
    blind_baselines,
    export_samples,
    none_if_nan,
    unread_bounds,
)
from bench_assets.workspace.inspect.table_collection import ModelResponses, TableCollection
from bench_resources.storage.atomic_write import open_atomic

_FILTER = "none"  # lm-eval's name for unfiltered responses
_POINTS = "points"
_INVALID_CHARACTERS = re.compile(r"[\"<>:/|\\?*\[\]]+")  # in names of models, as in lm-eval


def write_lm_eval_results(collection: TableCollection, out: Path) -> list[Path]:
    """Write the results and samples of each model into a folder of its own.

    Raises:
        SettingsError: If two models would share a folder.
    """
    files: list[Path] = []
    owners: dict[str, str] = {}
    tasks: dict[str, list[dict[str, Any]]] = defaultdict(list)  # by model
    last_response: dict[str, datetime] = {}
    for evaluation in collection.evaluations():
        model, asked_at = evaluation.model, evaluation.asked_at
        tasks[model].append(task_results(evaluation))
        last_response[model] = max(asked_at, last_response.get(model, asked_at))
        name = f"samples_{task_key(evaluation)}_{_file_date(asked_at)}.jsonl"
        samples_file = out / claim_folder(model, owners) / name
        with open_atomic(samples_file) as file:
            file.writelines(f"{as_json(line)}\n".encode() for line in sample_lines(evaluation))
        files.append(samples_file)
    for model, asked_at in last_response.items():
        results_file = out / model_folder(model) / f"results_{_file_date(asked_at)}.json"
        document = results_content(model, asked_at, tasks[model])
        with open_atomic(results_file) as file:
            file.write(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False).encode())
        files.append(results_file)
    return files


def task_key(evaluation: ModelResponses) -> str:
    """Name a task for lm-eval, with its condition and, unless published, its edition.

    Numbers of different editions thus have different names.
    """
    edition = evaluation.question_table.edition
    suffix = "" if edition == "published" else f"_{edition}"
    return re.sub(r"\W", "_", f"{evaluation.name}{suffix}")


def model_folder(model: str) -> str:
    """Name of a model's folder, as in lm-eval; names such as ".." are escaped.

    >>> model_folder("run/step-0150"), model_folder("..")
    ('run__step-0150', '__')
    """
    name = _INVALID_CHARACTERS.sub("__", model)
    return name if name.strip(".") else "_" * len(name)


def claim_folder(model: str, owners: dict[str, str]) -> str:
    """Enter a model as the owner of its folder, whose name is returned.

    Raises:
        SettingsError: If another model owns it.
    """
    folder = model_folder(model)
    owner = owners.setdefault(folder, model)
    if owner != model:
        raise SettingsError(
            f"{model}: its folder {folder} would be that of {owner} too. Export each with --model"
            " and an --out of its own"
        )
    return folder


def task_results(evaluation: ModelResponses) -> dict[str, Any]:
    """Values of one task, by section of the results file."""
    task, condition = evaluation.task, evaluation.condition
    metrics = [row for row in evaluation.metrics if row.category == "all" and not isnan(row.value)]
    question_ids = {row.question_id for row in evaluation.predictions}
    samples = export_samples(evaluation)
    scored_ids = {sample.question.question_id for sample in samples if sample.points is not None}
    title = task.title if condition == "main" else f"{task.title}, {condition}"
    values: dict[str, Any] = {"alias": f"{title} ({evaluation.question_table.edition} edition)"}
    for row in metrics:
        values[f"{row.metric},{_FILTER}"] = row.value
        values[f"{row.metric}_stderr,{_FILTER}"] = "N/A"
    return {
        "results": values,
        "group_subtasks": [],
        "configs": _config(evaluation, metrics),
        "versions": task.version,
        "n-shot": 0,
        "higher_is_better": {
            task.primary_metric: not task.is_lowest_best,
            **dict.fromkeys(sorted(task.lower_is_better), False),
        },
        "n-samples": {"original": len(question_ids), "effective": len(scored_ids)},
    }


def results_content(model: str, asked_at: datetime, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Content of a model's results file, from the ``task_results`` of at least one task."""
    sections = {
        section: {task["configs"]["task"]: task[section] for task in tasks} for section in tasks[0]
    }
    return {
        **sections,
        "config": {"model": model, "model_args": "", "limit": None},
        "date": asked_at.timestamp(),
        "model_source": "bench-assets",
        "model_name": model,
        "model_name_sanitized": model_folder(model),
        "bench_assets_version": version("bench-assets"),
    }


def sample_lines(evaluation: ModelResponses) -> Iterator[dict[str, Any]]:
    """Lines of a samples file, one per sample of each question."""
    doc_ids: dict[str, int] = {}
    for sample in export_samples(evaluation):
        doc_id = doc_ids.setdefault(sample.question.question_id, len(doc_ids))
        yield _sample_line(sample, doc_id)


def _sample_line(sample: ExportSample, doc_id: int) -> dict[str, Any]:
    """Fields of one line, as lm-eval logs a sample, with our points and explanation."""
    question, prediction = sample.question, sample.prediction
    failed = bool(prediction.error)
    prompt, target = sample.prompt.to_json(), ", ".join(question.answer)
    doc = {
        "question_id": question.question_id,
        "question": question.text,
        "sample": prediction.sample,
        "options": list(question.options),
        "context": question.context,
        **sample.about,
    }
    points = {} if sample.points is None else {_POINTS: sample.points}
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
        "max_points": sample.score.max_points if sample.score else None,
        "error": prediction.error,
        "explanation": sample.explanation,
        "doc_hash": text_digest(as_json(doc)),
        "prompt_hash": prediction.prompt_sha256 or text_digest(prompt),
        "target_hash": text_digest(target),
    }


def _config(evaluation: ModelResponses, metrics: list[Metric]) -> dict[str, Any]:
    """Section ``configs`` of a task; its metadata have what lm-eval has no fields for."""
    return {
        "task": task_key(evaluation),
        "dataset_name": evaluation.task.name,
        "output_type": "generate_until",
        "repeats": max((row.sample for row in evaluation.predictions), default=0) + 1,
        "num_fewshot": 0,
        "metric_list": [{"metric": row.metric} for row in metrics],
        "metadata": {
            "version": evaluation.task.version,
            "edition": evaluation.question_table.edition,
            "condition": evaluation.condition,
            "scorer": evaluation.scorer,
            "signatures": {row.metric: row.signature for row in metrics},
            "intervals": {
                row.metric: [none_if_nan(row.low), none_if_nan(row.high)] for row in metrics
            },
            "blind_baselines": {row.metric: blind_baselines(row) for row in metrics},
            "unread": {row.metric: bounds for row in metrics if (bounds := unread_bounds(row))},
            "n_scored": {row.metric: row.n_scored for row in metrics},
            "n_unscored": {row.metric: row.n_unscored for row in metrics},
            "failed": evaluation.primary.n_failed if evaluation.primary else None,
        },
    }


def _file_date(date: datetime) -> str:
    """Date in a file name, as lm-eval writes it."""
    return date.isoformat().replace(":", "-")
