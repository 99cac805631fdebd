"""Position bias: consistency of a model over option permutations.

Without position bias, a model chooses the same option in every order of a question. The expected
letters are those of its choices over all orders; for all n rotations of n options, each letter
occurs once in n responses, whatever the key is.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from string import ascii_uppercase
from typing import NamedTuple, TypeAlias

from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.core.stats.paired_tests import (
    PairedScores,
    change_interval,
    mean_change,
    paired_t_test,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFigure:
    """A measured figure of option permutations."""

    task: str
    model: str
    figure: str
    value: float
    low: float  # of the 95 % interval
    high: float
    n: int  # questions
    n_unscored: int = 0  # questions with an unscored response, or one that names no option
    expected: float = nan  # without position bias; NaN: unknown
    p: float = nan  # two-sided p-value of the deviation; NaN: not tested


CIRCULAR = "circular"
"""Share of questions that are answered right in every order."""

ALL_ORDERS = "all_orders"
"""Share of points over all orders."""

CONSISTENCY = "consistent"
"""Share of questions with the same option chosen in every order."""

PUBLISHED_ORDER_GAIN = "published_order_gains"
"""Share of points in the benchmark's order minus that in the other orders."""

ORDER = "order_"
"""Share of points in one order: ``order_1`` is the benchmark's."""

LETTER = "letter_"
"""Share of responses that choose a letter: ``letter_A``."""


class PermutationOutcome(NamedTuple):
    """Points and choice of a model in one order of one question."""

    number: int  # of the order; 1: the benchmark's
    places: tuple[int, ...]  # of each option as shown: its index in the benchmark
    share: float | None  # of the question's points; None: unscored
    place: int | None  # index of the chosen option as shown; None: no option was parsed


MakeFigure: TypeAlias = Callable[..., OrderFigure]
_ByQuestion: TypeAlias = Mapping[str, Sequence[PermutationOutcome]]


def figures_of(
    outcomes: _ByQuestion, cluster: Mapping[str, str], make_figure: MakeFigure
) -> list[OrderFigure]:
    """Figures of a model's responses in several orders.

    Args:
        outcomes: Outcomes of every order, by question id.
        cluster: Cluster of each question.
        make_figure: Builds a figure with the model, task and time filled in.
    """
    figures = [
        *_shares(outcomes, cluster, make_figure),
        *_gain_figures(outcomes, cluster, make_figure),
        *_letters(outcomes, cluster, make_figure),
    ]
    return [figure for figure in figures if figure.n]


def _shares(
    outcomes: _ByQuestion, cluster: Mapping[str, str], make_figure: MakeFigure
) -> Iterator[OrderFigure]:
    """Accuracy by order and overall, share of questions right in all orders, and consistency."""

    def over(
        name: str, value: Callable[[Sequence[PermutationOutcome]], float | None]
    ) -> OrderFigure:
        return _figure(
            name,
            mean(ScoredPoint(value(rows), cluster[q]) for q, rows in outcomes.items()),
            make_figure,
        )

    for number in sorted({row.number for rows in outcomes.values() for row in rows}):
        points = [
            ScoredPoint(row.share, cluster[question])
            for question, rows in outcomes.items()
            for row in rows
            if row.number == number
        ]
        yield _figure(f"{ORDER}{number}", mean(points), make_figure)
    yield over(ALL_ORDERS, _mean_share)
    yield over(CIRCULAR, _right_in_all)
    by_chance = [
        _chance_consistency(rows) for rows in outcomes.values() if _is_consistent(rows) is not None
    ]
    chance = sum(by_chance) / len(by_chance) if by_chance else nan
    yield _figure(
        CONSISTENCY,
        mean(ScoredPoint(_is_consistent(rows), cluster[q]) for q, rows in outcomes.items()),
        make_figure,
        chance,
    )


def _chance_consistency(rows: Sequence[PermutationOutcome]) -> float:
    """Expected consistency of random letters over all orders."""
    return float((1 / len(rows[0].places)) ** (len(rows) - 1))


