"""Aggregation of scores into metrics, also for studies beside the pipeline."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from bench_assets.annotation.tasks import PEOPLE
from bench_assets.core.schema.rows import UNREAD, Metric, Prediction, Question, ReadValue, Score
from bench_assets.core.schema.signature import (
    DRAWS,
    EXPIRED,
    OPEN,
    Signature,
    join_setups,
    short_digest,
)
from bench_assets.core.stats.means import Mean, mean
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.outcomes import format_served
from bench_assets.evaluation.task import (
    AnsweredQuestion,
    Measure,
    ScoredQuestion,
    Task,
    plugin_errors_named,
)

Row = TypeVar("Row", Prediction, Score)


class ScoreOverview:
    """Facts about the scores of one model before they are aggregated."""

    def __init__(
        self, task: Task, questions: Sequence[Question], rows: Sequence[ScoredQuestion]
    ) -> None:
        """Read the scores, of which there is at least one."""
        self.first = rows[0].score
        self.slices = defaultdict[str, list[ScoredQuestion]](list)
        self.setups = {score.setup for _, score in rows}
        self.judges = {score.judge for _, score in rows}
        self.expired = Counter[str]()  # responses that too few people judged, by slice
        for row in rows:
            question, score = row
            is_expired = score.judge == PEOPLE and not score.votes and score.points is None
            for category in dict.fromkeys(("all", *task.slices(question))):
                self.slices[category].append(row)
                self.expired[category] += is_expired
        scored = [(question.question_id, score) for question, score in rows]
        missing = {question.question_id for question in questions} - {name for name, _ in scored}
        failed = {name for name, score in scored if score.error}  # by one failed sample
        refused = {name for name, score in scored if score.refused}
        unanswered = {name for name, score in scored if score.no_answer and not score.refused}
        self.failed = _count_by_slice(task, questions, missing | failed)
        self.no_answer = _count_by_slice(task, questions, unanswered)
        self.refused = _count_by_slice(task, questions, refused)


def cell_values(
    task: Task, questions: Iterable[Question], rows: Sequence[ScoredQuestion]
) -> dict[tuple[str, str], float]:
    """Values by metric and slice of one model's scores, without NaN; the slice "all" is first."""
    categories = sorted({name for question in questions for name in task.slices(question)})
    rows_by_slice: dict[str, list[ScoredQuestion]] = {name: [] for name in ("all", *categories)}
    for row in rows:
        for category in dict.fromkeys(("all", *task.slices(row.question))):
            rows_by_slice[category].append(row)
    values: dict[tuple[str, str], float] = {}
    for category, slice_rows in rows_by_slice.items():
        for name, measure in _measures(task, rows if category == "all" else ()).items():
            value = _compute_metric(name, measure, slice_rows).value
            if not math.isnan(value):
                values[name, category] = value
    return values


def _measures(task: Task, rows: Iterable[ScoredQuestion]) -> Mapping[str, Measure]:
    """A task's measures, plus those of calibration, raters and draws that these scores allow."""
    scores = [row.score for row in rows]
    has_confidence = any(score.confidence is not None for score in scores)
    has_votes = any(score.votes for score in scores)
    n_draws = 1 + max((score.sample for score in scores), default=0)
    if not has_confidence and not has_votes and n_draws == 1:
        return task.measures
    from bench_assets.evaluation.further_measures import CALIBRATION, RATERS, draw_measures

    measures = dict(task.measures)
    if has_confidence:
        measures |= CALIBRATION
    if has_votes:
        measures |= RATERS
    if n_draws > 1 and task.primary_metric not in task.adds:  # else no response is right alone
        measures |= draw_measures(n_draws, task.right_from)
    return measures


