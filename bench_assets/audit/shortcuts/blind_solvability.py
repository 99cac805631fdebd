"""Blind solvability: accuracy without images, and its share of the full score.

Blind is a model that cannot see, and one that was asked under a condition whose prompts have no
images. Two things are held against what it gets: what the best model gets that sees, and luck:
what a random option gets, or the same responses, each given to another question, if that is more.

Who was asked without images: models that cannot see, and conditions that show none.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Literal, TypeAlias

import numpy as np

from bench_assets.audit.framework.evidence import Evidence, Floats, Results
from bench_assets.audit.framework.findings import AuditFinding, Suspect
from bench_assets.audit.framework.significance import DOUBT, guessed
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.core.stats.paired_tests import PairedScores, clusters_of, interval
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.blind_baselines import shuffled
from bench_assets.evaluation.task import CANNOT_BE_READ, RULES, Task

_ASKED = 5  # questions of a condition whose prompts are looked at
_BLIND = "text_only"
"""What stands in the decoding of a model that cannot see, see ``TransformersSpec.text_only``."""
_BASELINES = frozenset({"random", "most_frequent", "constant"})

Seeing: TypeAlias = Literal["sees", "cannot see", "baseline"]


@dataclass(frozen=True, kw_only=True)
class BlindRun:
    """One model under one condition without images."""

    model: str
    condition: str
    predictions: Sequence[Prediction]

    @property
    def shown(self) -> str:
        """The model, and how it was asked."""
        return self.model if self.condition == "main" else f"{self.model} ({self.condition})"


def how_seeing(evidence: Evidence, models: Sequence[str]) -> dict[str, Seeing]:
    """Model -> whether it looks at images, as its responses to the paper's condition tell."""
    return {model: _seeing(evidence, model) for model in models}


def askings_without(
    evidence: Evidence, main: Results, known: Mapping[str, Seeing]
) -> Iterator[BlindRun]:
    """Find who was asked without images; baselines, which ask nobody, are left out."""
    for model in main.models:
        if known[model] == "cannot see":
            yield BlindRun(model=model, condition="main", predictions=evidence.predictions(model))
    for name in evidence.task.conditions:
        if name != "main" and _shows_nothing(evidence, name):
            for model in evidence.results(name).models:
                if _seeing(evidence, model, name) != "baseline":
                    said = evidence.predictions(model, name)
                    yield BlindRun(model=model, condition=name, predictions=said)


def _shows_nothing(evidence: Evidence, condition: str) -> bool:
    """Whether the prompts of a condition have no images, of questions that have some."""
    asking = evidence.task.conditions[condition]
    if asking.own_questions:  # captions, texts in images: they tell what the images show
        return False
    some = [one for one in evidence.questions if one.images][:_ASKED]
    try:
        return bool(some) and not any(asking.prompt(one).images for one in some)
    except CANNOT_BE_READ:
        return False


def _seeing(evidence: Evidence, model: str, condition: str = "main") -> Seeing:
    said = evidence.columns("predictions", model, ("decoding",), condition)["decoding"]
    marks = {*said[0].replace("|", ",").split(",")} if said else set()
    return "baseline" if marks & _BASELINES else "cannot see" if _BLIND in marks else "sees"


_LEAST = 20  # questions that it takes to compare
_MOST = 6  # blind askings that are read; further ones tell little more
_SOLVED = 0.75  # points that count as solved


@dataclass(frozen=True, kw_only=True)
class _BlindPoints:
    """Points of the questions that were asked blind as well, NaN where there are none."""

    questions: Sequence[Question]
    blind: Floats  # (askings, questions)
    luck: Floats  # (askings, questions)
    seeing: Floats  # (questions,): of the best model that sees

    def of(self, chosen: Sequence[int]) -> "_BlindPoints":
        return _BlindPoints(
            questions=[self.questions[n] for n in chosen],
            blind=self.blind[:, chosen],
            luck=self.luck[:, chosen],
            seeing=self.seeing[chosen],
        )


def needs_images(evidence: Evidence) -> AuditFinding:
    """Hold what is got without images against what is got with them, also by category."""
    task, questions = evidence.task, evidence.questions
    if not any(one.images for one in questions):
        return AuditFinding.not_looked_at("no question has an image")
    main = evidence.results("main")
    known = how_seeing(evidence, main.models)
    seeing = [n for n, model in enumerate(main.models) if known[model] == "sees"]
    askings = list(islice(askings_without(evidence, main, known), _MOST))
    if not askings:
        return AuditFinding.not_looked_at("no model was asked without images")
    if not seeing:
        return AuditFinding.not_looked_at("no model that sees was asked")
    if task.is_judged and RULES not in task.judges:
        return AuditFinding.not_looked_at("only a model can judge what is luck")
    full = replace(main, models=tuple(main.models[n] for n in seeing), points=main.points[seeing])
    compared = _compared(evidence, askings, full)
    if len(compared.questions) < _LEAST:
        return AuditFinding.not_looked_at(
            f"{len(compared.questions)} questions were asked both ways"
        )
    return _told(compared, [one.shown for one in askings])


def _told(compared: _BlindPoints, askings: Sequence[str]) -> AuditFinding:
    parts = _parts(compared.questions)
    solvable = {
        name: why
        for name, rows in parts.items()
        for why in [_solvable(compared.of(rows), len(parts))]
        if why
    }
    suspects = [Suspect(name, why, 2.0) for name, why in solvable.items()]
    solved = list(_solved_blind(compared))
    if _too_many(compared):
        suspects += solved
    blind, full = _share(compared.blind), _share(compared.seeing)
    figures = (
        f"Without images {', '.join(askings)} get {blind:.0%} of the points, by luck"
        f" {_share(compared.luck):.0%}; with them the best model gets {full:.0%}."
        f" Most solve {len(solved)} questions blind."
    ).replace("%", " %")
    return AuditFinding(not suspects, figures, len(compared.questions), suspects)


