"""Models that answer by an option's place or by what it says, and their figures."""

from collections.abc import Callable
from functools import partial

from bench_assets.audit.robustness.position_bias import PermutationOutcome, figures_of
from bench_assets.core.schema.measured_figures import OrderFigure

WHOSE = partial(OrderFigure, task="exam", model="m", setup="", data="", orders=0, at="2026")


def said(choose: Callable[[int, tuple[int, ...]], int | None], n: int = 40, k: int = 4):
    """What one says who is shown k options in all their shifts; the key is at the place n % k."""
    responses = {}
    for asked in range(n):
        rows = []
        for number in range(1, k + 1):
            places = tuple((place + number - 1) % k for place in range(k))
            place = choose(asked, places)
            right = place is not None and places[place] == asked % k
            rows.append(PermutationOutcome(number, places, float(right), place))
        responses[str(asked)] = rows
    return responses


def figures(responses, told=WHOSE):
    made = figures_of(responses, {asked: asked for asked in responses}, told)
    return {one.figure: one for one in made}


def first(_, places):
    return 0


def knowing(asked, places):
    """Knows three of four, and takes the next option of the others."""
    return places.index(asked % 4 if asked % 8 < 6 else (asked + 1) % 4)
