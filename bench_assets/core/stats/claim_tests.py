"""Tests of claims: weighted sums of numbers with intervals, tested together.

The interval of a sum combines those of its cells (MOVER; Zou and Donner, 2008; Newcombe's for two
proportions). Cells are assumed independent; for unpaired cells with common questions the interval
is conservative.

A claim about every model has the largest p-value of all models (intersection-union); one about
models on average is tested by Student's t over models.

Published numbers have Wilson intervals on the paper's number of independent questions; without that
number there is no interval and no verdict.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf, isfinite, isnan, nan, sqrt
from statistics import NormalDist, fmean, stdev
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from bench_assets.core.schema.published_numbers import (
    Cell,
    Claim,
    ClaimResult,
    ClaimVerdict,
    DataSource,
    PublishedNumber,
)
from bench_assets.core.stats.means import share_interval, student_p, student_quantile
from bench_assets.core.stats.paired_tests import holm

_ALPHA = 0.05
_Z = NormalDist().inv_cdf(1 - _ALPHA / 2)


class ClaimNumber(NamedTuple):
    """A number with its 95 % interval; NaN if unknown."""

    said: str  # "GPT-4V acc_p 0.323"
    value: float
    low: float
    high: float
    n: int  # 0: unknown


class Difference(NamedTuple):
    """The weighted sum of a claim minus its margin; positive if it is as claimed."""

    value: float
    low: float
    high: float
    p: float | None  # None without an interval
    n: int
    why: str


Attempt: TypeAlias = Callable[[Claim, str], Difference | str]
"""Computes a claim's difference for one model, or the reason why there is none."""


def claim_difference(claim: Claim, numbers: Sequence[ClaimNumber]) -> Difference:
    """Sum the cells of a claim, in the order of its terms, minus its margin."""
    weights = [term.weight for term in claim.terms]
    value = sum(w * x.value for w, x in zip(weights, numbers, strict=True)) - claim.margin
    down = up = 0.0
    for weight, x in zip(weights, numbers, strict=True):
        lower_half, upper_half = x.value - x.low, x.high - x.value
        down += (weight * (lower_half if weight > 0 else upper_half)) ** 2
        up += (weight * (upper_half if weight > 0 else lower_half)) ** 2
    known = [x.n for x in numbers if x.low < x.high or isnan(x.low)]
    why = "; ".join(x.said for x in numbers)
    why += f"; more than {claim.margin:g} is claimed" if claim.margin else ""
    return difference_from_interval(
        value, value - sqrt(down), value + sqrt(up), min(known, default=0), why
    )


def difference_from_interval(value: float, low: float, high: float, n: int, why: str) -> Difference:
    """Build a difference with the p-value that its interval implies: 0.05 if an end is 0."""
    if not (isfinite(low) and isfinite(high)):
        return Difference(value, nan, nan, None, n, why)
    reach = value - low if value > 0 else high - value
    z = _Z * abs(value) / reach if reach else (0.0 if value == 0 else inf)
    return Difference(value, low, high, 2 * NormalDist().cdf(-z), n, why)


def evaluate_claims(
    suite: str,
    claims: Sequence[Claim],
    on: DataSource,
    models: Mapping[str, Sequence[str]],
    attempt: Attempt,
) -> list[ClaimResult]:
    """Test all claims of a paper; p-values are corrected for their number per model (Holm).

    Args:
        suite: Name of the suite.
        claims: The claims.
        on: Name of the data that they are tested on.
        models: Models to test, by name of the claim.
        attempt: Computes the difference of a claim for a model ("" for claims about named models),
            or the reason why it cannot be tested.

    Returns:
        For each claim one row over all models, then one per model.
    """
    rows = [
        replace(row, suite=suite, on=on)
        for claim in claims
        for row in _rows(claim, models[claim.name], attempt)
    ]
    by_model: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        if row.p is not None:
            by_model[row.model].append(number)
    for numbers in by_model.values():
        corrected = holm([rows[number].p or 0.0 for number in numbers])
        for number, p in zip(numbers, corrected, strict=True):
            rows[number] = replace(rows[number], p=p, verdict=_verdict(rows[number].value, p))
    return rows


def names_its_models(claim: Claim) -> bool:
    """Whether every cell of a claim is of a model that the claim names."""
    return all(term.cell.model for term in claim.terms)


def _rows(claim: Claim, models: Sequence[str], attempt: Attempt) -> Iterator[ClaimResult]:
    if names_its_models(claim):
        yield _row(claim, "", attempt(claim, ""))
        return
    each = {model: attempt(claim, model) for model in models}
    known = {model: one for model, one in each.items() if not isinstance(one, str)}
    problems = [one for one in each.values() if isinstance(one, str)]
    combined: Difference | str
    if known:
        combined = _weakest_result(known) if claim.of == "every model" else _mean_result(known)
    else:
        combined = problems[0] if problems else attempt(claim, "")
    yield _row(claim, "", combined)
    yield from (_row(claim, model, one) for model, one in each.items())


def _row(claim: Claim, model: str, found: Difference | str) -> ClaimResult:
    if isinstance(found, str):
        found = Difference(nan, nan, nan, None, 0, found)
    return ClaimResult(
        suite="",
        claim=claim.name,
        section=claim.section,
        sentence=claim.sentence,
        on="measured",
        model=model,
        verdict="cannot be told",
        value=found.value,
        low=found.low,
        high=found.high,
        p=found.p,
        n=found.n,
        why=found.why,
    )


