"""Rescoring of stored responses without a model, and stepwise comparison with stored results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from math import isclose, isnan
from typing import Any, TypeAlias

from bench_assets.annotation.tasks import PEOPLE
from bench_assets.bundles.contents import Contents
from bench_assets.comparison.causes import EvaluationTables
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Score
from bench_assets.core.schema.signature import split_setups
from bench_assets.evaluation.runner import (
    RuleVerdicts,
    Runner,
    StoredResponses,
    StoredVerdicts,
    Verdicts,
)
from bench_assets.evaluation.task import RULES, ByModel, Evaluation, Task

EvaluationRows: TypeAlias = Contents | Evaluation | EvaluationTables
"""The tables of an evaluation: in a bundle, computed now, or in a home."""


def stored_runner(task: Task, stored: EvaluationRows, scorer: str) -> Runner:
    """Build the runner of stored responses: rules judge them again, other verdicts are kept.

    The responses are those of one model under one condition; a ``scorer`` "" is the default one.
    """
    return Runner(
        task=task,
        condition=next((row.condition for row in stored.predictions), "main"),
        responses=StoredResponses(stored.predictions),
        judge=stored_verdicts(task, stored.judgements),
        scorer=scorer,
        n_rejected=next((row.n_rejected for row in stored.metrics), None),
    )


def stored_verdicts(task: Task, judgements: Sequence[Judgement]) -> Verdicts:
    """Judge again by the rules that judged; keep stored verdicts of a model or of people."""
    if not task.is_judged:
        return StoredVerdicts(judgements)
    rules = judging_rules(task, judgements)
    return RuleVerdicts(rules) if rules not in ("", PEOPLE) else StoredVerdicts(judgements)


def judging_rules(task: Task, judgements: Sequence[Judgement]) -> str:
    """Name the rules that judged; "" if a model, or several judges did.

    Older tables without setups are recognised by their rows.
    """
    names = {
        part.removeprefix("judge=").partition(":")[0]
        for row in judgements
        for part in split_setups(row.setup).judge
    } or {RULES}
    has_model_judge = any(isinstance(task.judges.get(name), ByModel) for name in names)
    if has_model_judge or len(names) > 1 or any(not row.by_rules for row in judgements):
        return ""
    (rules,) = names
    return rules


_Key: TypeAlias = tuple[str, ...]  # question and sample, also criterion; or metric and category

N_DIGITS = 10
"""Printed significant digits, which are the same on every machine."""

_TOLERANCE = 1e-11  # relative; differences between processors are a thousand times smaller
_ABSOLUTE_TOLERANCE = 1e-13  # absolute tolerance of values near 0
_RESPONSE_FIELDS = ("text", "ranking", "no_answer", "error")
_VERDICT_FIELDS = ("verdict", "value", "judge", "error")
_SCORE_FIELDS = ("points", "max_points", "answer", "judge", "scorer", "no_answer", "error")
_LOCAL_COLUMNS = ("model", "setup")
"""Columns of a metric that do not depend on responses: local names."""
_NEWER_COLUMNS = {"constant", "shuffled", "n_no_answer", "n_clusters", "largest_cluster", "data"}
_NEWER_COLUMNS |= {"asked_again", "named", "if_unread_wrong", "if_unread_right", "people"}
_NEWER_COLUMNS |= {"n_refused", "unread", "served", "n_expired", "baselines", "n_rejected"}
"""Columns that older tables lack: an empty value means unknown."""
_OTHER_MODEL_COLUMNS = {"constant", "shuffled", "baselines"}
"""Columns of judged metrics that need other models' responses, which a bundle lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """One difference from the recorded results."""

    step: str  # "responses", "verdicts", "points" or "metrics"
    entry: str  # question, or metric and category
    field: str
    before: str
    after: str


