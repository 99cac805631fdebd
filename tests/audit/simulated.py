"""Models of known skill, and what they answer; an evidence that holds nothing but that."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bench_assets.audit.framework.evidence import Results
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.task import Task
from tests.fakes.quiz import TASK
from tests.fakes.rows import question

LETTERS = np.array(list("ABCD"), dtype=object)

Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Answers:
    """An evidence of answers alone."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    questions: Sequence[Question]
    found: Results
    task: Task = TASK

    def results(self, condition: str = "main") -> Results:
        return self.found


def answers_of(codes: Codes, key: Codes, categories: int = 1) -> Answers:
    """Evidence of answers to questions with four options: numbers of options, -1 for none."""
    questions = [
        question(
            question_id=f"quiz/{j}",
            task="quiz",
            kind="choice",
            options=("one", "two", "three", "four"),
            answer=(LETTERS[right],),
            text=f"What is {j}?",
            category=f"kind {j % categories}",
        )
        for j, right in enumerate(key)
    ]
    results = Results(
        models=tuple(f"model {m}" for m in range(len(codes))),
        questions=tuple(one.question_id for one in questions),
        points=(codes == key).astype(float),
        answers=np.where(codes < 0, "", LETTERS[codes]),
    )
    return Answers(questions, results)


def solved(
    ability: npt.NDArray[np.float64],
    slope: npt.NDArray[np.float64],
    ease: npt.NDArray[np.float64],
    rng: np.random.Generator,
) -> npt.NDArray[np.bool_]:
    """Draw which questions models solve by a two-parameter logistic model; (models, questions)."""
    chances = 1 / (1 + np.exp(-(np.outer(ability, slope) + ease)))
    return np.asarray(rng.random(chances.shape) < chances)


def responses(
    ability: Sequence[float], n: int, rng: np.random.Generator, lure: float = 1.0
) -> tuple[Codes, Codes]:
    """Draw answers and keys of questions with four options, which differ and mislead.

    Args:
        ability: Of each model, in logits; 0 knows half of the questions.
        n: How many questions.
        rng: Draws.
        lure: Of the Dirichlet distribution of what is guessed: the lower, the more do models that
            guess agree; it is not the distribution that our own model of answers supposes.
    """
    knows = solved(np.array(ability), np.exp(rng.normal(0, 0.4, n)), rng.normal(0, 1.2, n), rng)
    key = rng.integers(4, size=n)
    lures = rng.dirichlet(np.full(4, lure), size=n).cumsum(1)
    guesses = (rng.random((len(ability), n))[:, :, None] > lures).sum(2).clip(max=3)
    return np.where(knows, key, guesses), key


def with_wrong_keys(key: Codes, n: int, rng: np.random.Generator) -> tuple[Codes, set[str]]:
    """Plant wrong keys: (all keys, ids of the questions whose key is wrong)."""
    at = rng.choice(key.size, n, replace=False)
    planted = key.copy()
    planted[at] = (key[at] + rng.integers(1, 4, size=n)) % 4
    return planted, {f"quiz/{j}" for j in at}
