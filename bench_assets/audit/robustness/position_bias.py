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
    """A measured figure of option permutations; docs/audit.md explains each."""

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


class PermutationOutcome(NamedTuple):
    """Points and choice of a model in one order of one question."""

    number: int  # of the order; 1: the benchmark's
    places: tuple[int, ...]  # of each option as shown: its index in the benchmark
    share: float | None  # of the question's points; None: unscored
    place: int | None  # index of the chosen option as shown; None: no option was parsed


_MakeFigure: TypeAlias = Callable[..., OrderFigure]
_Outcomes: TypeAlias = Mapping[str, Sequence[PermutationOutcome]]  # by question


def figures_of(
    outcomes: _Outcomes, clusters: Mapping[str, str], make_figure: _MakeFigure
) -> list[OrderFigure]:
    """Compute the figures of a model's responses in several orders; none without scores.

    Args:
        outcomes: Outcomes of every order, by question id.
        clusters: Cluster of each question.
        make_figure: Builds a figure with the model and task filled in.
    """
    figures = [
        *_share_figures(outcomes, clusters, make_figure),
        *_gain_figures(outcomes, clusters, make_figure),
        *_letter_figures(outcomes, clusters, make_figure),
    ]
    return [figure for figure in figures if figure.n]


def _share_figures(
    outcomes: _Outcomes, clusters: Mapping[str, str], make_figure: _MakeFigure
) -> Iterator[OrderFigure]:
    """Accuracy by order and overall, share of questions right in all orders, and consistency."""
    for number in sorted({row.number for rows in outcomes.values() for row in rows}):
        points = [
            ScoredPoint(row.share, clusters[question_id])
            for question_id, rows in outcomes.items()
            for row in rows
            if row.number == number
        ]
        yield _mean_figure(f"order_{number}", mean(points), make_figure)
    yield _mean_figure("all_orders", _mean_over(outcomes, clusters, _mean_share), make_figure)
    yield _mean_figure("circular", _mean_over(outcomes, clusters, _right_in_all), make_figure)
    by_chance = [  # of random letters
        (1 / len(rows[0].places)) ** (len(rows) - 1)
        for rows in outcomes.values()
        if _consistency(rows) is not None
    ]
    chance = sum(by_chance) / len(by_chance) if by_chance else nan
    consistency = _mean_over(outcomes, clusters, _consistency)
    yield _mean_figure("consistent", consistency, make_figure, chance)


def _mean_over(
    outcomes: _Outcomes,
    clusters: Mapping[str, str],
    measure: Callable[[Sequence[PermutationOutcome]], float | None],
) -> Mean:
    """Average a measure of a question's outcomes over questions."""
    return mean(
        ScoredPoint(measure(rows), clusters[question_id]) for question_id, rows in outcomes.items()
    )


def _mean_share(rows: Sequence[PermutationOutcome]) -> float | None:
    """Share of points over all orders; None if a response is unscored."""
    shares = [row.share for row in rows if row.share is not None]
    return sum(shares) / len(shares) if len(shares) == len(rows) else None


def _right_in_all(rows: Sequence[PermutationOutcome]) -> float | None:
    """1 if a question is answered right in every order, else 0; None if a response is unscored."""
    shares = [row.share for row in rows if row.share is not None]
    return float(min(shares) >= 1) if len(shares) == len(rows) else None


def _consistency(rows: Sequence[PermutationOutcome]) -> float | None:
    """1 if the same option is chosen in every order, else 0; None if a response names none."""
    chosen = [row.places[row.place] for row in rows if row.place is not None]
    return float(len(set(chosen)) == 1) if len(chosen) == len(rows) else None


def _gain_figures(
    outcomes: _Outcomes, clusters: Mapping[str, str], make_figure: _MakeFigure
) -> Iterator[OrderFigure]:
    """Gain of the benchmark's order over the mean of the others, on questions scored in all orders.

    There is none without such questions.
    """
    pairs = []
    for question_id, rows in outcomes.items():
        published = [row.share for row in rows if row.number == 1 and row.share is not None]
        others = [row.share for row in rows if row.number > 1 and row.share is not None]
        if published and others and len(others) == len(rows) - 1:
            others_mean = sum(others) / len(others)
            cluster = clusters[question_id]
            pairs.append(PairedScores(before=others_mean, after=published[0], cluster=cluster))
    if pairs:
        low, high, p = _change(pairs)
        yield make_figure(
            figure="published_order_gains",
            value=mean_change(pairs),
            low=low,
            high=high,
            n=len(pairs),
            n_unscored=len(outcomes) - len(pairs),
            expected=0.0,
            p=p,
        )


def _letter_figures(
    outcomes: _Outcomes, clusters: Mapping[str, str], make_figure: _MakeFigure
) -> Iterator[OrderFigure]:
    """Frequency of each letter, and the frequency expected for the same choices."""
    parsed = {q: [row for row in rows if row.place is not None] for q, rows in outcomes.items()}
    parsed = {question_id: rows for question_id, rows in parsed.items() if len(rows) > 1}
    n_letters = max((len(rows[0].places) for rows in parsed.values()), default=0)
    pairs_by_letter: dict[str, list[PairedScores]] = defaultdict(list)
    for question_id, rows in parsed.items():
        observed_shares, expected_shares = _letter_shares(rows, n_letters)
        for letter, observed, expected in zip(
            ascii_uppercase, observed_shares, expected_shares, strict=False
        ):
            pairs_by_letter[letter].append(
                PairedScores(before=expected, after=observed, cluster=clusters[question_id])
            )
    for letter, pairs in pairs_by_letter.items():
        mean_expected = sum(pair.before for pair in pairs) / len(pairs)
        low, high, p = _change(pairs)
        yield make_figure(
            figure=f"letter_{letter}",
            value=mean_expected + mean_change(pairs),
            low=max(0.0, mean_expected + low),
            high=min(1.0, mean_expected + high),
            n=len(pairs),
            n_unscored=len(outcomes) - len(parsed),
            expected=mean_expected,
            p=p,
        )


def _letter_shares(
    rows: Sequence[PermutationOutcome], n_letters: int
) -> tuple[list[float], list[float]]:
    """Share of a question's responses with each letter, and the one expected for its choices."""
    observed_shares, expected_shares = [0.0] * n_letters, [0.0] * n_letters
    for row in rows:
        if row.place is None:
            continue
        option = row.places[row.place]
        observed_shares[row.place] += 1 / len(rows)
        for other_row in rows:
            expected_shares[other_row.places.index(option)] += 1 / len(rows) ** 2
    return observed_shares, expected_shares


def _change(pairs: Sequence[PairedScores]) -> tuple[float, float, float]:
    """Interval of a change in shares, cut off at -1 and 1, and its two-sided p-value."""
    low, high = change_interval(pairs)
    return max(-1.0, low), min(1.0, high), paired_t_test(pairs)


def _mean_figure(
    name: str, average: Mean, make_figure: _MakeFigure, expected: float = nan
) -> OrderFigure:
    return make_figure(
        figure=name,
        value=average.value,
        low=average.low,
        high=average.high,
        n=average.n_scored,
        n_unscored=average.n_unscored,
        expected=expected,
    )
