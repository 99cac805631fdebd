"""Tries claims on the numbers that papers print.

A paper prints no intervals; a share's is Wilson's on the number of questions that the paper counts,
each taken for independent. Where it counts none, there is no interval and no verdict.
"""

from collections.abc import Mapping, Sequence
from math import nan
from types import MappingProxyType

from bench_assets.core.claims import Cell, Claim, Tried
from bench_assets.core.published import Published
from bench_assets.core.stats import share_interval
from bench_assets.core.trying import Difference, Number, is_about_named, summed, tried

_COUNTED = "intervals from how many questions there were"


def tried_as_printed(suite: str, claims: Sequence[Claim], rows: Sequence[Published]) -> list[Tried]:
    """Try the claims of a paper on its own numbers, those of its suite."""
    models = {claim.name: _models(claim, rows) for claim in claims}

    def attempt(claim: Claim, model: str) -> Difference | str:
        if claim.unprinted:
            return claim.unprinted
        if not model and not is_about_named(claim):
            return "the paper prints the numbers that it takes of no model"
        numbers = [_number(term.cell, model, claim, rows) for term in claim.terms]
        missing = [one for one in numbers if isinstance(one, str)]
        if missing:
            return missing[0]
        found = summed(claim, [one for one in numbers if not isinstance(one, str)])
        note = "its number of questions is not printed" if found.p is None else _COUNTED
        return found._replace(why=f"{found.why}; {note}")

    return tried(suite, claims, "published", models, attempt)


def _models(claim: Claim, rows: Sequence[Published]) -> list[str]:
    """Models that have every number that the claim takes, in the order of the table."""
    if claim.unprinted or is_about_named(claim):
        return []
    called = dict(claim.also_called)
    others = {*claim.but, *(term.cell.model for term in claim.terms)}
    names = dict.fromkeys(called.get(row.model, row.model) for row in rows)
    cells = [term.cell for term in claim.terms if not term.cell.model]
    return [
        name
        for name in claim.models or names
        if name not in others and all(printed_row(cell, name, rows, called) for cell in cells)
    ]


def _number(cell: Cell, model: str, claim: Claim, rows: Sequence[Published]) -> Number | str:
    whose = cell.model or model
    row = printed_row(cell, whose, rows, dict(claim.also_called))
    if row is None:
        return f"the paper does not print {said(cell, whose)[:-1]}"
    return printed_number(cell, whose, row)


def printed_number(cell: Cell, model: str, row: Published) -> Number:
    """A printed number with its interval, if the paper says of how many it is."""
    low, high = nan, nan
    if cell.exact:
        low = high = row.value
    elif cell.n:
        low, high = share_interval(row.value, cell.n)
    return Number(f"{said(cell, model)} {row.value:g}", row.value, low, high, cell.n)


def printed_row(
    cell: Cell,
    model: str,
    rows: Sequence[Published],
    also_called: Mapping[str, str] = MappingProxyType({}),
) -> Published | None:
    """The number of a model that a cell names; None if the paper prints none.

    Args:
        cell: Which number.
        model: Whose.
        rows: What the paper prints.
        also_called: Name in one of its tables -> name in the others.
    """
    wanted = (cell.task, model, cell.metric, cell.category, cell.condition)
    for row in rows:
        name = also_called.get(row.model, row.model)
        found = (row.task, name, row.metric, row.category, row.condition)
        if found == wanted and row.source.startswith(cell.source):
            return row
    return None


def said(cell: Cell, model: str) -> str:
    """Name a cell, for people."""
    parts = [cell.metric, *([] if cell.category == "all" else [cell.category])]
    parts += [] if cell.condition == "main" else [cell.condition]
    return f"{model}, {', '.join(parts)}:"
