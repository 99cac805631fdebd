"""Blind solvability: accuracy without images, compared with chance and accuracy with images.

Blind runs are those of models without vision, and of conditions without images. The chance level is
that of a random option, or of the same responses shuffled over questions if that is higher. Several
blind runs are shuffled together, so that shared habits count as chance, too.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from bench_assets.audit.framework.evidence import ANSWER_SEPARATOR, Evidence, Floats, Results
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.audit.framework.significance import (
    FALSE_POSITIVE_RATE,
    GuessRate,
    compare_with_chance,
)
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.core.stats.clusters import cluster_questions
from bench_assets.core.stats.paired_tests import PairedScores, change_interval
from bench_assets.evaluation.baselines.blind_baselines import shuffle_responses
from bench_assets.evaluation.runner import Runner, StoredResponses
from bench_assets.evaluation.task import CANNOT_BE_READ, RULES, Task

_PROMPTS = 5  # of a condition that are examined for images
_TEXT_ONLY = "text_only"
"""Mark in the decoding of a model that cannot see, see ``TransformersSpec.text_only``."""
_BASELINES = frozenset({"random", "most_frequent", "constant"})

_MIN_QUESTIONS = 20  # questions
_MAX_RUNS = 6  # blind runs that are compared
_SOLVED = 0.75  # points that count as solved

Sight: TypeAlias = Literal["sees", "cannot see", "baseline"]


@dataclass(frozen=True, kw_only=True)
class BlindRun:
    """A model's run without images, under one condition."""

    model: str
    condition: str
    predictions: Sequence[Prediction]

    def __str__(self) -> str:
        """The model, with the condition if it is not the main one."""
        return self.model if self.condition == "main" else f"{self.model} ({self.condition})"


@dataclass(frozen=True, kw_only=True)
class _BlindPoints:
    """Points of blind runs on questions with images; NaN if missing."""

    questions: Sequence[Question]
    blind: Floats  # (runs, questions)
    luck: Floats  # (runs, questions)
    solved: Floats  # (questions,): whether most runs solve it
    solved_by_luck: Floats  # (questions,): probability that most runs solve it by chance
    seeing: Floats  # (questions,): of the best sighted model

    def of(self, chosen: Sequence[int]) -> "_BlindPoints":
        return _BlindPoints(
            questions=[self.questions[n] for n in chosen],
            blind=self.blind[:, chosen],
            luck=self.luck[:, chosen],
            solved=self.solved[chosen],
            solved_by_luck=self.solved_by_luck[chosen],
            seeing=self.seeing[chosen],
        )


@audit_check("needs_images", "Do the questions need their images?")
def needs_images(evidence: Evidence) -> AuditFinding:
    """Compare blind runs with chance and with the best sighted model, also by category."""
    task = evidence.task
    if not any(question.images for question in evidence.questions):
        raise SkippedCheckError("no question has an image")
    main = evidence.results("main")
    known = {model: _model_sight(evidence, model) for model in main.models}
    seeing = [n for n, model in enumerate(main.models) if known[model] == "sees"]
    runs = list(islice(_blind_runs(evidence, known), _MAX_RUNS))
    if not runs:
        raise SkippedCheckError("no model was evaluated without images")
    if not seeing:
        raise SkippedCheckError("no model was evaluated with images")
    if task.is_judged and RULES not in task.judges:
        raise SkippedCheckError("the chance level needs a judge by rules")
    full = replace(main, models=tuple(main.models[n] for n in seeing), points=main.points[seeing])
    compared = _compare_points(evidence, runs, full)
    if len(compared.questions) < _MIN_QUESTIONS:
        raise SkippedCheckError(f"{len(compared.questions)} questions were asked both ways")
    return _finding(compared, runs)


def _finding(compared: _BlindPoints, runs: Sequence[BlindRun]) -> AuditFinding:
    parts = {name: compared.of(rows) for name, rows in _parts(compared.questions).items()}
    suspects = [
        Suspect(name, reason, 2.0)
        for name, part in parts.items()
        for reason in [_solvable(part, len(parts)), _too_often_reason(part, len(parts))]
        if reason
    ]
    solved = [
        Suspect(question.question_id, "most blind runs solve it")
        for question, is_solved in zip(compared.questions, compared.solved, strict=True)
        if is_solved
    ]
    figures = (
        f"Without images {', '.join(map(str, runs))} get {_share(compared.blind):.0%} of the"
        f" points, by chance {_chance_share(compared):.0%}; with them the best model gets"
        f" {_share(compared.seeing):.0%}. Most runs solve {len(solved)} questions, by chance"
        f" {compared.solved_by_luck.sum():.0f}."
    ).replace("%", " %")
    return AuditFinding(figures, len(compared.questions), suspects + (solved if suspects else []))


