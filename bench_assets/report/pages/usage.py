"""Time, tokens and cost of models, and which options they confuse, for a task's page."""

from collections.abc import Mapping
from typing import Any

from bench_assets.asset_factory.evaluation_assets import evaluation_key, questions_key
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Prediction, Question, Score
from bench_assets.evaluation.task import Task
from resources.config.sections.base import ModelSpec, PriceSection
from resources.tables.parquet import TableFiles

_USAGE = """
SELECT model, count(*) AS responses, sum(prompt_tokens)::BIGINT AS prompt_tokens,
  sum(completion_tokens)::BIGINT AS completion_tokens, sum(seconds) AS seconds
FROM predictions WHERE error = '' GROUP BY model ORDER BY model
"""
_CONFUSION = """
SELECT model, questions.answer[1] AS "right", coalesce(scores.answer[1], '') AS chosen,
  count(*) AS n
FROM scores JOIN questions USING (question_id)
WHERE kind = 'choice' AND len(questions.answer) = 1 AND len(scores.answer) <= 1 AND error = ''
GROUP BY ALL ORDER BY ALL
"""
_MILLION = 1e6


def prices_of(models: Mapping[str, ModelSpec]) -> dict[str, tuple[float, float]]:
    """Prices per million prompt and response tokens, of models with a price."""
    return {
        name: (spec.price_in * spec.share_of_price, spec.price_out * spec.share_of_price)
        for name, spec in models.items()
        if isinstance(spec, PriceSection) and (spec.price_in or spec.price_out)
    }


def usage(
    tables: TableFiles, task: Task, condition: str, prices: Mapping[str, tuple[float, float]]
) -> list[dict[str, Any]]:
    """Responses, tokens, seconds and cost of each model; None for unknown values."""
    key = evaluation_key(task, condition, "predictions")
    if not tables.known(key):
        return []
    found = tables.query(_USAGE, {"predictions": ([key], Prediction)}, {}).to_pylist()
    return [
        {"condition": condition, **row, "cost": _cost(row, prices.get(row["model"]))}
        for row in found
    ]


def _cost(row: Mapping[str, Any], prices: tuple[float, float] | None) -> float | None:
    """Cost at the prices of bench.toml.

    >>> _cost({"prompt_tokens": 2_000_000, "completion_tokens": 500_000}, (0.5, 2.0))
    2.0
    """
    if prices is None or row["prompt_tokens"] is None or row["completion_tokens"] is None:
        return None
    price_in, price_out = prices
    cost = row["prompt_tokens"] * price_in + row["completion_tokens"] * price_out
    return float(cost / _MILLION)


def confusion(tables: TableFiles, task: Task, condition: str) -> list[dict[str, Any]]:
    """Count the pairs of right and chosen option for each model; ``chosen`` "": no option."""
    key, asked = evaluation_key(task, condition, "scores"), questions_key(task, condition)
    if not tables.known(key):
        return []
    views = {"scores": ([key], Score), "questions": ([asked], Question)}
    try:
        found = tables.query(_CONFUSION, views, {}).to_pylist()
    except TableError:  # unreadable questions are reported with the samples
        return []
    return [{"condition": condition, **row} for row in found]
