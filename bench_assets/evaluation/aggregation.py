"""Aggregation of scores into metrics, also for studies beside the pipeline."""

import hashlib
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from types import MappingProxyType

from bench_assets.annotation.responses.verdicts import PEOPLE
from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import EXPIRED, OPEN, Signature, join_setups, short_digest
from bench_assets.core.stats.calibration import (
    ConfidentAnswer,
    expected_calibration_error,
    selective_accuracy,
)
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.core.stats.rater_agreement import krippendorff_alpha
from bench_assets.core.tables.arrow import digest
from bench_assets.core.tables.large_tables import column, rows_at, select_pairs
from bench_assets.evaluation.outcomes import format_served
from bench_assets.evaluation.task import AnsweredQuestion, Measure, ScoredQuestion, Task, named


class ScoreOverview:
    """Facts about the scores of one model before they are aggregated."""

    def __init__(
        self,
        task: Task,
        questions: Sequence[Question],
        rows: Sequence[ScoredQuestion],
        places: Sequence[int],
    ) -> None:
        """Read the scores once.

        Args:
            task: The task.
            questions: All questions.
            rows: The scores; at least one.
            places: Index of each score's question.
        """
        self.rows, self.first = rows, rows[0].score
        self.slices: dict[str, array[int]] = defaultdict(lambda: array("I"))  # indices of ``rows``
        self.setups, self.judges = set[str](), set[str]()
        self.expired = Counter[str]()  # responses that too few people judged, by slice
        missing, silent = bytearray(b"\1") * len(questions), bytearray(len(questions))
        failed, refused = bytearray(len(questions)), bytearray(len(questions))
        self.unread = Counter[str]()  # responses, by slice
        for n, (place, (question, score)) in enumerate(zip(places, rows, strict=True)):
            missing[place] = 0
            failed[place] |= bool(score.error)  # one failed sample fails the question
            silent[place] |= score.no_answer and not score.refused
            refused[place] |= bool(score.refused)
            self.setups.add(score.setup)
            self.judges.add(score.judge)
            is_expired = score.judge == PEOPLE and not score.votes and score.points is None
            for category in dict.fromkeys(("all", *task.slices(question))):
                self.slices[category].append(n)
                self.unread[category] += score.unread
                self.expired[category] += is_expired
        unanswered = (place for place in range(len(questions)) if missing[place] or failed[place])
        self.failed = _by_slice(task, rows_at(questions, unanswered))
        self.no_answer = _by_slice(
            task, rows_at(questions, compress(range(len(questions)), silent))
        )
        self.refused = _by_slice(task, rows_at(questions, compress(range(len(questions)), refused)))

    def unread_share(self, category: str) -> float | None:
        """Share of unread responses in a slice; None without responses."""
        n = len(self.slices.get(category, ()))
        return self.unread[category] / n if n else None


def slice_rows(
    task: Task, questions: Iterable[Question], places: Iterable[int] | None = None
) -> Mapping[str, Sequence[int]]:
    """Find the rows of each slice, "all" first.

    Args:
        task: The task.
        questions: All questions.
        places: Index of each row's question; None: one row per question, in order.
    """
    interned: dict[tuple[str, ...], tuple[str, ...]] = {}
    named = (tuple(dict.fromkeys(("all", *task.slices(one)))) for one in questions)
    slices = [interned.setdefault(names, names) for names in named]
    found = {name: array("I") for names in interned for name in names}
    for row, place in enumerate(range(len(slices)) if places is None else places):
        for name in slices[place]:
            found[name].append(row)
    return dict(sorted(found.items(), key=lambda one: (one[0] != "all", one[0])))


def cell_values(
    task: Task, rows: Sequence[ScoredQuestion], slices: Mapping[str, Sequence[int]]
) -> dict[tuple[str, str], float]:
    """Values of every metric in the slices of one model's scores, without NaN."""
    found: dict[tuple[str, str], float] = {}
    for category, chosen in slices.items():
        selected = select_pairs(rows, chosen)
        for name, measure in _measures(task, rows if category == "all" else ()).items():
            value = _compute_metric(name, measure, selected).value
            if not math.isnan(value):
                found[name, category] = value
    return found


def _measures(task: Task, rows: Iterable[ScoredQuestion]) -> Mapping[str, Measure]:
    """A task's measures, plus those of calibration and raters that these scores allow."""
    has_confidence = has_votes = False
    for _, score in rows:
        has_confidence |= score.confidence is not None
        has_votes |= bool(score.votes)
    more = {**(_CALIBRATION if has_confidence else {}), **(_RATERS if has_votes else {})}
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
    named = {name: str(n) for name, n in counts.items() if n}
    expired = int(signature.parts.get(EXPIRED, 0))  # of the units that the questions are built from
    for category in sorted(
        scored.slices.keys() | scored.failed.keys(), key=lambda c: (c != "all", c)
    ):
        rows = select_pairs(scored.rows, scored.slices.get(category, ()))
        for name, measure in _measures(task, rows if category == "all" else ()).items():
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
                unread=scored.unread_share(category),
                served=format_served(served),
                edition=questions[0].edition,
                data=signature.parts["data"],
                setup=join_setups(scored.setups),
                signature=str(signature.with_parts(**named, n=str(len(questions)))),
                **_compute_metric(name, measure, rows)._asdict(),
            )


