"""How replies are read: by rules, by a judge, not at all; and what hangs on it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Literal, NamedTuple, TypeAlias

from bench_assets.core.paired import clusters_of
from bench_assets.core.rows import Judgement, Prediction, Score
from bench_assets.soundness.evidence import Evidence
from bench_assets.soundness.examined import Finding, Suspect
from bench_assets.soundness.rank_at_stake import turned
from bench_assets.soundness.reply_forms import Form, form_of

NOBODY = "no model that talks was measured"

Reader: TypeAlias = Literal["rule", "judge", "unread", "silent"]
"""Who read an answer out of a reply; ``silent``: there is none, or the model was cut off."""


class Read(NamedTuple):
    """One reply, and who read it."""

    question: str
    form: Form
    by: Reader
    points: float | None  # share; None where it is unscored


def readers(
    predictions: Sequence[Prediction], judgements: Iterable[Judgement], scores: Iterable[Score]
) -> list[Read]:
    """Say of each reply of one model who read it; those that never came are left out.

    Unread is a reply that says something, and out of which nobody took an answer, or on which the
    judge said nothing readable.
    """
    judged = {(row.question_id, row.sample) for row in judgements if not row.by_rules or row.error}
    scored = {(row.question_id, row.sample): row for row in scores if not row.error}
    return [
        Read(
            said.question_id,
            form,
            _reader(form, scored[key], by_model=key in judged),
            _share(scored[key]),
        )
        for said in predictions
        for key in [(said.question_id, said.sample)]
        if key in scored and not said.ranking
        for form in [form_of(said.text)]
    ]


def unread_finding(evidence: Evidence) -> Finding:
    """Find models whose place hangs on replies that nobody read.

    Tried are two ways of counting them: what says something and was taken for wrong gets what the
    model's other replies in words get; what is unscored gets nothing.
    """
    if evidence.task.asked_of != "model":
        return Finding.not_looked_at(NOBODY)
    read = {
        model: readers(
            evidence.predictions(model), evidence.judgements(model), evidence.scores(model)
        )
        for model in evidence.results().models
    }
    read = {model: rows for model, rows in read.items() if rows}
    if not read:
        return Finding.not_looked_at(NOBODY)
    suspects = _at_stake(read, clusters_of(evidence.questions))
    every = [one for rows in read.values() for one in rows]
    return Finding(
        passed=not suspects,
        sentence=(
            f"Of {len(every)} replies: {_shares(every)}. Not read, by form: {_unread_forms(every)}."
            f" By model: {'; '.join(f'{model}: {_shares(rows)}' for model, rows in read.items())}."
        ),
        n=len(every),
        suspects=suspects,
    )


def shares(rows: Sequence[Read]) -> dict[Reader, float]:
    """Share of the replies that each reader read."""
    counted = Counter(row.by for row in rows)
    return {name: counted[name] / len(rows) for name in ("rule", "judge", "unread", "silent")}


def _reader(form: Form, score: Score, *, by_model: bool) -> Reader:
    read = score.points is not None and (by_model or bool(score.answer))
    if score.no_answer or (form == "nothing" and not read):
        return "silent"
    if not read:
        return "unread"
    return "judge" if by_model else "rule"


def _at_stake(read: Mapping[str, Sequence[Read]], cluster: Mapping[str, str]) -> list[Suspect]:
    now = {model: _points(rows) for model, rows in read.items()}
    otherwise = {
        "unread replies were as the others": {
            model: _points(rows, unread=_usual(rows)) for model, rows in read.items()
        },
        "unscored replies were wrong": {
            model: _points(rows, unscored=0.0) for model, rows in read.items()
        },
    }
    return [
        Suspect(
            about,
            f"{_shares(read[about])}; {one.better} leads {one.worse} by {one.now:.3f}, and by"
            f" {one.then:.3f} if {why}",
            -one.then,
        )
        for why, then in otherwise.items()
        for one in turned(now, then, cluster)
        for about in [max((one.better, one.worse), key=lambda name: shares(read[name])["unread"])]
    ]


def _points(
    rows: Iterable[Read], unread: float | None = None, unscored: float | None = None
) -> dict[str, float]:
    """Mean share of points by question, as a metric has it: without what is unscored.

    Args:
        rows: Of one model.
        unread: What is given for replies that were taken for wrong because nobody read them.
        unscored: What is given for replies without points.
    """
    drawn: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        given = row.points
        if given is None:
            given = unscored
        elif row.by == "unread" and unread is not None:
            given = unread
        if given is not None:
            drawn[row.question].append(given)
    return {question: fmean(points) for question, points in drawn.items()}


def _share(score: Score) -> float | None:
    return None if score.points is None else score.points / (score.max_points or 1.0)


def _usual(rows: Sequence[Read]) -> float | None:
    points = [row.points for row in rows if row.by in ("rule", "judge") and row.points is not None]
    return fmean(points) if points else None


def _shares(rows: Sequence[Read]) -> str:
    return ", ".join(f"{share:.0%} {name}" for name, share in shares(rows).items() if share)


def _unread_forms(rows: Iterable[Read]) -> str:
    unread = Counter(row.form for row in rows if row.by == "unread")
    return ", ".join(f"{form} {n}" for form, n in unread.most_common()) or "none"