def _solvable(compared: _BlindPoints, tries: int) -> str:
    """Say that blind is better than luck, and not worse than seeing; "" if it is not so."""
    clusters = clusters_of(compared.questions)
    rows = zip(
        compared.questions,
        _mean(compared.blind),
        _mean(compared.luck),
        compared.seeing,
        strict=True,
    )
    known = [row for row in rows if not np.isnan(row[1:]).any()]
    if len(known) < _LEAST:
        return ""
    pair = partial(PairedScores, most=1.0)
    over_luck = interval([pair(c, b, clusters[q.question_id]) for q, b, c, _ in known])
    to_full = interval([pair(b, f, clusters[q.question_id]) for q, b, _, f in known])
    blind, luck, full = (float(np.mean([row[n] for row in known])) for n in (1, 2, 3))
    best = guessed([row[1] for row in known], [max(1e-6, luck)] * len(known), (), tries)
    if over_luck[0] > 0 and best.p < DOUBT and to_full[0] <= 0:
        said = f"blind {blind:.0%}, by luck {luck:.0%}, with images {full:.0%}"
        return f"is solved as well without its images: {said}".replace("%", " %")
    return ""


def _solved_blind(compared: _BlindPoints) -> Iterator[Suspect]:
    """Questions that most of those who see nothing solve."""
    shares = _shares_solved(compared.blind)
    for question, share in zip(compared.questions, shares, strict=True):
        if share > 0.5 and question.images:
            n = len(compared.blind)
            why = f"{share * n:.0f} of {n} solve it blind"
            yield Suspect(question.question_id, why, float(share))


def _too_many(compared: _BlindPoints) -> bool:
    """Whether most solve more questions blind than they would by luck, beyond doubt."""
    solved = (_shares_solved(compared.blind) > 0.5).astype(float)
    clusters = clusters_of(compared.questions)
    luck = float(_share(compared.luck))  # of one response; most of several are right no more often
    margin = 2 * np.sqrt(luck * (1 - luck) / len(solved))  # one deal of responses tells it roughly
    found = guessed(
        solved,
        [min(1.0, luck + margin)] * len(solved),
        [clusters[one.question_id] for one in compared.questions],
    )
    return found.gives_away


def _shares_solved(points: Floats) -> Floats:
    there = ~np.isnan(points)
    solved = (np.nan_to_num(points) >= _SOLVED) & there
    return np.asarray(solved.sum(axis=0) / np.maximum(1, there.sum(axis=0)), dtype=np.float64)


def _parts(questions: Sequence[Question]) -> dict[str, list[int]]:
    parts: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(questions):
        parts["all questions"].append(number)
        if one.category:
            parts[f"category {one.category}"].append(number)
    return {name: rows for name, rows in parts.items() if len(rows) >= _LEAST}


def _compared(evidence: Evidence, askings: Sequence[BlindRun], seeing: Results) -> _BlindPoints:
    """Put together the points of the questions that have images and were asked both ways."""
    of_seeing = {name: n for n, name in enumerate(seeing.questions)}
    asked = {row.question_id for one in askings for row in one.predictions}
    questions = [
        one
        for one in evidence.questions
        if one.images and one.question_id in asked and one.question_id in of_seeing
    ]
    ids = [one.question_id for one in questions]
    own = [_points(evidence.task, questions, one.predictions, ids) for one in askings]
    dealt = [_points(evidence.task, questions, shuffled(_of(one, ids)), ids) for one in askings]
    options = [1 / len(one.options) if len(one.options) > 1 else 0.0 for one in questions]
    return _BlindPoints(
        questions=questions,
        blind=np.array(own),
        luck=np.maximum(dealt, options),  # NaN stays
        seeing=_best(seeing.points[:, [of_seeing[name] for name in ids]]),
    )


def _best(points: Floats) -> Floats:
    """The row of the model that gets most."""
    totals = np.nan_to_num(points).sum(axis=1)
    return np.asarray(points[int(totals.argmax())] if points.size else points.sum(axis=0))


def _mean(points: Floats) -> Floats:
    """Over rows, of those that are there; NaN where there are none."""
    there = ~np.isnan(points)
    sums = np.nan_to_num(points).sum(axis=0)
    return np.where(there.any(axis=0), sums / np.maximum(1, there.sum(axis=0)), np.nan)


def _of(asking: BlindRun, ids: Sequence[str]) -> list[Prediction]:
    known = set(ids)
    return [row for row in asking.predictions if row.question_id in known]


def _points(
    task: Task, questions: Sequence[Question], said: Sequence[Prediction], ids: Sequence[str]
) -> list[float]:
    """Shares of each question's points, as the rules see it; the mean of its draws."""
    known = set(ids)
    rows = [row for row in said if row.question_id in known]
    judgements = pipeline.judge(task, questions, rows, None) if task.is_judged else []
    found: dict[str, list[float]] = defaultdict(list)
    for score in pipeline.score(task, questions, rows, judgements):
        if score.points is not None and score.max_points > 0:
            found[score.question_id].append(score.points / score.max_points)
    return [float(np.mean(found[name])) if name in found else np.nan for name in ids]


def _share(points: Floats) -> float:
    return float(np.nanmean(points)) if not np.isnan(points).all() else 0.0
