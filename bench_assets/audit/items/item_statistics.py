"""Item statistics: difficulty and discrimination of each question."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bench_assets.audit.framework.evidence import Evidence, Results
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)

Floats = npt.NDArray[np.float64]

MIN_MODELS = 3
_CORRELATION_MODELS = 8

_MIN_RELIABILITY = 0.5  # least Cronbach's alpha
_MIN_DISCRIMINATING_SHARE = 0.1  # least share of questions that some models solve and others do not
_NEGATIVE_Z = 2.33  # standard errors below zero
_MAX_SUSPECTS = 50  # listed suspects


@audit_check("item_statistics", "Do the questions discriminate between models?")
def discrimination_finding(evidence: Evidence) -> AuditFinding:
    """Compute difficulty and discrimination."""
    results = drop_unscored(evidence.results())
    if incomparable := incomparable_reason(results):
        raise SkippedCheckError(incomparable)
    points, n = results.points, len(results.questions)
    summary = f"{len(points)} models solve {np.nanmean(points):.0%} of {n} questions"
    if len(points) < _CORRELATION_MODELS:
        lower = int((upper_lower_index(points) < 0).sum())
        return AuditFinding(
            f"{summary}; {lower} are solved more by the weaker half of the models."
            f" Correlations take {_CORRELATION_MODELS} models.",
            n,
        )
    corrected, sure = corrected_item_total(points), reliability(points)
    sentence = (
        f"{summary}; the mean item-total correlation is {np.nanmean(corrected):.2f}, and "
        f"{int((corrected < 0).sum())} questions have a negative one. The ranking's reliability is "
        f"{sure:.2f}."
    )
    return AuditFinding(
        sentence, n, _negative_items(results, corrected), failed=not sure >= _MIN_RELIABILITY
    )


@audit_check("solved_by_some", "Is each question solved by some models but not all?")
def solved_finding(evidence: Evidence) -> AuditFinding:
    """Find questions that all models solve, and questions that none solves."""
    results = drop_unscored(evidence.results())
    if incomparable := incomparable_reason(results):
        raise SkippedCheckError(incomparable)
    least, most = np.nanmin(results.points, 0), np.nanmax(results.points, 0)
    everyone, no_model = least >= 1 - 1e-6, most <= 1e-6
    n, models = len(results.questions), len(results.models)
    suspects = [
        *(
            Suspect(name, f"None of {models} models solves it.", 1.0)
            for name in _selected_names(results, no_model)
        ),
        *(
            Suspect(name, f"All of {models} models solve it.", 0.5)
            for name in _selected_names(results, everyone)
        ),
    ]
    telling = n - int(everyone.sum()) - int(no_model.sum())
    sentence = (
        f"Of {n} questions all of {models} models solve {int(everyone.sum())}, and none "
        f"{int(no_model.sum())}; {telling} discriminate between models."
    )
    failed = models >= _CORRELATION_MODELS and telling < _MIN_DISCRIMINATING_SHARE * n
    return AuditFinding(sentence, n, suspects[:_MAX_SUSPECTS], failed=failed)


def drop_unscored(results: Results) -> Results:
    """Leave out questions that no model has a score for."""
    kept = np.flatnonzero(~np.isnan(results.points).all(0))
    return Results(
        models=results.models,
        questions=tuple(results.questions[j] for j in kept),
        points=results.points[:, kept],
    )


def incomparable_reason(results: Results) -> str:
    """Reason why questions cannot be compared by their solvers; "" if they can."""
    models, questions = len(results.models), len(results.questions)
    if models < MIN_MODELS:
        return f"models with scores: {models}; {MIN_MODELS} are needed"
    if np.isnan(results.points).all(1).any():
        return "a model has no score at all"
    if questions < 2:
        return f"questions with scores: {questions}; 2 are needed"
    means = np.nanmean(results.points, 1)
    return "all models have the same points" if np.ptp(means) < 1e-9 else ""


def upper_lower_index(points: Floats) -> Floats:
    """Upper-lower discrimination: difference of the better and the weaker half of models.

    The median model of an odd number belongs to neither half. In [-1, 1]; NaN without scores.

    >>> upper_lower_index(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])).tolist()
    [1.0, -1.0, 1.0]
    """
    order = np.argsort(-np.nanmean(points, 1), kind="stable")
    half = len(points) // 2
    upper, lower = points[order[:half]], points[order[-half:]]
    return _mean(upper) - _mean(lower)


def corrected_item_total(points: Floats) -> Floats:
    """Corrected item-total correlation of each question, over the models.

    NaN if all models have the same points.
    """
    scored = ~np.isnan(points)
    own_points = np.where(scored, points, 0.0)
    rest = (own_points.sum(1, keepdims=True) - own_points) / np.maximum(
        scored.sum(1, keepdims=True) - scored, 1
    )
    n = np.maximum(scored.sum(0), 1)
    own_off = np.where(scored, own_points - own_points.sum(0) / n, 0.0)
    rest_off = np.where(scored, rest - np.where(scored, rest, 0.0).sum(0) / n, 0.0)
    denominator = np.sqrt((own_off**2).sum(0) * (rest_off**2).sum(0))
    flat = denominator < 1e-12
    return np.where(flat, np.nan, (own_off * rest_off).sum(0) / np.where(flat, 1.0, denominator))


def reliability(points: Floats) -> float:
    """Cronbach's alpha with models as persons; missing scores count as the question's mean."""
    imputed = np.where(np.isnan(points), np.nanmean(points, 0), points)
    n, total = points.shape[1], imputed.sum(1).var(ddof=1)
    return float(n / (n - 1) * (1 - imputed.var(0, ddof=1).sum() / total))


def _mean(points: Floats) -> Floats:
    scored = ~np.isnan(points)
    n = scored.sum(0)
    total = np.where(scored, points, 0.0).sum(0)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def _negative_items(results: Results, corrected: Floats) -> Sequence[Suspect]:
    """Questions that weaker models solve more often than better ones."""
    limit = -np.tanh(_NEGATIVE_Z / np.sqrt(len(results.models) - 3))  # Fisher's z
    low = [int(j) for j in np.argsort(corrected, kind="stable") if corrected[j] < limit]
    return [_suspect(results, j, float(corrected[j])) for j in low[:_MAX_SUSPECTS]]


def _suspect(results: Results, at: int, correlation: float) -> Suspect:
    own_points = results.points[:, at]
    rest = np.nanmean(np.delete(results.points, at, axis=1), 1)
    better, worse = own_points >= np.nanmean(own_points), own_points < np.nanmean(own_points)
    sentence = (
        f"The {int(better.sum())} models that do better on it have {rest[better].mean():.0%} of "
        f"the points of the other questions, the others {rest[worse].mean():.0%} "
        f"(correlation {correlation:.2f})."
    )
    return Suspect(results.questions[at], sentence, round(-correlation, 3))


def _selected_names(results: Results, chosen: npt.NDArray[np.bool_]) -> list[str]:
    return [name for name, is_chosen in zip(results.questions, chosen, strict=True) if is_chosen]
