"""Models that answer by an option's place or by what it says, and their figures."""

from collections.abc import Callable
from functools import partial

from bench_assets.audit.robustness.position_bias import OrderFigure, PermutationOutcome, figures_of

WHOSE = partial(OrderFigure, task="exam", model="m")


def shifted_responses(
    choose: Callable[[int, tuple[int, ...]], int | None], n: int = 40, k: int = 4
):
    """What one says who is shown k options in all their shifts; the key is at the place n % k."""
    responses = {}
    for question in range(n):
        rows = []
        for number in range(1, k + 1):
            places = tuple((place + number - 1) % k for place in range(k))
            place = choose(question, places)
            right = place is not None and places[place] == question % k
            rows.append(PermutationOutcome(number, places, float(right), place))
        responses[str(question)] = rows
    return responses


def figures(responses, labels=WHOSE):
    made = figures_of(responses, {name: name for name in responses}, labels)
    return {one.figure: one for one in made}


def first(_, places):
    return 0
