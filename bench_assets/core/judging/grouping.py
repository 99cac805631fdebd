"""Grouping of verdicts by the response that they are about."""

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeAlias

from bench_assets.core.schema.rows import Judgement, Prediction

Identity: TypeAlias = tuple[str, str, str, int]  # question, model, condition, sample


def group_judgements(
    predictions: Iterable[Prediction], judgements: Iterable[Judgement]
) -> list[list[Judgement]]:
    """Judgements of each prediction, in order."""
    groups = defaultdict[Identity, list[Judgement]](list)
    for verdict in judgements:
        groups[_identity(verdict)].append(verdict)
    return [groups.get(_identity(row), []) for row in predictions]


def _identity(row: Prediction | Judgement) -> Identity:
    return row.question_id, row.model, row.condition, row.sample
