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
from bench_assets.audit.framework.significance import FALSE_POSITIVE_RATE, compare_with_chance
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.core.stats.clusters import cluster_questions
from bench_assets.core.stats.paired_tests import PairedScores, change_interval
from bench_assets.evaluation.baselines.blind_baselines import shuffle_responses
from bench_assets.evaluation.runner import Runner, StoredResponses
from bench_assets.evaluation.task import CANNOT_BE_READ, Task

_MAX_PROMPTS = 5  # prompts of a condition that are examined for images
_TEXT_ONLY = "text_only"
"""Mark in the decoding of a model that cannot see, see ``TransformersSpec.text_only``."""
_BASELINES = frozenset({"random", "most_frequent", "constant"})

_MIN_QUESTIONS = 20  # questions; with fewer, the check is skipped
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
    luck: Floats  # (runs, questions): points that chance gives
    solved: Floats  # (questions,): whether most runs solve it
    solved_by_luck: Floats  # (questions,): probability that most runs solve it by chance
    seeing: Floats  # (questions,): of the best sighted model

    def select(self, indices: Sequence[int]) -> "_BlindPoints":
        """Select questions by their indices."""
        return _BlindPoints(
            questions=[self.questions[index] for index in indices],
            blind=self.blind[:, indices],
            luck=self.luck[:, indices],
            solved=self.solved[indices],
            solved_by_luck=self.solved_by_luck[indices],
            seeing=self.seeing[indices],
        )


@audit_check("needs_images", "Do the questions need their images?")
def needs_images(evidence: Evidence) -> AuditFinding:
    """Compare blind runs with chance and with the best sighted model, also by category."""
    if not any(question.images for question in evidence.questions):
        raise SkippedCheckError("no question has an image")
    main = evidence.results("main")
    sights = {model: _model_sight(evidence, model) for model in main.models}
    seeing = [index for index, model in enumerate(main.models) if sights[model] == "sees"]
    runs = list(islice(_blind_runs(evidence, sights), _MAX_RUNS))
    if not runs:
        raise SkippedCheckError("no model was evaluated without images")
    if not seeing:
        raise SkippedCheckError("no model was evaluated with images")
    if not evidence.task.is_scored_without_judge:
        raise SkippedCheckError("the chance level needs a judge by rules")
    sighted = replace(
        main, models=tuple(main.models[index] for index in seeing), points=main.points[seeing]
    )
    compared = _compare_points(evidence, runs, sighted)
    if len(compared.questions) < _MIN_QUESTIONS:
        n = len(compared.questions)
        raise SkippedCheckError(f"questions asked both ways: {n}; {_MIN_QUESTIONS} are needed")
    return _finding(compared, runs)


def _finding(compared: _BlindPoints, runs: Sequence[BlindRun]) -> AuditFinding:
    """Suspect the parts that are solved blind and, if there are any, the solved questions."""
    parts = {name: compared.select(rows) for name, rows in _parts(compared.questions).items()}
    suspects = [
        Suspect(name, reason, weight=2.0)
        for name, part in parts.items()
        for reason in (_solvable_reason(part, len(parts)), _too_often_reason(part, len(parts)))
        if reason
    ]
    solved = [
        Suspect(question.question_id, "most blind runs solve it")
        for question, is_solved in zip(compared.questions, compared.solved, strict=True)
        if is_solved
    ]
    by_chance = max(_share(compared.luck), _mean_option_chance(compared.questions))
    sentence = (
        f"Without images {', '.join(map(str, runs))} get {_share(compared.blind):.0%} of the"
        f" points, by chance {by_chance:.0%}; with them the best model gets"
        f" {_share(compared.seeing):.0%}. Questions that most runs solve: {len(solved)}, by chance"
        f" {compared.solved_by_luck.sum():.0f}."
    ).replace("%", " %")
    if suspects:
        suspects += solved
    return AuditFinding(sentence=sentence, n=len(compared.questions), suspects=suspects)


