"""Faults that only models' answers show, planted in an exam with questions of one choice."""

from dataclasses import replace

import numpy as np

from bench_assets.core.schema.rows import Prediction
from tests.audit.held import LETTERS, Held

_ABILITIES = np.linspace(-0.5, 2.5, 12)  # of the models, in logits


def answered_by_many(held: Held) -> Held:
    """Twelve models, none a copy of another: each knows, or takes an option at random."""
    rng = np.random.default_rng(16)
    choices = [one for one in held.questions if one.kind == "choice"]
    ease = rng.normal(0, 1, len(choices))
    predictions = [
        Prediction(
            question_id=one.question_id,
            model=f"model {number:02}",
            condition="main",
            text=one.answer[0] if knows else LETTERS[int(rng.integers(len(one.options)))],
        )
        for number, ability in enumerate(_ABILITIES)
        for one, knows in zip(
            choices, rng.random(len(choices)) < 1 / (1 + np.exp(-ability - ease)), strict=True
        )
    ]
    return replace(held, questions=choices, responses=predictions)


def wrong_keys(held: Held) -> Held:
    """Make the next letter the key of five questions that all have answered."""
    exam = answered_by_many(held)
    at = set(np.random.default_rng(5).choice(len(exam.questions), 5, replace=False).tolist())
    changed = [
        replace(one, answer=(LETTERS[(LETTERS.index(one.answer[0]) + 1) % len(one.options)],))
        if number in at
        else one
        for number, one in enumerate(exam.questions)
    ]
    return replace(exam, questions=changed)
