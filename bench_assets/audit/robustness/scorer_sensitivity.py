"""Scorer sensitivity: the same responses under each scorer of a task."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
    sample_questions,
)
from bench_assets.audit.robustness.parsing_coverage import NO_MODELS
from bench_assets.audit.robustness.rank_stability import RankFlip, find_rank_flips
from bench_assets.core.schema.rows import Score
from bench_assets.core.stats.paired_tests import (
    PairedScores,
    change_interval,
    cluster_questions,
    interval_text,
    mean_change,
)
from bench_assets.evaluation import pipeline

_MAX_EXAMPLES = 3  # example questions per line of evidence


class ScorerDifference(NamedTuple):
    """Difference of a scorer from the default one, on one model's responses."""

    model: str
    scorer: str
    change: float  # of the share of points
    low: float
    high: float
    questions: tuple[str, ...]  # with other points
    n: int

    def __str__(self) -> str:
        """Format the change with its interval and example questions."""
        examples = (
            f", such as {', '.join(self.questions[:_MAX_EXAMPLES])}" if self.questions else ""
        )
        return (
            f"{self.scorer} {self.change:+.3f} (interval {interval_text(self.low, self.high)}),"
            f" {len(self.questions)} of {self.n} responses{examples}"
        )


@audit_check("scorers_apart", "Does the order of two models depend on the scorer?")
def scorers_finding(evidence: Evidence) -> AuditFinding:
    """Find model pairs whose order depends on the scorer."""
    task = evidence.task
    if len(task.scorers) < 2:
        raise SkippedCheckError("the task has one scorer")
    models = evidence.results().models
    questions = sample_questions(evidence.questions, len(models))
    question_ids = {question.question_id for question in questions}
    read: dict[str, dict[str, dict[str, float]]] = {name: {} for name in task.scorers}
    for model in models:
        predictions = evidence.predictions(model, of=question_ids)
        judged = evidence.judgements(model, of=question_ids)
        for name in task.scorers if predictions else ():
            read[name][model] = _points(pipeline.score(task, questions, predictions, judged, name))
    default, *others = task.scorers
    if not read[default]:
        raise SkippedCheckError(NO_MODELS)
    cluster = cluster_questions(questions)
    differences = [
        one
        for name in others
        for model in read[default]
        if (
            one := _scorer_difference(model, name, read[default][model], read[name][model], cluster)
        )
    ]
    flips = {name: list(find_rank_flips(read[default], read[name], cluster)) for name in others}
    return AuditFinding(
        sentence=_sentence(default, differences, flips),
        n=sum(map(len, read[default].values())),
        suspects=[
            Suspect(pair.better, _describe_flip(name, pair, differences), -pair.then)
            for name, pairs in flips.items()
            for pair in pairs
        ],
    )


def _points(scores: Sequence[Score]) -> dict[str, float]:
    """Mean share of points by question; unscored ones count as 0."""
    by_question: dict[str, list[float]] = {}
    for one in scores:
        if not one.error and one.max_points:
            by_question.setdefault(one.question_id, []).append((one.points or 0.0) / one.max_points)
    return {question: sum(points) / len(points) for question, points in by_question.items()}


def _scorer_difference(
    model: str,
    scorer: str,
    default: Mapping[str, float],
    other: Mapping[str, float],
    cluster: Mapping[str, str],
) -> ScorerDifference | None:
    both = [q for q in default if q in other]
    if not both:
        return None
    pairs = [PairedScores(default[q], other[q], cluster[q]) for q in both]
    otherwise = tuple(q for q in both if default[q] != other[q])
    return ScorerDifference(
        model, scorer, mean_change(pairs), *change_interval(pairs), otherwise, len(both)
    )


def _sentence(
    default: str, differences: Sequence[ScorerDifference], flips: Mapping[str, Sequence[RankFlip]]
) -> str:
    n = sum(map(len, flips.values()))
    far = [one for one in differences if one.questions]
    details = "; ".join(f"{one.model}: {one}" for one in sorted(far, key=lambda o: -abs(o.change)))
    return (
        f"{n} pairs of models are in another order under another scorer than {default}."
        f" Compared with {default}: {details or 'no response has other points'}."
    )


def _describe_flip(scorer: str, pair: RankFlip, differences: Sequence[ScorerDifference]) -> str:
    own = "; ".join(
        f"{one.model}: {one}"
        for one in differences
        if one.scorer == scorer and one.model in (pair.better, pair.worse)
    )
    return f"leads {pair.worse} by {pair.now:.3f}, by {pair.then:.3f} under {scorer}. {own}"
