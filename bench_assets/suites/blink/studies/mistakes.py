"""What models get wrong: together, and in samples to be read (section 4.3, appendix C.2)."""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from bench_assets.core.schema.rows import Prediction, Question, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonMistakes:
    """How many mistakes two models share on the questions that both were scored on."""

    model: str
    other: str
    n_questions: int
    n_mistakes: int
    n_mistakes_other: int
    n_common: int
    n_expected: float  # common ones if each model's mistakes said nothing of the other's


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A wrong answer, with all that is needed to find out why."""

    question_id: str
    category: str
    text: str
    images: tuple[str, ...]  # SHA-256
    options: tuple[str, ...]
    right: str
    given: str  # "" if no answer was read
    response: str
    note: str  # how the response was read


def common_mistakes(scores: Mapping[str, Sequence[Score]]) -> list[CommonMistakes]:
    """Count for every pair of models, those with the same numbers of mistakes included.

    Args:
        scores: By model; unscored rows are left out.
    """
    wrong = {
        model: {row.question_id: row.points == 0 for row in rows if row.points is not None}
        for model, rows in scores.items()
    }
    return [
        _shared(model, wrong[model], other, wrong[other]) for model, other in combinations(wrong, 2)
    ]


def sample_mistakes(
    questions: Iterable[Question],
    predictions: Iterable[Prediction],
    scores: Iterable[Score],
    *,
    per_task: int,
    seed: int,
) -> list[Mistake]:
    """Draw up to ``per_task`` mistakes of each task, in the order of the questions.

    What is drawn of a task depends on the seed and its mistakes alone.
    """
    responses = {row.question_id: row.text for row in predictions}
    wrong = {row.question_id: row for row in scores if row.points == 0}
    by_task: dict[str, list[Mistake]] = defaultdict(list)
    for question in questions:
        if score := wrong.get(question.question_id):
            by_task[question.category].append(_mistake(question, score, responses))
    return [
        of_task[number]
        for task, of_task in by_task.items()
        for number in sorted(
            random.Random(f"{seed}\n{task}\nmistakes").sample(
                range(len(of_task)), min(per_task, len(of_task))
            )
        )
    ]


def _shared(
    model: str, wrong: Mapping[str, bool], other: str, wrong_other: Mapping[str, bool]
) -> CommonMistakes:
    both = wrong.keys() & wrong_other.keys()
    n, n_other = sum(wrong[one] for one in both), sum(wrong_other[one] for one in both)
    return CommonMistakes(
        model=model,
        other=other,
        n_questions=len(both),
        n_mistakes=n,
        n_mistakes_other=n_other,
        n_common=sum(wrong[one] and wrong_other[one] for one in both),
        n_expected=n * n_other / len(both) if both else 0.0,
    )


def _mistake(question: Question, score: Score, responses: Mapping[str, str]) -> Mistake:
    return Mistake(
        question_id=question.question_id,
        category=question.category,
        text=question.text,
        images=question.images,
        options=question.options,
        right="".join(question.answer),
        given="".join(score.answer),
        response=responses[question.question_id],
        note=score.note,
    )
