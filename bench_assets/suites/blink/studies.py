"""Studies of BLINK: human score, mistakes, profiles, majority votes (section 4.3, appendix C).

The human score of a task is the mean over persons (section 4.2, appendix A.4).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import combinations
from math import cos, isnan, nan, pi, sin
from statistics import fmean

from bench_assets.annotation.responses.person_answers import PersonAnswer
from bench_assets.core.images.charts import render_svg
from bench_assets.core.schema.rows import Metric, Question, Score
from bench_assets.core.stats.rater_agreement import pairwise_agreement

ALL = "all"
ALL_BUT_IQ = "all but IQ_Test"
"""Mean of 13 tasks, the paper's 95.70: the authors answered IQ_Test themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanScore:
    """Accuracy of people on one task, or the mean of the tasks."""

    category: str
    n_persons: int
    n_answers: int
    accuracy: float  # mean of the persons' accuracies; overall, of the tasks'
    agreement: float  # share of pairs of persons that agree; NaN if no question has two answers


def human_scores(
    questions: Iterable[Question], answers: Iterable[PersonAnswer]
) -> list[HumanScore]:
    """Score people task by task, and over the tasks with and without IQ_Test."""
    by_id = {question.question_id: question for question in questions}
    by_task: dict[str, list[PersonAnswer]] = defaultdict(list)
    for answer in answers:
        by_task[by_id[answer.question_id].category].append(answer)
    tasks = [_task_score(task, of_task, by_id) for task, of_task in by_task.items()]
    without_iq = [task for task in tasks if task.category != "IQ_Test"]
    return [*tasks, _mean(ALL, tasks), _mean(ALL_BUT_IQ, without_iq)] if tasks else []


def _task_score(
    task: str, answers: Sequence[PersonAnswer], asked: dict[str, Question]
) -> HumanScore:
    by_person: dict[str, list[bool]] = defaultdict(list)
    by_question: dict[str, list[str]] = defaultdict(list)
    for answer in answers:
        by_person[answer.person].append((answer.answer,) == asked[answer.question_id].answer)
        by_question[answer.question_id].append(answer.answer)
    return HumanScore(
        category=task,
        n_persons=len(by_person),
        n_answers=len(answers),
        accuracy=fmean(map(fmean, by_person.values())),
        agreement=pairwise_agreement(by_question.values()),
    )