def _solvable(part: _BlindPoints, tries: int) -> str:
    """Reason why a part counts as solvable without images; "" if it does not."""
    clusters = cluster_questions(part.questions)
    chance = _mean(part.luck) if _share(part.luck) >= _mean_option_chance(part.questions) else None
    rows = [
        (clusters[question.question_id], blind, by_chance, full)
        for question, blind, by_chance, full in zip(
            part.questions,
            _mean(part.blind),
            _options(part.questions) if chance is None else chance,
            part.seeing,
            strict=True,
        )
        if not np.isnan((blind, by_chance, full)).any()
    ]
    if len(rows) < _MIN_QUESTIONS:
        return ""
    pair = partial(PairedScores, most=1.0)
    over_chance = change_interval(
        [pair(by_chance, blind, name) for name, blind, by_chance, _ in rows]
    )
    to_full = change_interval([pair(blind, full, name) for name, blind, _, full in rows])
    blind, by_chance, full = (float(np.mean([row[n] for row in rows])) for n in (1, 2, 3))
    comparison = compare_with_chance(
        [row[1] for row in rows], [max(1e-6, by_chance)] * len(rows), (), tries
    )
    if over_chance[0] > 0 and comparison.p < FALSE_POSITIVE_RATE and to_full[0] <= 0:
        figures = f"blind {blind:.0%}, by chance {by_chance:.0%}, with images {full:.0%}"
        return f"is solved as well without its images: {figures}".replace("%", " %")
    return ""


def _too_often_reason(part: _BlindPoints, tries: int) -> str:
    """Reason why a part has too many questions solved blind; "" if it has not."""
    clusters = cluster_questions(part.questions)
    rate: GuessRate = compare_with_chance(
        part.solved,
        [part.solved_by_luck.mean()] * len(part.solved),
        [clusters[question.question_id] for question in part.questions],
        tries,
    )
    return f"most blind runs solve too many questions: {rate}" if rate.is_significant else ""


def _blind_runs(evidence: Evidence, known: Mapping[str, Sight]) -> Iterator[BlindRun]:
    """Runs without images, except baselines without a model."""
    for model, seeing in known.items():
        if seeing == "cannot see":
            yield BlindRun(model=model, condition="main", predictions=evidence.predictions(model))
    for name in evidence.task.conditions:
        if name != "main" and _omits_images(evidence, name):
            for model in evidence.results(name).models:
                if _model_sight(evidence, model, name) != "baseline":
                    predictions = evidence.predictions(model, name)
                    yield BlindRun(model=model, condition=name, predictions=predictions)


def _omits_images(evidence: Evidence, condition: str) -> bool:
    """Whether the prompts of a condition omit the questions' images."""
    chosen = evidence.task.conditions[condition]
    if chosen.own_questions:  # such as captions, which describe the images
        return False
    sample = [question for question in evidence.questions if question.images][:_PROMPTS]
    try:
        return bool(sample) and not any(chosen.prompt(question).images for question in sample)
    except CANNOT_BE_READ:
        return False


def _model_sight(evidence: Evidence, model: str, condition: str = "main") -> Sight:
    decodings = evidence.columns("predictions", model, ("decoding",), condition)["decoding"]
    marks = {*decodings[0].replace("|", ",").split(",")} if decodings else set()
    return "baseline" if marks & _BASELINES else "cannot see" if _TEXT_ONLY in marks else "sees"


def _parts(questions: Sequence[Question]) -> dict[str, list[int]]:
    parts: dict[str, list[int]] = defaultdict(list)
    for number, question in enumerate(questions):
        parts["all questions"].append(number)
        if question.category:
            parts[f"category {question.category}"].append(number)
    return {name: rows for name, rows in parts.items() if len(rows) >= _MIN_QUESTIONS}


