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
from bench_assets.evaluation.task import AnsweredQuestion, Measure, ScoredQuestion, Task, named

Row = TypeVar("Row", Prediction, Score)


class ScoreOverview:
    """Facts about the scores of one model before they are aggregated."""

    def __init__(
        self,
        task: Task,
        questions: Sequence[Question],
        rows: Sequence[ScoredQuestion],
    ) -> None:
        """Read the scores once; at least one."""
        self.first = rows[0].score
        self.slices = defaultdict[str, list[ScoredQuestion]](list)
        self.setups, self.judges = set[str](), set[str]()
        self.expired = Counter[str]()  # responses that too few people judged, by slice
        missing = {question.question_id for question in questions}
        failed, silent, refused = set[str](), set[str](), set[str]()  # ids of questions
        for pair in rows:
            question, score = pair
            missing.discard(question.question_id)
            if score.error:  # one failed sample fails the question
                failed.add(question.question_id)
            if score.refused:
                refused.add(question.question_id)
            elif score.no_answer:
                silent.add(question.question_id)
            self.setups.add(score.setup)
            self.judges.add(score.judge)
            is_expired = score.judge == PEOPLE and not score.votes and score.points is None
            for category in dict.fromkeys(("all", *task.slices(question))):
                self.slices[category].append(pair)
                self.expired[category] += is_expired
        self.failed = _count_by_slice(task, questions, missing | failed)
        self.no_answer = _count_by_slice(task, questions, silent)
        self.refused = _count_by_slice(task, questions, refused)


def cell_values(
    task: Task, questions: Iterable[Question], rows: Sequence[ScoredQuestion]
) -> dict[tuple[str, str], float]:
    """Values of every metric in the slices of one model's scores, without NaN, "all" first."""
    slices = {"all": list[ScoredQuestion]()} | {
        name: []
        for name in sorted({name for question in questions for name in task.slices(question)})
    }
    for pair in rows:
        for name in dict.fromkeys(("all", *task.slices(pair.question))):
            slices[name].append(pair)
    values: dict[tuple[str, str], float] = {}
    for category, selected in slices.items():
        for name, measure in _measures(task, rows if category == "all" else ()).items():
            value = _compute_metric(name, measure, selected).value
            if not math.isnan(value):
                values[name, category] = value
    return values


def _measures(task: Task, rows: Iterable[ScoredQuestion]) -> Mapping[str, Measure]:
    """A task's measures, plus those of calibration, raters and draws that these scores allow."""
    has_confidence = has_votes = False
    n_draws = 1
    for _, score in rows:
        has_confidence |= score.confidence is not None
        has_votes |= bool(score.votes)
        n_draws = max(n_draws, score.sample + 1)
    if not has_confidence and not has_votes and n_draws == 1:
        return task.measures
    from bench_assets.evaluation.further_measures import CALIBRATION, RATERS, draw_measures

    more = {**(CALIBRATION if has_confidence else {}), **(RATERS if has_votes else {})}
    if n_draws > 1 and task.primary_metric not in task.adds:  # else no response is right alone
        more |= draw_measures(n_draws, task.right_from)
    return {**task.measures, **more}


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
    for category in sorted(
        scored.slices.keys() | scored.failed.keys(), key=lambda c: (c != "all", c)
    ):
        rows = scored.slices.get(category, [])
        for name, measure in _measures(task, rows if category == "all" else ()).items():
            computed = _compute_metric(name, measure, rows)
            yield Metric(
                task=task.name,
                model=scored.first.model,
                condition=scored.first.condition,
                metric=name,
                category=category,
                n_failed=scored.failed[category],
                n_no_answer=scored.no_answer[category],
                n_refused=scored.refused[category],
                n_expired=scored.expired[category] + expired or None,
                served=format_served(served),
                edition=questions[0].edition,
                data=signature.parts["data"],
                setup=join_setups(scored.setups),
                signature=str(signature.with_parts(**labels, n=str(len(questions)))),
                **(computed._asdict() | read_value(name, measure, rows, computed.value)._asdict()),
            )