def _weakest_result(each: Mapping[str, Difference]) -> Difference:
    """The strongest result against the claim, or the least certain one if none is against it."""
    against = [model for model, one in each.items() if one.value <= 0]
    count = f"as claimed for {len(each) - len(against)} of {len(each)} models"
    unsure = [model for model, one in each.items() if one.p is None]

    def doubt(model: str) -> tuple[float, float]:
        p = each[model].p
        return (1.0 if p is None else p), -each[model].value

    if against:
        model = min(against, key=lambda one: (doubt(one)[0], each[one].value))
        p = None if model in unsure else min(1.0, len(each) * doubt(model)[0])
    else:
        model = max(each, key=doubt)
        p = None if unsure else doubt(model)[0]
    role = "counterexample" if against else "least certain model"
    return each[model]._replace(p=p, why=f"{count}; {role} {model}: {each[model].why}")


def _mean_result(each: Mapping[str, Difference]) -> Difference:
    """The mean over models, by Student's t."""
    values = [one.value for one in each.values()]
    above = sum(value > 0 for value in values)
    count = f"as claimed for {above} of {len(values)} models"
    n = min(one.n for one in each.values())
    if len(values) == 1:
        (only,) = each.values()
        return only._replace(why=f"{count}: {only.why}")
    why = f"{count}; the mean over models, with the spread between them, on these questions"
    # Few questions that all models answered alike are not certain: see ``change_interval``.
    spread = max(stdev(values), 1 / (n + 2) if n else 0.0)
    value, error = fmean(values), spread / sqrt(len(values))
    if not error:
        return Difference(value, nan, nan, None, n, why)
    freedom = len(values) - 1
    half, p = error * student_quantile(freedom), student_p(value / error, freedom)
    return Difference(value, value - half, value + half, p, n, why)


def _verdict(value: float, p: float) -> ClaimVerdict:
    if isnan(value) or not p < _ALPHA:
        return "cannot be told"
    return "holds" if value > 0 else "does not hold"


_INTERVAL_NOTE = "intervals computed from the number of questions"


def evaluate_published_claims(
    suite: str, claims: Sequence[Claim], rows: Sequence[PublishedNumber]
) -> list[ClaimResult]:
    """Test the claims of a paper on its own numbers."""
    models = {claim.name: _models(claim, rows) for claim in claims}

    def attempt(claim: Claim, model: str) -> Difference | str:
        if claim.unprinted:
            return claim.unprinted
        if not model and not names_its_models(claim):
            return "the paper prints the needed numbers for no model"
        numbers = [_number(term.cell, model, claim, rows) for term in claim.terms]
        missing = [one for one in numbers if isinstance(one, str)]
        if missing:
            return missing[0]
        found = claim_difference(claim, [one for one in numbers if not isinstance(one, str)])
        note = "its number of questions is not printed" if found.p is None else _INTERVAL_NOTE
        return found._replace(why=f"{found.why}; {note}")

    return evaluate_claims(suite, claims, "published", models, attempt)


def _models(claim: Claim, rows: Sequence[PublishedNumber]) -> list[str]:
    """Models with all numbers that the claim needs, in the order of the table."""
    if claim.unprinted or names_its_models(claim):
        return []
    called = dict(claim.also_called)
    others = {*claim.but, *(term.cell.model for term in claim.terms)}
    names = dict.fromkeys(called.get(row.model, row.model) for row in rows)
    cells = [term.cell for term in claim.terms if not term.cell.model]
    return [
        name
        for name in claim.models or names
        if name not in others
        and all(find_published_number(cell, name, rows, called) for cell in cells)
    ]


def _number(
    cell: Cell, model: str, claim: Claim, rows: Sequence[PublishedNumber]
) -> ClaimNumber | str:
    model_name = cell.model or model
    row = find_published_number(cell, model_name, rows, dict(claim.also_called))
    if row is None:
        return f"the paper does not print {cell_label(cell, model_name)[:-1]}"
    return to_claim_number(cell, model_name, row)


def to_claim_number(cell: Cell, model: str, row: PublishedNumber) -> ClaimNumber:
    """A printed number with its interval; NaN ends if the paper does not give n."""
    low, high = nan, nan
    if cell.exact:
        low = high = row.value
    elif cell.n:
        low, high = share_interval(row.value, cell.n)
    return ClaimNumber(f"{cell_label(cell, model)} {row.value:g}", row.value, low, high, cell.n)


def find_published_number(
    cell: Cell,
    model: str,
    rows: Sequence[PublishedNumber],
    also_called: Mapping[str, str] = MappingProxyType({}),
) -> PublishedNumber | None:
    """The published number of a model in a cell; None if there is none.

    Args:
        cell: The cell.
        model: The model.
        rows: Published numbers.
        also_called: Aliases of models between the paper's tables.
    """
    wanted = (cell.task, model, cell.metric, cell.category, cell.condition)
    for row in rows:
        name = also_called.get(row.model, row.model)
        found = (row.task, name, row.metric, row.category, row.condition)
        if found == wanted and row.source.startswith(cell.source):
            return row
    return None


def cell_label(cell: Cell, model: str) -> str:
    """Format a cell's name for messages, ending with a colon."""
    parts = [cell.metric, *([] if cell.category == "all" else [cell.category])]
    parts += [] if cell.condition == "main" else [cell.condition]
    return f"{model}, {', '.join(parts)}:"
