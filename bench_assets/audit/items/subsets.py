"""The smallest subset of a benchmark that ranks models like the whole, for quick evaluations.

Questions are selected greedily (herding) so that models' means and category shares over the subset
stay close to those over all questions. The result is validated on held-out models.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench_assets.audit.framework.evidence import Evidence, Results
from bench_assets.audit.framework.findings import AuditFinding, SkippedCheckError, audit_check
from bench_assets.audit.items.item_statistics import drop_unscored, incomparable_reason
from bench_assets.core.schema.rows import Question

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

MIN_MODELS = 5

_SIZES = (10, 20, 30, 50, 75, 100, 150, 200)
_MAX_SHARE = 0.5  # of all questions; more would not be a quick evaluation
_MIN_TAU = 0.9  # Kendall's tau
_FOLDS = 5
_RANDOM = 100  # random subsets for comparison
_SEED = 16
_CATEGORIES = 0.5  # weight of category shares relative to model means


class SubsetUnits(NamedTuple):
    """Units of a subset: questions that are scored together."""

    members: tuple[tuple[int, ...], ...]  # columns of the points
    sums: Floats  # (models, units): points of their questions
    sizes: Floats  # (units,): questions
    categories: Floats  # (categories, units): questions of each category


class SubsetTrial(NamedTuple):
    """Result of a size on held-out models."""

    size: int  # questions
    tau: float  # Kendall's, between the rankings by the subset and by all questions
    error: float  # mean absolute error of a model's mean over the subset
    random_tau: float  # mean tau of random subsets
    random_error: float  # mean error of random subsets


@audit_check("smallest_subset", "How few questions rank the models alike?")
def smallest_subset(evidence: Evidence) -> AuditFinding:
    """Find the fewest questions that rank held-out models like all questions do."""
    results = drop_unscored(evidence.results())
    if incomparable := incomparable_reason(results):
        raise SkippedCheckError(incomparable)
    if len(results.models) < MIN_MODELS:
        summary = f"models with scores: {len(results.models)}"
        raise SkippedCheckError(f"{summary}; at least {MIN_MODELS} are needed")
    n = len(results.questions)
    units = group_units(results, evidence.questions)
    sizes = [size for size in _SIZES if size <= _MAX_SHARE * n]
    if not sizes:
        raise SkippedCheckError(f"{n} questions; too few for a subset")
    of_size = cross_validate(units, sizes)
    best = of_size[-1]
    while of_size and of_size[-1].tau >= _MIN_TAU:  # all larger sizes must, too
        best = of_size.pop()
    return AuditFinding(_sentence(best, len(results.models), n), n)


def cross_validate(units: SubsetUnits, sizes: Sequence[int]) -> list[SubsetTrial]:
    """Cross-validate subsets of each size over the models."""
    n_models = len(units.sums)
    full = units.sums.sum(1) / units.sizes.sum()
    held_out = np.empty((len(sizes), n_models, n_models))
    for test_models in _folds(n_models):
        train_models = np.setdiff1d(np.arange(n_models), test_models)
        chosen = select_units(units._replace(sums=units.sums[train_models]), sizes[-1])
        held_out[:, test_models, :] = _means(units, chosen, sizes)[:, None, :]
    rng = np.random.default_rng(_SEED)
    random_means = [_means(units, rng.permutation(len(units.sizes)), sizes) for _ in range(_RANDOM)]
    return [
        SubsetTrial(
            size,
            kendall_tau(held_out[i], full),
            float(np.abs(np.diag(held_out[i]) - full).mean()),
            float(
                np.mean(
                    [kendall_tau(np.tile(mean[i], (n_models, 1)), full) for mean in random_means]
                )
            ),
            float(np.mean([np.abs(mean[i] - full).mean() for mean in random_means])),
        )
        for i, size in enumerate(sizes)
    ]


def kendall_tau(found: Floats, whole: Floats) -> float:
    """Kendall's tau-b, with each model compared to all others by its own row of figures.

    Args:
        found: (models, models): row i has the figures for the comparisons of model i.
        whole: (models,): figures over all questions.

    >>> round(kendall_tau(np.tile([1.0, 2.0, 3.0], (3, 1)), np.array([1.0, 3.0, 2.0])), 3)
    0.333
    """
    subset_order = np.sign(np.round(np.diag(found)[:, None] - found, 12))
    whole_order = np.sign(np.round(whole[:, None] - whole, 12))
    denominator = np.sqrt((subset_order**2).sum() * (whole_order**2).sum())
    return float((subset_order * whole_order).sum() / denominator) if denominator else 0.0


def group_units(results: Results, questions: Sequence[Question]) -> SubsetUnits:
    """Group questions that are scored together; a missing score is the question's mean."""
    points = np.where(np.isnan(results.points), np.nanmean(results.points, 0), results.points)
    questions_by_id = {question.question_id: question for question in questions}
    groups: dict[str, list[int]] = {}
    kinds: dict[str, int] = {}
    of_column = np.zeros(len(results.questions), dtype=np.intp)
    for column, name in enumerate(results.questions):
        question = questions_by_id[name]
        groups.setdefault(question.group_id or f"question {name}", []).append(column)
        of_column[column] = kinds.setdefault(question.category, len(kinds))
    members = tuple(tuple(group) for group in groups.values())
    categories = np.zeros((len(kinds), len(members)))
    for number, member in enumerate(members):
        np.add.at(categories[:, number], of_column[list(member)], 1.0)
    sums = np.stack([points[:, list(member)].sum(1) for member in members], axis=1)
    return SubsetUnits(
        members, sums, np.array([len(member) for member in members], float), categories
    )


