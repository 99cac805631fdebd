"""What the studies of the description task have in common."""

from collections.abc import Mapping, Sequence

from bench_assets.cogbench.description.task import TASK
from bench_assets.core.rows import Metric, Prediction, Question
from bench_assets.core.stats import mean
from bench_assets.core.tables import digest
from bench_assets.task import Answered


def answered_of(questions: Sequence[Question], predictions: Sequence[Prediction]) -> list[Answered]:
    """Join descriptions with their questions; those without a reply are left out."""
    asked: Mapping[str, Question] = {question.question_id: question for question in questions}
    return [Answered(asked[p.question_id], p) for p in predictions if not p.error]


def blank_metric(
    model: str, questions: Sequence[Question], predictions: Sequence[Prediction], how: str
) -> Metric:
    """Make a metric over nothing yet, with what all rows of a study share.

    Args:
        model: Whose descriptions.
        questions: All of the task.
        predictions: The model's.
        how: What the number depends on besides, for the signature.
    """
    asked = "+".join(sorted({p.decoding for p in predictions if p.decoding})) or "elsewhere"
    return Metric(
        task=TASK.name,
        model=model,
        condition="main",
        metric="",
        category="all",
        n_failed=len(questions) - sum(not p.error for p in predictions),
        edition=questions[0].edition if questions else "",
        signature=(
            f"{TASK.name}|v{TASK.version}|main|data:{digest(questions)[:12]}|model:{asked}"
            f"|{how}|n:{len(questions)}"
        ),
        **mean([])._asdict(),
    )