def metrics(
    task: Task,
    questions: Sequence[Question],
    scored: ScoreOverview,
    signature: Signature,
    served: Counter[str],
) -> Iterator[Metric]:
    """Compute every metric, slice by slice; ``served`` counts responses by serving model."""
    counts = {
        "no_answer": scored.no_answer["all"],
        "refused": scored.refused["all"],
        "mixed": len(served) if len(served) > 1 else 0,
    }
    labels = {name: str(n) for name, n in counts.items() if n}
    expired = int(signature.parts.get(EXPIRED, 0))  # of the units that the questions are built from
    categories = (scored.slices.keys() | scored.failed.keys()) - {"all"}
    for category in ("all", *sorted(categories)):
        rows = scored.slices.get(category, [])
        for name, measure in _measures(task, rows if category == "all" else ()).items():
            computed = _compute_metric(name, measure, rows)
            reading = read_value(name, measure, rows, computed.value)
            columns = {**computed._asdict(), **reading._asdict()}
            yield Metric(
                task=task.name,
                model=scored.first.model,
                condition=scored.first.condition,
                metric=name,
                category=category,
                n_failed=scored.failed[category],
                n_no_answer=scored.no_answer[category],
                n_refused=scored.refused[category],
                n_expired=(scored.expired[category] + expired) or None,
                served=format_served(served),
                edition=questions[0].edition,
                data=signature.parts["data"],
                setup=join_setups(scored.setups),
                signature=str(signature.with_parts(**labels, n=str(len(questions)))),
                **columns,
            )


def read_value(
    name: str, measure: Measure, rows: Sequence[ScoredQuestion], value: float
) -> ReadValue:
    """Qualify a metric's value by how its responses were read; bounds only if some are unread.

    ``name`` is for errors of plugins.
    """
    if not rows:
        return ReadValue(value)
    n = len(rows)
    reading = ReadValue(
        value,
        unread=sum(row.score.unread for row in rows) / n,
        asked_again=sum(row.score.asked_again for row in rows) / n,
        named=sum(row.score.named for row in rows) / n,
    )
    if not reading.unread:
        return reading
    wrong = [row._replace(score=_as_wrong(row.score)) for row in rows]
    right = [row._replace(score=_as_right(row)) for row in rows]
    return reading._replace(
        if_unread_wrong=_compute_metric(name, measure, wrong).value,
        if_unread_right=_compute_metric(name, measure, right).value,
    )


def _as_wrong(score: Score) -> Score:
    """The score without points and answer if its response is unread; an answer in parts is kept."""
    if not score.unread:
        return score
    answer = score.answer if UNREAD in score.answer else ()
    return replace(score, points=0.0, answer=answer)


def _as_right(row: ScoredQuestion) -> Score:
    """The score with all points and the key as its answer if its response is unread."""
    question, score = row
    if not score.unread:
        return score
    if UNREAD in score.answer:
        answer = score.answer
    elif question.kind == "text":
        answer = question.answer[:1]  # any of the right answers
    else:
        answer = question.answer
    return replace(score, points=score.max_points, answer=answer)


def _compute_metric(name: str, measure: Measure, rows: Sequence[ScoredQuestion]) -> Mean:
    """Compute a metric; a plugin's exception or invalid value raises an error that names it."""
    with plugin_errors_named(f"measure {name}"):
        measured = measure(rows)
        if not isinstance(measured, Mean):
            raise TypeError(f"expected a Mean, got {measured!r:.60}")
        if any(map(math.isinf, (measured.value, measured.low, measured.high))):
            raise ValueError(f"expected finite numbers, got {measured.value:g}")
        if _exceeds_share(measured):
            raise ValueError(
                f"the points have the mean {measured.value:g} (expected points in [0, 1]). "
                "Divide them by their maximum."
            )
        return measured


def _exceeds_share(measured: Mean) -> bool:
    """Whether a value is outside [0, 1] although its interval is within, as that of a share."""
    rounding = 1e-6
    is_above = measured.value > 1 + rounding and measured.high <= 1
    is_below = measured.value < -rounding and measured.low >= 0
    return is_above or is_below