def select_units(units: SubsetUnits, size: int) -> list[int]:
    """Select units by all models' scores, best first, until they have ``size`` questions.

    Greedily; ties go to the first in the table.
    """
    scale = _CATEGORIES * np.sqrt(len(units.sums) / max(1, len(units.categories)))
    features = np.concatenate([units.sums, scale * units.categories]).T
    target = features.sum(0) / units.sizes.sum()
    off = features - units.sizes[:, None] * target  # what each adds to the distance, times its size
    squares, total = (off**2).sum(1), np.zeros(off.shape[1])
    free, chosen, n = np.ones(len(off), dtype=bool), [], 0.0
    while n < size and free.any():
        distance = (squares + 2 * off @ total + total @ total) / (n + units.sizes) ** 2
        best = int(np.where(free, distance, np.inf).argmin())
        chosen.append(best)
        free[best] = False
        total = total + off[best]
        n += units.sizes[best]
    return chosen


def _means(units: SubsetUnits, order: Sequence[int] | Codes, sizes: Sequence[int]) -> Floats:
    """Model means over the first units that reach each number of questions; (sizes, models)."""
    first = np.asarray(order)[: max(sizes)]
    questions = units.sizes[first].cumsum()
    last = np.minimum(np.searchsorted(questions, sizes), len(first) - 1)
    return np.asarray((units.sums[:, first].cumsum(1)[:, last] / questions[last]).T)


def _folds(n_models: int) -> Iterator[Codes]:
    folds = n_models if n_models < 2 * _FOLDS else _FOLDS
    for first in range(folds):
        yield np.arange(first, n_models, folds)


def _sentence(best: SubsetTrial, n_models: int, n: int) -> str:
    figures = (
        f"Kendall's tau {best.tau:.2f} (random ones of this size: {best.random_tau:.2f}), means "
        f"off by {best.error:.3f} ({best.random_error:.3f})"
    )
    if best.tau < _MIN_TAU:
        return (
            f"No part of up to {best.size} of {n} questions ranks {n_models} held-out models as "
            f"all do; the best has {figures}."
        )
    caveat = "" if n_models >= 8 else f" With {n_models} models that is a rough figure."
    worse = best.tau < best.random_tau and best.error > best.random_error
    return (
        f"{best.size} of {n} questions rank {n_models} held-out models as all do: {figures}."
        f"{' Random ones do as well.' if worse else ''}{caveat}"
    )
