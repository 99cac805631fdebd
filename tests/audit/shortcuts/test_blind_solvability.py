"""Blind runs that guess, that know some answers, and that share a habit."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.audit import faults
from tests.audit.held import LETTERS, Held, exam, found
from tests.fakes.rows import prediction


def blind(held: Held, says: Callable[[np.random.Generator, str, int], str], runs: int = 3) -> Held:
    """Models that see all, and blind runs that say what a function says of key and number."""
    rng = np.random.default_rng(5)
    predictions = faults.responses(held, "good", "main", 0.9)
    for run in range(runs):
        predictions += [
            prediction(
                question_id=one.question_id,
                model=f"m{run}",
                condition="no_image",
                text=says(rng, one.answer[0], number),
                decoding="m",
            )
            for number, one in enumerate(held.questions)
        ]
    return replace(held, responses=predictions)


def guess(rng: np.random.Generator, key: str, number: int) -> str:
    return str(rng.choice(list(LETTERS)))


def know_some(share: float) -> Callable[[np.random.Generator, str, int], str]:
    """Every 1/share-th question is solved by all, the others are guessed."""
    every = round(1 / share)
    return lambda rng, key, number: key if number % every == 0 else guess(rng, key, number)


@pytest.mark.parametrize(
    ("n", "runs", "share"), [(200, 3, 0.15), (120, 5, 0.15), (400, 1, 0.15), (300, 3, 0.1)]
)
def test_a_small_share_of_blind_solvable_questions_is_found(
    n: int, runs: int, share: float
) -> None:
    held = blind(exam("choice", n), know_some(share), runs)
    finding = found(held, "needs_images")
    assert not finding.passed
    named = {one.about for one in finding.suspects}
    solved = {one.question_id for one in held.questions[:: round(1 / share)]}
    assert solved <= named


@pytest.mark.parametrize("seed", range(5))
def test_a_habit_that_blind_runs_share_is_no_knowledge(seed: int) -> None:
    habit = np.random.default_rng(seed).choice(list(LETTERS), 200, p=[0.7, 0.1, 0.1, 0.1])
    held = blind(exam("choice", 200, seed), lambda rng, key, number: str(habit[number]))
    assert found(held, "needs_images").passed
