"""Studies of BLINK: human score, majority votes (section 4.3, appendix C).

The human score of a task is the mean over persons (section 4.2, appendix A.4).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from statistics import fmean

from bench_assets.annotation.responses.person_answers import PersonAnswer
from bench_assets.core.schema.rows import Question, Score
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
        # Answers to questions that a later build no longer has are ignored.
        if question := by_id.get(answer.question_id):
            by_task[question.category].append(answer)
    if not by_task:
        return []
    scores = [_task_score(task, task_answers, by_id) for task, task_answers in by_task.items()]
    without_iq = [score for score in scores if score.category != "IQ_Test"]
    return [*scores, _mean_score(ALL, scores), _mean_score(ALL_BUT_IQ, without_iq)]


def _task_score(
    task: str, answers: Sequence[PersonAnswer], by_id: dict[str, Question]
) -> HumanScore:
    by_person: dict[str, list[bool]] = defaultdict(list)
    by_question: dict[str, list[str]] = defaultdict(list)
    for answer in answers:
        by_person[answer.person].append((answer.answer,) == by_id[answer.question_id].answer)
        by_question[answer.question_id].append(answer.answer)
    return HumanScore(
        category=task,
        n_persons=len(by_person),
        n_answers=len(answers),
        accuracy=fmean(map(fmean, by_person.values())),
        agreement=pairwise_agreement(by_question.values()),
    )


def _mean_score(category: str, task_scores: Sequence[HumanScore]) -> HumanScore:
    agreements = [score.agreement for score in task_scores if not isnan(score.agreement)]
    return HumanScore(
        category=category,
        n_persons=max((score.n_persons for score in task_scores), default=0),
        n_answers=sum(score.n_answers for score in task_scores),
        accuracy=fmean(score.accuracy for score in task_scores) if task_scores else nan,
        agreement=fmean(agreements) if agreements else nan,
    )


def vote_over_runs(questions: Iterable[Question], scores: Iterable[Score]) -> list[Score]:
    """Score each question by the most frequent answer of a model's runs.

    Runs without an answer do not vote; a question without votes is wrong. The answer that came
    first wins a tie. A question with an unscored run is unscored, since that run could change the
    vote.
    """
    keys = {question.question_id: question.answer for question in questions}
    runs_by_question: dict[str, list[Score]] = defaultdict(list)
    for score in sorted(scores, key=lambda score: score.sample):
        runs_by_question[score.question_id].append(score)
    return [_vote(runs, keys[question_id]) for question_id, runs in runs_by_question.items()]


def _vote(runs: Sequence[Score], key: tuple[str, ...]) -> Score:
    votes = Counter(run.answer for run in runs if run.answer)
    answer = votes.most_common(1)[0][0] if votes else ()
    counts = [f"{'/'.join(choice)}: {n}" for choice, n in votes.items()]
    note = ", ".join(counts) if counts else "no votes"
    unscored = [run for run in runs if run.points is None]
    if unscored:
        return replace(unscored[0], sample=0, answer=(), note=f"a run is unscored; {note}")
    return replace(runs[0], points=float(answer == key), answer=answer, note=note)
