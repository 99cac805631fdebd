"""Answers of simulated models of known skill, as evidence for checks."""

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
class AnswersEvidence:
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    questions: Sequence[Question]
    main_results: Results
    task: Task = TASK

    def results(self, condition: str = "main") -> Results:
        return self.main_results


def evidence_of_answers(codes: Codes, key: Codes, categories: int = 1) -> AnswersEvidence:
    """Evidence of answers to questions with four options.

    ``codes`` are indices of options by model and question, -1 for no answer.
    """
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
        questions=tuple(question.question_id for question in questions),
        points=(codes == key).astype(float),
        answers=np.where(codes < 0, "", LETTERS[codes]),
    )
    return AnswersEvidence(questions, results)


def draw_solved(ability, slope, ease, rng):
    """Draw which questions models solve by a two-parameter logistic model; (models, questions)."""
    chances = 1 / (1 + np.exp(-(np.outer(ability, slope) + ease)))
    return np.asarray(rng.random(chances.shape) < chances)


def draw_answers(ability, n, rng, lure=1.0):
    """Draw answers and keys of questions with four options: (answers, keys).

    Args:
        ability: Of each model, in logits; with 0 a model knows half of the questions.
        n: Number of questions.
        rng: Source of the draws.
        lure: Concentration of the Dirichlet distribution of guesses: the lower, the more do
            guessing models agree. The check itself assumes another distribution.
    """
    knows = draw_solved(
        np.array(ability), np.exp(rng.normal(0, 0.4, n)), rng.normal(0, 1.2, n), rng
    )
    key = rng.integers(4, size=n)
    lures = rng.dirichlet(np.full(4, lure), size=n).cumsum(1)
    guesses = (rng.random((len(ability), n))[:, :, None] > lures).sum(2).clip(max=3)
    return np.where(knows, key, guesses), key


def plant_wrong_keys(key: Codes, n: int, rng: np.random.Generator) -> tuple[Codes, set[str]]:
    """Plant wrong keys: (all keys, ids of the questions whose key is wrong)."""
    wrong = rng.choice(key.size, n, replace=False)
    planted = key.copy()
    planted[wrong] = (key[wrong] + rng.integers(1, 4, size=n)) % 4
    return planted, {f"quiz/{j}" for j in wrong}
