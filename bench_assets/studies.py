"""What studies have in common: they take metrics beside the four steps of ``flow``."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from bench_assets.core.rows import Metric, Prediction, Question
from bench_assets.core.signature import OPEN, Signature, short
from bench_assets.core.stats import mean
from bench_assets.core.tables import digest
from bench_assets.task import Answered, Task

_NOTHING: Mapping[str, str] = MappingProxyType({})


def answered_of(questions: Sequence[Question], predictions: Sequence[Prediction]) -> list[Answered]:
    """Join predictions with their questions; those without a reply are left out."""
    asked = {question.question_id: question for question in questions}
    return [Answered(asked[p.question_id], p) for p in predictions if not p.error]


def decodings(predictions: Sequence[Prediction]) -> str:
    """Who was asked how, for signatures."""
    return "+".join(sorted({p.decoding for p in predictions if p.decoding})) or "elsewhere"


def blank_metric(  # noqa: PLR0913  (what tells studies apart)
    task: Task,
    questions: Sequence[Question],
    model: str,
    parts: Mapping[str, str],
    *,
    n_failed: int,
    compared: str = "main",
    before: Mapping[str, str] = _NOTHING,
) -> Metric:
    """Make a metric over nothing yet, with what all rows of a study share.

    Args:
        task: Whose questions they are.
        questions: All that the study is over.
        model: Whose replies are looked at.
        parts: What the number depends on besides the questions, for the signature.
        n_failed: Questions without a reply.
        compared: The condition, or conditions, for the signature.
        before: Parts of the signature that stand before the questions.
    """
    data = short(digest(questions))
    open_ = next((n for q in questions if (n := q.labels.get(OPEN))), "")
    parts = {**before, "data": data, **({OPEN: open_} if open_ else {}), **parts}
    return Metric(
        task=task.name,
        model=model,
        condition="main",
        metric="",
        category="all",
        n_failed=n_failed,
        edition=questions[0].edition if questions else "",
        data=data,
        signature=str(Signature(task.name, task.version, compared, parts, task.extensions)),
        **mean([])._asdict(),
    )
