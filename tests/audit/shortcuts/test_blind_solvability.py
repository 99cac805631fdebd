from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from tests.audit import faults
from tests.audit.memory_evidence import LETTERS, MemoryEvidence, fair_exam, run_check
from tests.fakes.rows import prediction

BlindAnswer = Callable[[np.random.Generator, str, int], str]
"""The response to a question, from its key and its number."""


def add_responses(evidence: MemoryEvidence, respond: BlindAnswer, runs: int = 3) -> MemoryEvidence:
    """Add a model that sees the images and blind runs that respond with ``respond``."""
    rng = np.random.default_rng(5)
    predictions = faults.responses(evidence, "good", "main", 0.9)
    for run in range(runs):
        predictions += [
            prediction(
                question_id=question.question_id,
                model=f"m{run}",
                condition="no_image",
                text=respond(rng, "".join(question.answer), number),
                decoding="m",
            )
            for number, question in enumerate(evidence.questions)
        ]
    return replace(evidence, responses=predictions)


def guess(rng: np.random.Generator, key: str, number: int) -> str:
    return str(rng.choice(list(LETTERS)))


def know_every(n: int) -> BlindAnswer:
    """Every n-th question is solved, the others are guessed."""
    return lambda rng, key, number: key if number % n == 0 else guess(rng, key, number)


@pytest.mark.parametrize(
    ("n", "runs", "known_every"), [(200, 3, 7), (120, 5, 7), (400, 1, 7), (300, 3, 10)]
)
def test_few_blind_solvable_questions_are_found(n: int, runs: int, known_every: int) -> None:
    evidence = add_responses(fair_exam("choice", n), know_every(known_every), runs)
    finding = run_check(evidence, "needs_images")
    assert not finding.passed
    solved = {question.question_id for question in evidence.questions[::known_every]}
    assert solved <= {suspect.about for suspect in finding.suspects}


@pytest.mark.parametrize("seed", range(5))
def test_letters_that_all_blind_runs_prefer_are_no_knowledge(seed: int) -> None:
    habit = np.random.default_rng(seed).choice(list(LETTERS), 200, p=[0.7, 0.1, 0.1, 0.1])
    evidence = add_responses(
        fair_exam("choice", 200, seed), lambda rng, key, number: str(habit[number])
    )
    assert run_check(evidence, "needs_images").passed


def test_a_letter_of_a_key_of_two_is_not_right_by_chance() -> None:
    """A quarter of the keys is known; a guess of one letter is never a key of two."""
    exam = fair_exam("choices", 300)
    pairs = [*combinations(LETTERS, 2)]
    questions = [
        replace(question, answer=pairs[number % len(pairs)])
        for number, question in enumerate(exam.questions)
    ]
    evidence = add_responses(replace(exam, questions=questions), know_every(4))
    assert not run_check(evidence, "needs_images").passed
