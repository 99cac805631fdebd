"""What the studies of the description task have in common."""

from collections.abc import Sequence

from bench_assets.core.rows import Metric, Prediction, Question
from bench_assets.studies import blank_metric, decodings
from bench_assets.suites.cogbench.description.task import TASK


def blank_row(
    model: str, questions: Sequence[Question], predictions: Sequence[Prediction], **how: str
) -> Metric:
    """Make a metric over nothing yet; ``how`` is what the number depends on besides."""
    parts = {"model": decodings(predictions), **how, "n": str(len(questions))}
    lost = len(questions) - sum(not p.error for p in predictions)
    return blank_metric(TASK, questions, model, parts, n_failed=lost)