def find_divergences(before: EvaluationRows, after: EvaluationRows) -> list[Divergence]:
    """Find differences, in the order of the steps; empty if all digits are the same."""
    return [
        *_compare_rows(
            "responses",
            _rows_by_sample(before.predictions),
            _rows_by_sample(after.predictions),
            _RESPONSE_FIELDS,
        ),
        *_compare_rows(
            "verdicts",
            _judgements_by_criterion(before.judgements),
            _judgements_by_criterion(after.judgements),
            _VERDICT_FIELDS,
        ),
        *_compare_rows(
            "points", _rows_by_sample(before.scores), _rows_by_sample(after.scores), _SCORE_FIELDS
        ),
        *metric_divergences(before.metrics, after.metrics),
    ]


def metric_divergences(before: Sequence[Metric], after: Sequence[Metric]) -> list[Divergence]:
    """Find differences of metrics in all columns but those of local names."""
    names = [field.name for field in fields(Metric) if field.name not in _LOCAL_COLUMNS]
    return list(_compare_rows("metrics", _metrics_by_cell(before), _metrics_by_cell(after), names))


def equal_to_digits(before: object, after: object) -> bool:
    """Whether two values are equal in all printed digits.

    >>> (
    ...     equal_to_digits(0.1 + 0.2, 0.3),
    ...     equal_to_digits(0.3, 0.3000001),
    ...     equal_to_digits(float("nan"), None),
    ... )
    (True, False, False)
    """
    if not (isinstance(before, float) and isinstance(after, float)):
        return before == after
    if isnan(before) and isnan(after):
        return True
    return isclose(before, after, rel_tol=_TOLERANCE, abs_tol=_ABSOLUTE_TOLERANCE)


def format_digits(value: float | None) -> str:
    """Format a number with its platform-independent digits; "-" for NaN and None.

    >>> format_digits(1 / 3), format_digits(0.5), format_digits(float("nan"))
    ('0.3333333333', '0.5', '-')
    """
    return "-" if value is None or isnan(value) else f"{value:.{N_DIGITS}g}"


def _compare_rows(
    step: str, before: Mapping[_Key, Any], after: Mapping[_Key, Any], names: Sequence[str]
) -> Iterator[Divergence]:
    """Yield missing rows and different fields of one step; rows are matched by key."""
    for key in {**before, **after}:
        entry = " ".join(key)
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            presence = {"before": "there" if old else "none", "after": "there" if new else "none"}
            yield Divergence(step=step, entry=entry, field="row", **presence)
            continue
        for name in names:
            old_value, new_value = getattr(old, name), getattr(new, name)
            if not equal_to_digits(old_value, new_value) and not _is_unknown(name, old, new):
                values = {"before": _value_text(old_value), "after": _value_text(new_value)}
                yield Divergence(step=step, entry=entry, field=name, **values)


def _is_unknown(name: str, old: Any, new: Any) -> bool:  # noqa: ANN401
    """Whether a column of a row could not be filled, before or now."""
    old_value, new_value = getattr(old, name), getattr(new, name)
    if name in _NEWER_COLUMNS and old_value in (None, ""):
        return True
    if name in _OTHER_MODEL_COLUMNS and new_value in (None, "") and old.baselines:
        return True
    return name == "n_rejected" and new_value is None  # the table of rejections is elsewhere


def _value_text(value: object) -> str:
    return format_digits(value) if isinstance(value, float) else f"{value!s:.300}"


def _rows_by_sample(rows: Sequence[Prediction] | Sequence[Score]) -> dict[_Key, Any]:
    return {(row.question_id, f"draw {row.sample}"): row for row in rows}


def _judgements_by_criterion(rows: Sequence[Judgement]) -> dict[_Key, Judgement]:
    return {(row.question_id, f"draw {row.sample}", row.criterion): row for row in rows}


def _metrics_by_cell(rows: Sequence[Metric]) -> dict[_Key, Metric]:
    return {(row.metric, row.category): row for row in rows}