def _compare_points(evidence: Evidence, runs: Sequence[BlindRun], seeing: Results) -> _BlindPoints:
    """Points of the questions that were asked with and without their images."""
    of_seeing = {name: n for n, name in enumerate(seeing.questions)}
    question_ids = {row.question_id for run in runs for row in run.predictions}
    questions = [
        question
        for question in evidence.questions
        if question.images
        and question.question_id in question_ids
        and question.question_id in of_seeing
    ]
    ids = {question.question_id for question in questions}
    run_predictions = [[row for row in run.predictions if row.question_id in ids] for run in runs]
    run_points = [_points(evidence.task, questions, rows) for rows in run_predictions]
    shuffled = [
        _points(evidence.task, questions, shuffle_responses(rows))[0] for rows in run_predictions
    ]
    blind = np.array([pair[0] for pair in run_points])
    solves = np.nan_to_num(blind) >= _SOLVED
    each, most = _chance_of_solving(questions, solves, [pair[1] for pair in run_points])
    totals = np.nan_to_num(seeing.points).sum(axis=1)
    best = seeing.points[int(totals.argmax())]
    return _BlindPoints(
        questions=questions,
        blind=blind,
        luck=np.where(_options(questions) > 0, each, shuffled),  # a single shuffle is noisy
        solved=(solves.mean(axis=0) > 0.5).astype(float),
        solved_by_luck=most,
        seeing=best[[of_seeing[question.question_id] for question in questions]],
    )


def _points(
    task: Task, questions: Sequence[Question], rows: Sequence[Prediction]
) -> tuple[list[float], list[str]]:
    """Share of points by the rules, averaged over samples, and first answer of each question."""
    _, _, scores = Runner(task=task, responses=StoredResponses(rows)).predict_and_score(questions)
    points: dict[str, list[float]] = defaultdict(list)
    answers: dict[str, str] = {}
    for score in scores:
        if score.points is not None and score.max_points > 0:
            points[score.question_id].append(score.points / score.max_points)
            answers.setdefault(score.question_id, ANSWER_SEPARATOR.join(score.answer))
    ids = [question.question_id for question in questions]
    means = [float(np.mean(points[name])) if name in points else np.nan for name in ids]
    return means, [answers.get(name, "") for name in ids]


def _chance_of_solving(
    questions: Sequence[Question], solves: npt.NDArray[np.bool_], answers: Sequence[Sequence[str]]
) -> tuple[Floats, Floats]:
    """Probability that each run, and most runs, solve a question by chance: (runs, n), (n,).

    Chance assigns a question all runs' answers to another one with as many options, which preserves
    shared habits. An answer solves a question if it did so in any run, or is its key.
    """
    n_runs = len(answers)
    each, most = np.zeros(solves.shape), np.zeros(len(questions))
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    for n, question in enumerate(questions):
        groups[question.kind, len(question.options)].append(n)
    for rows in groups.values():
        answer_counts = [Counter(of_run[n] for n in rows) for of_run in answers]
        where: dict[str, list[int]] = defaultdict(list)
        for n in rows:
            for of_run in answers:
                where[of_run[n]].append(n)
        solved_by: dict[frozenset[str], set[int]] = {}
        for n in rows:
            key = {ANSWER_SEPARATOR.join(questions[n].answer), *questions[n].answer}
            right_answers = {answers[run][n] for run in range(n_runs) if solves[run, n]}
            right = frozenset(key | right_answers) - {""}
            if right not in solved_by:
                times = Counter(run for text in right for run in where.get(text, ()))
                solved_by[right] = {run for run, k in times.items() if k > n_runs / 2}
            n_others = max(1, len(rows) - 1)
            most[n] = len(solved_by[right] - {n}) / n_others
            for run, counts in enumerate(answer_counts):
                is_right = answers[run][n] in right
                each[run, n] = (sum(counts[text] for text in right) - is_right) / n_others
    return each, most


def _options(questions: Sequence[Question]) -> Floats:
    """Chance level of a random option, by question; 0 without options."""
    return np.array(
        [1 / len(question.options) if len(question.options) > 1 else 0.0 for question in questions]
    )


def _mean_option_chance(questions: Sequence[Question]) -> float:
    return float(_options(questions).mean())


def _chance_share(part: _BlindPoints) -> float:
    """Share of points by chance: of the shuffled responses, or of a random option."""
    return max(_share(part.luck), _mean_option_chance(part.questions))


def _mean(points: Floats) -> Floats:
    """Mean of the available points over runs; NaN without any."""
    available = ~np.isnan(points)
    sums = np.nan_to_num(points).sum(axis=0)
    return np.where(available.any(axis=0), sums / np.maximum(1, available.sum(axis=0)), np.nan)


def _share(points: Floats) -> float:
    return float(np.nanmean(points)) if not np.isnan(points).all() else 0.0
