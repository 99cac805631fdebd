"""Verdicts that may be looked at again and again without crying wolf more often for it.

Two things are looked at repeatedly. A model, while it answers more and more questions: there, a bet
against "it is not worse" is made on every question before it is looked at, and what the bet has won
at its best is evidence that holds whenever one stops (Waudby-Smith and Ramdas, *Estimating means of
bounded random variables by betting*, 2024). And a run, whose checkpoints come one after the other:
there, the chance of a false alarm is spent in parts that add up.
"""

from collections.abc import Iterable

_BOLDEST = 0.5  # of what may be lost at one question: no single one ends a bet


def p_worse(gains: Iterable[float]) -> float:
    """How surprising the losses are if a model is no worse, whenever one looks: an upper bound.

    With no chance above p is it ever as low as p, however often it is asked for while ``gains``
    grow. The order must not depend on the gains; the first bet is made before the first of them.

    Args:
        gains: What the model gained on each independent question or cluster, in [-1, 1].

    >>> p_worse([-1.0] * 20) < 0.001, p_worse([1.0, -1.0] * 50)
    (True, 1.0)
    """
    wealth = most = 1.0
    n, total, squares = 1, 0.0, 0.25  # as if one gain of nothing had been seen, spread by a half
    for gain in gains:
        bet = min(_BOLDEST, max(0.0, -total / n) / (squares / n + (total / n) ** 2))
        wealth *= 1 - bet * gain
        most = max(most, wealth)
        squares += (gain - total / n) ** 2
        total += gain
        n += 1
    return 1 / most


def alpha_of(comparison: int, alpha: float) -> float:
    """What the k-th comparison of a run may spend, from 1: over all, however many, alpha.

    >>> alpha_of(1, 0.05), round(sum(alpha_of(k, 0.05) for k in range(1, 10_000)), 4)
    (0.025, 0.05)
    """
    return alpha / (comparison * (comparison + 1))