def _compute_metric(name: str, measure: Measure, rows: Sequence[ScoredQuestion]) -> Mean:
    """Compute a metric, possibly of a plugin.

    Raises:
        BenchError: If it raises an error, or does not return a mean; names it.
    """
    with named(f"measure {name}"):
        found = measure(rows)
        if not isinstance(found, Mean):
            raise TypeError(f"expected a Mean, got {found!r:.60}")
        if any(map(math.isinf, found[:3])):
            raise ValueError(f"expected finite numbers, got {found.value:g}")
        if _exceeds_share(found):
            raise ValueError(
                f"the points have the mean {found.value:g} (expected points in [0, 1]). "
                "Divide them by their maximum."
            )
        return found


def _exceeds_share(found: Mean) -> bool:
    """Whether a value is outside [0, 1] and its interval is that of a share."""
    rounding = 1e-6
    return (found.value > 1 + rounding and found.high <= 1) or (
        found.value < -rounding and found.low >= 0
    )


def _confident_answers(rows: Sequence[ScoredQuestion]) -> list[ConfidentAnswer]:
    """Scored answers with a confidence."""
    return [
        ConfidentAnswer(score.confidence, score.points / score.max_points, question.cluster)
        for question, score in rows
        if score.confidence is not None and score.points is not None and score.max_points
    ]


def _calibration_error(rows: Sequence[ScoredQuestion]) -> Mean:
    """Expected calibration error over ten bins; lower is better."""
    return expected_calibration_error(_confident_answers(rows))


def _mean_confidence(rows: Sequence[ScoredQuestion]) -> Mean:
    """Mean probability of the answer among the options."""
    return mean(
        ScoredPoint(score.confidence, question.cluster)
        for question, score in rows
        if score.confidence is not None
    )


def _accuracy_of_confident_half(rows: Sequence[ScoredQuestion]) -> Mean:
    """Accuracy of the more confident half of the answers."""
    return selective_accuracy(_confident_answers(rows), 0.5)


_CALIBRATION: Mapping[str, Measure] = {
    "calibration_error": _calibration_error,
    "mean_confidence": _mean_confidence,
    "accuracy_of_confident_half": _accuracy_of_confident_half,
}
"""Added to a task's measures over all questions, if answers have a confidence."""


def _rater_agreement(rows: Sequence[ScoredQuestion]) -> Mean:
    """Krippendorff's alpha of the annotators, over responses with several verdicts."""
    votes = [[vote.rpartition(": ")[2] for vote in score.votes] for _, score in rows]
    n = sum(len(one) > 1 for one in votes)
    return Mean(krippendorff_alpha(votes), math.nan, math.nan, n, 0)


def _raters(rows: Sequence[ScoredQuestion]) -> Mean:
    """Number of annotators who gave verdicts."""
    people = {vote.rpartition(": ")[0] for _, score in rows for vote in score.votes}
    n = sum(bool(score.votes) for _, score in rows)
    return Mean(float(len(people)), math.nan, math.nan, n, 0)


_RATERS: Mapping[str, Measure] = {"rater_agreement": _rater_agreement, "raters": _raters}
"""Added to a task's measures over all questions, if people judged."""


def _by_slice(task: Task, questions: Iterable[Question]) -> Counter[str]:
    return Counter(
        category for q in questions for category in dict.fromkeys(("all", *task.slices(q)))
    )


def rows_by_model(
    rows: Sequence[Score] | Sequence[Prediction],
) -> dict[tuple[str, str], "array[int]"]:
    """Row positions by model and condition."""
    found: dict[tuple[str, str], array[int]] = defaultdict(lambda: array("I"))
    named = zip(column(rows, "model"), column(rows, "condition"), strict=True)
    for place, key in enumerate(named):
        found[key].append(place)
    return found


def values_at(rows: Sequence[Prediction], name: str, places: Iterable[int]) -> Iterator[str]:
    """Non-empty values of a column at these positions."""
    chosen = bytearray(len(rows))
    for place in places:
        chosen[place] = 1
    return filter(None, compress(column(rows, name), chosen))


def make_signature(
    task: Task,
    scored: ScoreOverview,
    sent: Iterable[str],
    decodings: Iterable[str],
    data: str,
    waits: Mapping[str, str],
) -> Signature:
    """Signature of a metric: the ``sent`` prompts, model, decoding and judge.

    ``waits`` are the ``undecided_parts`` of the questions.
    """
    prompts = (
        hashlib.sha256("\n".join(found).encode()).hexdigest() if (found := sorted(sent)) else ""
    )
    parts = {
        "data": short_digest(data),
        **waits,
        "prompts": prompts[:12] or "unknown",
        "model": "+".join(sorted(set(decodings))) or "unknown",
        "judge": "+".join(sorted(scored.judges - {""})) or "none",
        "scorer": scored.first.scorer,
    }
    return Signature(task.name, task.version, scored.first.condition, parts, task.extensions)


def undecided_parts(labels: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Signature parts for open and expired annotation units, from the labels of the questions."""
    first = next(iter(labels), {})  # all questions of a table have the same
    return {name: first[name] for name in (OPEN, EXPIRED) if first.get(name)}


_NO_PARTS: Mapping[str, str] = MappingProxyType({})


def join_answers(
    questions: Sequence[Question], predictions: Sequence[Prediction]
) -> list[AnsweredQuestion]:
    """Join predictions with their questions, without missing responses."""
    questions_by_id = {question.question_id: question for question in questions}
    return [AnsweredQuestion(questions_by_id[p.question_id], p) for p in predictions if not p.error]


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
    """Build a metric without a value, with the common fields of a study's rows.

    Args:
        task: The task.
        questions: Questions of the study.
        model: The model.
        parts: Further parts of the signature.
        n_failed: Questions without a response.
        compared: Conditions, for the signature.
        before: Parts of the signature before the questions.
    """
    data = short_digest(digest(questions))
    waits = undecided_parts(question.labels for question in questions)
    parts = {**before, "data": data, **waits, **parts}
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