def _mean(name: str, tasks: Sequence[HumanScore]) -> HumanScore:
    known = [task.agreement for task in tasks if not isnan(task.agreement)]
    return HumanScore(
        category=name,
        n_persons=max((task.n_persons for task in tasks), default=0),
        n_answers=sum(task.n_answers for task in tasks),
        accuracy=fmean(task.accuracy for task in tasks) if tasks else nan,
        agreement=fmean(known) if known else nan,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonMistakes:
    """Common mistakes of two models, over the questions scored for both."""

    model: str
    other: str
    n_questions: int
    n_mistakes: int
    n_mistakes_other: int
    n_common: int
    n_expected: float  # n_common if the models' mistakes were independent


def common_mistakes(scores: Mapping[str, Sequence[Score]]) -> list[CommonMistakes]:
    """Count the common mistakes of every pair of models.

    Args:
        scores: By model; unscored rows are ignored.
    """
    wrong = {
        model: {row.question_id: row.points == 0 for row in rows if row.points is not None}
        for model, rows in scores.items()
    }
    return [
        _shared(model, wrong[model], combination, wrong[combination])
        for model, combination in combinations(wrong, 2)
    ]


def _shared(
    model: str, wrong: Mapping[str, bool], other: str, wrong_other: Mapping[str, bool]
) -> CommonMistakes:
    both_wrong = wrong.keys() & wrong_other.keys()
    n, n_other = (
        sum(wrong[question_id] for question_id in both_wrong),
        sum(wrong_other[question_id] for question_id in both_wrong),
    )
    return CommonMistakes(
        model=model,
        other=other,
        n_questions=len(both_wrong),
        n_mistakes=n,
        n_mistakes_other=n_other,
        n_common=sum(wrong[question_id] and wrong_other[question_id] for question_id in both_wrong),
        n_expected=n * n_other / len(both_wrong) if both_wrong else 0.0,
    )


_SIZE = 560  # px, side of the radar chart
_RADIUS = 180  # px, of 100 %
_COLOUR = "#2563eb"
_GREY = "#9ca3af"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAccuracy:
    """Accuracy of a model on one task."""

    task: str
    accuracy: float  # NaN if nothing could be scored
    low: float  # ends of the 95 % interval
    high: float
    chance: float
    n: int


def task_accuracies(metrics: Sequence[Metric]) -> list[TaskAccuracy]:
    """Accuracy and chance of each task, in the order of the metrics."""
    chance = {row.category: row.value for row in metrics if row.metric == "chance"}
    return [
        TaskAccuracy(
            task=row.category,
            accuracy=row.value,
            low=row.low,
            high=row.high,
            chance=chance[row.category],
            n=row.n_scored,
        )
        for row in metrics
        if row.metric == "accuracy" and row.category != "all"
    ]


def radar(profile: Sequence[TaskAccuracy], title: str) -> str:
    """Draw accuracies as an SVG radar chart: one axis per task, chance in grey.

    A task without a value is drawn in the centre.
    """
    rings = "".join(
        f'<circle cx="{_SIZE / 2}" cy="{_SIZE / 2}" r="{_RADIUS * share}" fill="none" '
        f'stroke="{_GREY}" stroke-width="0.5"/>'
        for share in (0.25, 0.5, 0.75, 1.0)
    )
    names = "".join(
        _text(x, y, task_profile.task.replace("_", " "), "middle")
        for number, task_profile in enumerate(profile)
        for x, y in [_axis_point(number, len(profile), 1.18)]
    )
    chance = _polygon(
        [task_profile.chance for task_profile in profile], f'stroke="{_GREY}" fill="none"'
    )
    model = _polygon(
        [task_profile.accuracy for task_profile in profile],
        f'stroke="{_COLOUR}" fill="{_COLOUR}33"',
    )
    return render_svg(_SIZE, _SIZE, rings + chance + model + names + _text(8, 16, title, "start"))


def _axis_point(number: int, n: int, share: float) -> tuple[float, float]:
    """Point at a share of an axis, px; the first axis points up, the others follow clockwise."""
    angle = 2 * pi * number / n - pi / 2
    reach = _RADIUS * share
    return _SIZE / 2 + reach * cos(angle), _SIZE / 2 + reach * sin(angle)


def _polygon(shares: Sequence[float], style: str) -> str:
    corners = [
        _axis_point(number, len(shares), 0.0 if isnan(share) else share)
        for number, share in enumerate(shares)
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return f'<polygon points="{points}" {style}/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def vote_over_runs(questions: Iterable[Question], scores: Iterable[Score]) -> list[Score]:
    """Vote on each question over a model's runs: the most frequent answer.

    Runs without an answer do not vote; a question without votes is wrong. The answer that came
    first wins a tie. A question with an unscored run is unscored, since that run could change the
    vote.
    """
    right = {question.question_id: question.answer for question in questions}
    runs: dict[str, list[Score]] = defaultdict(list)
    for score in sorted(scores, key=lambda one: one.sample):
        runs[score.question_id].append(score)
    return [_vote(of_question, right[name]) for name, of_question in runs.items()]


def _vote(runs: Sequence[Score], right: tuple[str, ...]) -> Score:
    votes = Counter(run.answer for run in runs if run.answer)
    answer = votes.most_common(1)[0][0] if votes else ()
    note = ", ".join(f"{'/'.join(choice)}: {n}" for choice, n in votes.items()) or "no votes"
    unscored = [run for run in runs if run.points is None]
    if unscored:
        return replace(unscored[0], sample=0, answer=(), note=f"a run is unscored; {note}")
    return replace(runs[0], points=float(answer == right), answer=answer, note=note)