def _solvable_reason(part: _BlindPoints, tries: int) -> str:
    """Reason why a part is as easy without images as with them, and above chance; else "".

    Also "" if too few of its questions have points both ways.
    """
    is_luck_higher = _share(part.luck) >= _mean_option_chance(part.questions)
    luck = _mean_over_runs(part.luck) if is_luck_higher else _option_chances(part.questions)
    blind, seeing = _mean_over_runs(part.blind), part.seeing
    complete = np.flatnonzero(~np.isnan(blind + luck + seeing))
    if len(complete) < _MIN_QUESTIONS:
        return ""
    clusters = cluster_questions(part.questions)
    over_luck, seeing_over_blind = [], []
    for index in complete.tolist():
        cluster = clusters[part.questions[index].question_id]
        over_luck.append(PairedScores(before=luck[index], after=blind[index], cluster=cluster))
        seeing_over_blind.append(
            PairedScores(before=blind[index], after=seeing[index], cluster=cluster)
        )
    blind_share, luck_share, seeing_share = (
        float(points[complete].mean()) for points in (blind, luck, seeing)
    )
    chances = [max(1e-6, luck_share)] * len(complete)  # at 0, any hit would be significant
    rate = compare_with_chance(blind[complete], chances, tries=tries)
    gain_over_luck, _ = change_interval(over_luck)
    gain_of_images, _ = change_interval(seeing_over_blind)
    if gain_over_luck <= 0 or rate.p >= FALSE_POSITIVE_RATE or gain_of_images > 0:
        return ""
    figures = f"blind {blind_share:.0%}, by chance {luck_share:.0%}, with images {seeing_share:.0%}"
    return f"is solved as well without its images: {figures}".replace("%", " %")


def _too_often_reason(part: _BlindPoints, tries: int) -> str:
    """Reason why a part has too many questions solved blind; "" if it has not."""
    clusters = cluster_questions(part.questions)
    rate = compare_with_chance(
        part.solved,
        [part.solved_by_luck.mean()] * len(part.solved),
        [clusters[question.question_id] for question in part.questions],
        tries,
    )
    return f"most blind runs solve too many questions: {rate}" if rate.is_significant else ""


def _blind_runs(evidence: Evidence, sights: Mapping[str, Sight]) -> Iterator[BlindRun]:
    """Runs without images, except baselines without a model."""
    for model, sight in sights.items():
        if sight == "cannot see":
            yield BlindRun(model=model, condition="main", predictions=evidence.predictions(model))
    for condition in evidence.task.conditions:
        if condition == "main" or not _omits_images(evidence, condition):
            continue
        for model in evidence.results(condition).models:
            if _model_sight(evidence, model, condition) != "baseline":
                predictions = evidence.predictions(model, condition)
                yield BlindRun(model=model, condition=condition, predictions=predictions)


def _omits_images(evidence: Evidence, name: str) -> bool:
    """Whether the prompts of a condition omit images, by a few; not if one cannot be made."""
    condition = evidence.task.conditions[name]
    if condition.own_questions:  # such as captions, which describe the images
        return False
    sample = [question for question in evidence.questions if question.images][:_MAX_PROMPTS]
    try:
        return bool(sample) and not any(condition.prompt(question).images for question in sample)
    except CANNOT_BE_READ:
        return False


def _model_sight(evidence: Evidence, model: str, condition: str = "main") -> Sight:
    """Kind of a model, by the marks in its decoding; one without a mark sees."""
    marks = set(evidence.decoding(model, condition).replace("|", ",").split(","))
    if marks & _BASELINES:
        return "baseline"
    return "cannot see" if _TEXT_ONLY in marks else "sees"


def _parts(questions: Sequence[Question]) -> dict[str, list[int]]:
    """Indices of all questions and of each category's, by name, without small parts."""
    parts: dict[str, list[int]] = defaultdict(list)
    for index, question in enumerate(questions):
        parts["all questions"].append(index)
        if question.category:
            parts[f"category {question.category}"].append(index)
    return {name: indices for name, indices in parts.items() if len(indices) >= _MIN_QUESTIONS}