def read_value(
    name: str, measure: Measure, rows: Sequence[ScoredQuestion], value: float
) -> ReadValue:
    """Qualify a value by how its responses were read; bounds only if some are unread.

    Args:
        name: Name of the metric, for errors of plugins.
        measure: The metric.
        rows: The scores behind the value.
        value: The value.
    """
    if not rows:
        return ReadValue(value)
    scores = [row.score for row in rows]
    shares = ReadValue(
        value,
        sum(score.unread for score in scores) / len(scores),
        sum(score.asked_again for score in scores) / len(scores),
        sum(score.named for score in scores) / len(scores),
    )
    if not shares.unread:
        return shares
    wrong = [row._replace(score=_as_wrong(row.score)) for row in rows]
    right = [row._replace(score=_as_right(row)) for row in rows]
    return shares._replace(
        if_unread_wrong=_compute_metric(name, measure, wrong).value,
        if_unread_right=_compute_metric(name, measure, right).value,
    )


def _as_wrong(score: Score) -> Score:
    answer = score.answer if UNREAD in score.answer else ()
    return replace(score, points=0.0, answer=answer) if score.unread else score


def _as_right(row: ScoredQuestion) -> Score:
    question, score = row
    if not score.unread:
        return score
    answer = question.answer[:1] if question.kind == "text" else question.answer
    answer = score.answer if UNREAD in score.answer else answer
    return replace(score, points=score.max_points, answer=answer)


def _compute_metric(name: str, measure: Measure, rows: Sequence[ScoredQuestion]) -> Mean:
    """Compute a metric, possibly of a plugin.

    Raises:
        BenchError: If it raises an error, or does not return a mean; names it.
    """
    with named(f"measure {name}"):
        measured = measure(rows)
        if not isinstance(measured, Mean):
            raise TypeError(f"expected a Mean, got {measured!r:.60}")
        if any(map(math.isinf, measured[:3])):
            raise ValueError(f"expected finite numbers, got {measured.value:g}")
        if _exceeds_share(measured):
            raise ValueError(
                f"the points have the mean {measured.value:g} (expected points in [0, 1]). "
                "Divide them by their maximum."
            )
        return measured


def _exceeds_share(found: Mean) -> bool:
    """Whether a value is outside [0, 1] and its interval is that of a share."""
    rounding = 1e-6
    return (found.value > 1 + rounding and found.high <= 1) or (
        found.value < -rounding and found.low >= 0
    )


def _count_by_slice(
    task: Task, questions: Iterable[Question], question_ids: Collection[str]
) -> Counter[str]:
    """Count the questions with these ids by slice."""
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
    """Signature of one model's metrics: its questions, prompts, decoding and judge."""
    draws = 1 + max((row.sample for row in predictions), default=0)
    sent = sorted(row.prompt_sha256 for row in predictions if row.prompt_sha256 and not row.sample)
    decodings = {row.decoding for row in predictions if row.decoding}
    prompts = hashlib.sha256("\n".join(sent).encode()).hexdigest() if sent else ""
    parts = {
        "data": short_digest(digest(questions)),
        **undecided_parts(questions),
        "prompts": prompts[:12] or "unknown",
        **({DRAWS: str(draws)} if draws > 1 else {}),
        "model": "+".join(sorted(decodings)) or "unknown",
        "judge": "+".join(sorted(scored.judges - {""})) or "none",
        "scorer": scored.first.scorer,
    }
    return Signature(task.name, task.version, scored.first.condition, parts, task.extensions)


def undecided_parts(questions: Sequence[Question]) -> dict[str, str]:
    """Signature parts for open and expired annotation units, from the labels of the questions."""
    first = questions[0].labels if questions else {}  # all questions of a table have the same
    return {name: first[name] for name in (OPEN, EXPIRED) if first.get(name)}


_NO_PARTS: Mapping[str, str] = MappingProxyType({})


def join_answers(
    questions: Sequence[Question], predictions: Sequence[Prediction]
) -> list[AnsweredQuestion]:
    """Join predictions with their questions, without missing responses."""
    return AnsweredQuestion.of(questions, [row for row in predictions if not row.error])


def format_decodings(predictions: Sequence[Prediction]) -> str:
    """Decoding of each model, for signatures."""
    return "+".join(sorted({p.decoding for p in predictions if p.decoding})) or "elsewhere"


def blank_metric(  # noqa: PLR0913  (what tells studies apart)
    task: Task,
    questions: Sequence[Question],
    model: str,
    parts: Mapping[str, str],
    *,
    n_failed: int,
    compared: str = "main",
    before: Mapping[str, str] = _NO_PARTS,
) -> Metric:
    """Build a metric without a value, with the common fields of a study's rows."""
    data = short_digest(digest(questions))
    parts = {**before, "data": data, **undecided_parts(questions), **parts}
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
