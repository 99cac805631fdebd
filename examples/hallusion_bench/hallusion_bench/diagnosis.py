"""Why a model fails: the decision tree of section 4.3.4, as the authors' ``utils.py`` has it."""

from typing import Literal, NamedTuple, TypeAlias

from bench_assets.evaluation.task import ScoredQuestion
from hallusion_bench.scoring import DIFFERENT, SAME

Failure: TypeAlias = Literal["language hallucination", "visual illusion", "mixed"]
Verdict: TypeAlias = Literal["correct", "incorrect", "unclear"]

_LANGUAGE: Failure = "language hallucination"
_VISUAL: Failure = "visual illusion"
_MIXED: Failure = "mixed"


class Case(NamedTuple):
    """One response, and what became of the same question about figure 0 of its set."""

    category: str  # "VD" or "VS"
    visual_input: str
    said: Verdict
    original: Verdict | None = None  # None: the question is about figure 0 itself
    same: bool | None = None  # whether both responses say the same; None if nobody looked


def diagnose(case: Case) -> Failure | None:
    """Name the type of a failure; None if there is none, or nobody looked where the tree looks.

    >>> diagnose(Case("VS", "2", "incorrect", original="correct", same=True))
    'language hallucination'
    """
    if case.said == "correct":
        return None
    if case.original is None:
        return _without_original(case)
    return _dependent(case) if case.category == "VD" else _supplement(case)


def case_of(scored: ScoredQuestion, original: ScoredQuestion | None) -> Case:
    """Put together what the tree looks at.

    Args:
        scored: The response.
        original: The one about figure 0; None for that one itself.
    """
    question, score = scored
    return Case(
        category=question.category.split("/")[0],
        visual_input=question.labels["visual_input"],
        said=_verdict(scored),
        original=_verdict(original) if original else None,
        same={SAME: True, DIFFERENT: False}.get(score.note),
    )


def _without_original(case: Case) -> Failure | None:
    if case.category == "VD":
        return _VISUAL
    return _LANGUAGE if case.said == "incorrect" else None  # not to know is right without a figure


def _dependent(case: Case) -> Failure | None:
    if case.original == "correct" and case.said == "incorrect":
        return _by_sameness(case, same=_MIXED, different=_VISUAL)
    return _VISUAL


def _supplement(case: Case) -> Failure | None:
    if case.original == "incorrect":
        if case.said == "unclear":
            return _MIXED
        return _by_sameness(case, same=_LANGUAGE, different=_MIXED)
    if case.original == "correct" and case.said == "incorrect" and case.visual_input == "2":
        return _by_sameness(case, same=_LANGUAGE, different=_VISUAL)
    return _VISUAL


def _by_sameness(case: Case, *, same: Failure, different: Failure) -> Failure | None:
    return None if case.same is None else same if case.same else different


def _verdict(scored: ScoredQuestion) -> Verdict:
    question, score = scored
    if not score.answer:
        return "unclear"
    return "correct" if score.answer[0] == question.answer[0] else "incorrect"
