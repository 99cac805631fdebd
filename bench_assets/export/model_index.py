"""``model-index`` of a Hugging Face model card."""

from collections import defaultdict
from collections.abc import Iterator
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from bench_assets.catalog import Catalog
from bench_assets.core.schema.rows import Metric
from bench_assets.export.samples import (
    blind_baselines,
    incomplete_reason,
    none_if_nan,
    unread_bounds,
)
from bench_assets.workspace.inspect.table_collection import ModelResponses, TableCollection
from bench_resources.storage.atomic_write import open_atomic

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

_HUB = "hf:"
_TASK_TYPES = {"ranking": "image-text-retrieval"}  # all others are answered in words
_DEFAULT_TASK_TYPE = "image-text-to-text"
_EXCLUDED_METRICS = ("chance",)  # measures of the questions, not of the model


def write_model_indices(gathered: TableCollection, catalog: Catalog, out: Path) -> list[Path]:
    """Write the index of each model: the front matter of its card.

    Raises:
        HomeError: If one cannot be written.
    """
    entries: dict[str, list[EvalResult]] = defaultdict(list)
    for evaluation in gathered.evaluations():
        if reason := incomplete_reason(evaluation):
            gathered.left_out.append(f"{evaluation.name} of {evaluation.model}: {reason}")
        else:
            entries[evaluation.model] += results(
                evaluation, catalog.suite(evaluation.task.suite).release
            )
    return [_write(model, results, out) for model, results in entries.items() if results]


def results(one: ModelResponses, release: str = "") -> "Iterator[EvalResult]":
    """Metrics over all questions, the primary metric first.

    Only the published edition has the name of the release's data set.

    Args:
        one: Responses and metrics of a model.
        release: ``Suite.release``, the address of the authors' files.
    """
    names = [name for name in one.task.measures if name not in _EXCLUDED_METRICS]
    by_metric = {row.metric: row for row in one.metrics if row.category == "all"}
    for name in names:
        if (row := by_metric.get(name)) and not isnan(row.value):
            yield _result(one, row, release)


def as_yaml(model: str, found: "list[EvalResult]") -> str:
    """Write results as the YAML of a model card."""
    from huggingface_hub import ModelCardData

    return f"{ModelCardData(model_name=model, eval_results=found).to_yaml()}\n"


def _result(one: ModelResponses, row: Metric, release: str) -> "EvalResult":
    from huggingface_hub import EvalResult

    edition = one.exam.edition
    is_release = edition == "published"
    title = one.task.title + ("" if one.condition == "main" else f", {one.condition}")
    hub = release.removeprefix(_HUB).partition("@")[0] if release.startswith(_HUB) else ""
    return EvalResult(
        task_type=_TASK_TYPES.get(one.exam.questions[0].kind, _DEFAULT_TASK_TYPE),
        task_name=one.name,
        dataset_type=(hub or one.task.suite) if is_release else f"{one.task.suite}-{edition}",
        dataset_name=title if is_release else f"{title} ({edition} edition)",
        dataset_config=one.name,
        dataset_revision=row.questions,
        dataset_args={"edition": edition, "questions": len(one.exam.questions)},
        metric_type=row.metric,
        metric_name=row.metric if is_release else f"{row.metric} ({edition} edition)",
        metric_value=row.value,
        metric_args={
            "low": none_if_nan(row.low),
            "high": none_if_nan(row.high),
            "n_scored": row.n_scored,
            "n_unscored": row.n_unscored,
            **blind_baselines(row),
            **unread_bounds(row),
            **({"lower_is_better": True} if row.metric in one.task.lower_is_better else {}),
            "signature": row.signature,
        },
        verified=False,
    )


def _write(model: str, found: "list[EvalResult]", out: Path) -> Path:
    path = out / f"{quote(model, safe='@+=')}.yml"
    with open_atomic(path) as file:
        file.write(as_yaml(model, found).encode())
    return path