def _compare_points(evidence: Evidence, runs: Sequence[BlindRun], sighted: Results) -> _BlindPoints:
    """Points of the questions that were asked with and without their images."""
    sighted_columns = {name: column for column, name in enumerate(sighted.questions)}
    asked_blind = {row.question_id for run in runs for row in run.predictions}
    asked_both_ways = asked_blind & sighted_columns.keys()
    questions = [q for q in evidence.questions if q.images and q.question_id in asked_both_ways]
    columns = [sighted_columns[question.question_id] for question in questions]
    ids = {question.question_id for question in questions}
    run_predictions = [[row for row in run.predictions if row.question_id in ids] for run in runs]
    score = partial(_score_by_rules, evidence.task, questions)
    scored_runs = [score(predictions) for predictions in run_predictions]
    shuffled_runs = [score(shuffle_responses(predictions)) for predictions in run_predictions]
    shuffled_points = np.array([points for points, _ in shuffled_runs])
    blind = np.array([points for points, _ in scored_runs])
    solves = np.nan_to_num(blind) >= _SOLVED
    answers = [run_answers for _, run_answers in scored_runs]
    by_run, by_most_runs = _chance_of_solving(questions, solves, answers)
    totals = np.nan_to_num(sighted.points).sum(axis=1)
    best = sighted.points[int(totals.argmax())]
    has_options = _option_chances(questions) > 0
    return _BlindPoints(
        questions=questions,
        blind=blind,
        luck=np.where(has_options, by_run, shuffled_points),  # a single shuffle is noisy
        solved=(solves.mean(axis=0) > 0.5).astype(float),
        solved_by_luck=by_most_runs,
        seeing=best[columns],
    )


def _score_by_rules(
    task: Task, questions: Sequence[Question], rows: Sequence[Prediction]
) -> tuple[list[float], list[str]]:
    """Mean share of points and first answer of each question; NaN and "" if it has no points."""
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
    right = [
        _right_answers(question, [row[index] for row in answers], solves[:, index])
        for index, question in enumerate(questions)
    ]
    by_run, by_most_runs = np.zeros(solves.shape), np.zeros(len(questions))
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    for index, question in enumerate(questions):
        groups[question.kind, len(question.options)].append(index)
    for group in groups.values():
        n_others = max(1, len(group) - 1)
        by_most_runs[group] = np.array(_count_in_most_runs(group, right, answers)) / n_others
        for run, run_answers in enumerate(answers):
            counts = Counter(run_answers[index] for index in group)
            for index in group:
                n_right = sum(counts[text] for text in right[index])
                by_run[run, index] = (n_right - (run_answers[index] in right[index])) / n_others
    return by_run, by_most_runs


def _count_in_most_runs(
    group: Sequence[int], right: Sequence[frozenset[str]], answers: Sequence[Sequence[str]]
) -> list[int]:
    """For each question of a group, count the others whose answers in most runs would solve it."""
    answered_with: dict[str, list[int]] = defaultdict(list)  # questions, once for each run
    for run_answers in answers:
        for index in group:
            answered_with[run_answers[index]].append(index)
    solving: dict[frozenset[str], set[int]] = {}
    for texts in {right[index] for index in group}:
        n_runs = Counter(index for text in texts for index in answered_with.get(text, ()))
        solving[texts] = {index for index, n in n_runs.items() if n > len(answers) / 2}
    return [len(solving[right[index]] - {index}) for index in group]


def _right_answers(
    question: Question, answers: Sequence[str], solves: npt.NDArray[np.bool_]
) -> frozenset[str]:
    """Key of a question, or its references, and the answers of those runs that solve it."""
    solving = {answer for answer, is_solved in zip(answers, solves, strict=True) if is_solved}
    references = question.answer if question.kind == "text" else ()
    return frozenset({ANSWER_SEPARATOR.join(question.answer), *references, *solving} - {""})


def _option_chances(questions: Sequence[Question]) -> Floats:
    """Chance level of a random option, by question; 0 without options."""
    return np.array(
        [1 / len(question.options) if len(question.options) > 1 else 0.0 for question in questions]
    )


def _mean_option_chance(questions: Sequence[Question]) -> float:
    return float(_option_chances(questions).mean())


def _mean_over_runs(points: Floats) -> Floats:
    """Mean of the available points over runs; NaN without any."""
    available = ~np.isnan(points)
    sums = np.nan_to_num(points).sum(axis=0)
    return np.where(available.any(axis=0), sums / np.maximum(1, available.sum(axis=0)), np.nan)


def _share(points: Floats) -> float:
    """Mean of the available points; 0 without any."""
    return float(np.nanmean(points)) if not np.isnan(points).all() else 0.0