def _mean_share(rows: Sequence[PermutationOutcome]) -> float | None:
    shares = [row.share for row in rows if row.share is not None]
    return sum(shares) / len(shares) if len(shares) == len(rows) else None


def _right_in_all(rows: Sequence[PermutationOutcome]) -> float | None:
    shares = [row.share for row in rows if row.share is not None]
    return float(min(shares) >= 1) if len(shares) == len(rows) else None


def _is_consistent(rows: Sequence[PermutationOutcome]) -> float | None:
    chosen = [row.places[row.place] for row in rows if row.place is not None]
    return float(len(set(chosen)) == 1) if len(chosen) == len(rows) else None


def _gain_figures(
    outcomes: _ByQuestion, cluster: Mapping[str, str], make_figure: MakeFigure
) -> Iterator[OrderFigure]:
    """Gain of the benchmark's order over the mean of the others, by question."""
    pairs = []
    for question, rows in outcomes.items():
        own_shares = [row.share for row in rows if row.number == 1]
        other_shares = [row.share for row in rows if row.number > 1 and row.share is not None]
        is_complete = other_shares and len(other_shares) == len(rows) - 1
        if is_complete and own_shares[0] is not None:
            pairs.append(
                PairedScores(
                    sum(other_shares) / len(other_shares), own_shares[0], cluster[question]
                )
            )
    if pairs:
        low, high, p = _change(pairs)
        yield make_figure(
            figure=PUBLISHED_ORDER_GAIN,
            value=mean_change(pairs),
            low=low,
            high=high,
            n=len(pairs),
            n_unscored=len(outcomes) - len(pairs),
            expected=0.0,
            p=p,
        )


def _letters(
    outcomes: _ByQuestion, cluster: Mapping[str, str], make_figure: MakeFigure
) -> Iterator[OrderFigure]:
    """Frequency of each letter, and the frequency expected for the same choices."""
    pairs: dict[int, list[PairedScores]] = defaultdict(list)
    read = {q: [row for row in rows if row.place is not None] for q, rows in outcomes.items()}
    read = {question: rows for question, rows in read.items() if len(rows) > 1}
    most = max((len(rows[0].places) for rows in read.values()), default=0)
    for question, rows in read.items():
        observed_shares, expected_shares = _places(rows, most)
        for position in range(most):
            pairs[position].append(
                PairedScores(
                    expected_shares[position], observed_shares[position], cluster[question]
                )
            )
    for position, of_letter in pairs.items():
        expected = sum(pair.before for pair in of_letter) / len(of_letter)
        low, high, p = _change(of_letter)
        yield make_figure(
            figure=f"{LETTER}{ascii_uppercase[position]}",
            value=expected + mean_change(of_letter),
            low=max(0.0, expected + low),
            high=min(1.0, expected + high),
            n=len(of_letter),
            n_unscored=len(outcomes) - len(read),
            expected=expected,
            p=p,
        )


def _places(rows: Sequence[PermutationOutcome], most: int) -> tuple[list[float], list[float]]:
    """Share of a question's responses at each place, and the expected one for its choices."""
    observed_shares, expected_shares = [0.0] * most, [0.0] * most
    for row in rows:
        if row.place is None:
            continue
        observed_shares[row.place] += 1 / len(rows)
        for counterpart in rows:
            expected_shares[counterpart.places.index(row.places[row.place])] += 1 / len(rows) ** 2
    return observed_shares, expected_shares


def _change(pairs: Sequence[PairedScores]) -> tuple[float, float, float]:
    """Interval of a change in shares, and its two-sided p-value."""
    low, high = change_interval(pairs)
    return max(-1.0, low), min(1.0, high), paired_t_test(pairs).p


def _figure(name: str, found: Mean, make_figure: MakeFigure, expected: float = nan) -> OrderFigure:
    return make_figure(
        figure=name,
        value=found.value,
        low=found.low,
        high=found.high,
        n=found.n_scored,
        n_unscored=found.n_unscored,
        expected=expected,
    )