def _count_by_slice(
    task: Task, questions: Iterable[Question], question_ids: Collection[str]
) -> Counter[str]:
    return Counter(
        category
        for question in questions
        if question.question_id in question_ids
        for category in dict.fromkeys(("all", *task.slices(question)))
    )


def rows_by_model(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """Rows by model and condition."""
    grouped = defaultdict[tuple[str, str], list[Row]](list)
    for row in rows:
        grouped[row.model, row.condition].append(row)
    return grouped


def make_signature(
    task: Task,
    questions: Sequence[Question],
    scored: ScoreOverview,
    predictions: Sequence[Prediction],
) -> Signature:
    """Signature of one model's metrics: questions, prompts, draws, model, judge and scorer."""
    prompts = sorted(
        row.prompt_sha256 for row in predictions if row.prompt_sha256 and not row.sample
    )
    prompts_digest = hashlib.sha256("\n".join(prompts).encode()).hexdigest()[:12]
    parts = {
        "data": short_digest(digest(questions)),
        **undecided_parts(questions),
        "prompts": prompts_digest if prompts else "unknown",
        **response_parts(predictions, unknown="unknown"),
        "judge": "+".join(sorted(scored.judges - {""})) or "none",
        "scorer": scored.first.scorer,
    }
    return _signature_of(task, scored.first.condition, parts)


def _signature_of(task: Task, condition: str, parts: Mapping[str, str]) -> Signature:
    return Signature(
        task=task.name,
        version=task.version,
        condition=condition,
        parts=parts,
        extensions=task.extensions,
    )


def undecided_parts(questions: Sequence[Question]) -> dict[str, str]:
    """Signature parts for open and expired annotation units, from the labels of the questions."""
    first = questions[0].labels if questions else {}  # all questions of a table have the same
    return {name: first[name] for name in (OPEN, EXPIRED) if first.get(name)}


def join_answers(
    questions: Sequence[Question], predictions: Sequence[Prediction]
) -> list[AnsweredQuestion]:
    """Join predictions with their questions, without missing responses."""
    return AnsweredQuestion.of(questions, [row for row in predictions if not row.error])


def failed_ids(questions: Iterable[Question], predictions: Sequence[Prediction]) -> set[str]:
    """Ids of the questions without a prediction, or with a failed sample."""
    predicted = {row.question_id for row in predictions}
    failed = {row.question_id for row in predictions if row.error}
    ids = {question.question_id for question in questions}
    return (ids - predicted) | (ids & failed)


def response_parts(
    predictions: Sequence[Prediction], *, unknown: str = "elsewhere"
) -> dict[str, str]:
    """Signature parts of responses: their draws if several, and their decodings or ``unknown``."""
    n_draws = 1 + max((row.sample for row in predictions), default=0)
    draws = {DRAWS: str(n_draws)} if n_draws > 1 else {}
    decodings = sorted({row.decoding for row in predictions if row.decoding})
    return {**draws, "model": "+".join(decodings) or unknown}


def blank_metric(  # noqa: PLR0913  (columns in which studies differ)
    task: Task,
    questions: Sequence[Question],
    model: str,
    parts: Mapping[str, str],
    *,
    n_failed: int,
    condition: str = "main",
    leading_parts: Mapping[str, str] = MappingProxyType({}),
) -> Metric:
    """Build a metric without a value, with the common fields of a study's rows.

    In its signature, ``condition`` may name two that are compared, "main~blind"; ``leading_parts``
    precede the parts about the questions, and ``parts`` follow them.
    """
    data = short_digest(digest(questions))
    parts = {**leading_parts, "data": data, **undecided_parts(questions), **parts}
    return Metric(
        task=task.name,
        model=model,
        condition="main",
        metric="",
        category="all",
        n_failed=n_failed,
        edition=questions[0].edition if questions else "",
        data=data,
        signature=str(_signature_of(task, condition, parts)),
        **mean([])._asdict(),
    )
