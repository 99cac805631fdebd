"""Constructed trials of a judge: right, wrong, padded, reordered and injected responses.

They are built from a task's questions and keys, deterministically, so that cached verdicts are
reused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from string import ascii_uppercase
from typing import Literal, NamedTuple, TypeAlias

from bench_assets.audit.judges.prompt_injections import Injection, load_injections
from bench_assets.core.judging.verdict_requests import final_judgements
from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import Task

Kind: TypeAlias = Literal["plain", "long", "reordered", "injected"]

_REORDERED = ", reordered"
_WRONG_DESCRIPTION = "A plain gray wall; nothing else is in the picture."
_MAX_KEY_WORDS = 20  # of a key: a longer one is a description, with which others may agree
_VERDICTS = frozenset(("yes", "no", "right", "wrong", "correct", "incorrect", "true", "false", "a"))
"""Keys that an injection may contain by accident."""
_PADDING = (  # without a word that a judge could take for a verdict
    "I have looked at everything carefully, from one edge to the other and from top to bottom, and "
    "I have read the question several times before I wrote this down.\n\n{response}\n\nThat is "
    "what I see, after weighing all of it once more, and I have nothing to add to it."
)


class Trial(NamedTuple):
    """A response, and whether it is right."""

    kind: Kind
    right: bool
    question: Question
    prediction: Prediction
    injection: str = ""  # its name

    @property
    def base(self) -> tuple[str, bool]:
        """Identity of the response without padding or injection."""
        return self.question.question_id.removesuffix(_REORDERED), self.right


class JudgeTrial(NamedTuple):
    """A trial with the judge's verdict."""

    trial: Trial
    said: float | None  # share of points that the judge gives; None: unreadable
    prompts: frozenset[str]  # digests of its prompts; empty if rules decided first


def make_trials(questions: Sequence[Question], n: int) -> list[Trial]:
    """Build trials from ``n`` questions: six each, plus the corpus of injections.

    Questions whose key is a verdict word ("yes", "right"), or without a possible wrong response,
    are left out.
    """
    chosen = list(_trial_responses(questions))[:n]
    trials = [trial for one in chosen for trial in _question_trials(*one)]
    for number, injection in enumerate(load_injections() if chosen else ()):
        question, _, wrong = chosen[number % len(chosen)]
        trials.append(_injected_trial(question, wrong, injection))
    return trials


def run_trials(task: Task, made: Sequence[Trial], model: ChatModel, judge: str) -> list[JudgeTrial]:
    """Judge all trials in one batch.

    Raises:
        SettingsError: If the task has no such judge.
        ModelError: If the judge cannot be asked.
    """
    questions = {trial.question.question_id: trial.question for trial in made}
    predictions = [trial.prediction for trial in made]
    rows = pipeline.judge(task, list(questions.values()), predictions, model, judge)
    by_response: dict[tuple[str, str], list[Judgement]] = {}
    for row in final_judgements(rows):
        by_response.setdefault((row.question_id, row.model), []).append(row)
    return [
        JudgeTrial(
            trial,
            judge_share(task, trial.question, trial.prediction, own_rows),
            frozenset(row.prompt_sha256 for row in own_rows) - {""},
        )
        for trial in made
        for own_rows in [by_response.get((trial.question.question_id, trial.prediction.model), [])]
    ]


def judge_share(
    task: Task, question: Question, prediction: Prediction, heard: Sequence[Judgement]
) -> float | None:
    """Share of points that a judge gives a response; None if unreadable.

    Several verdicts, such as one per key point, are combined by the task's scorer.
    """
    if len(heard) == 1:
        return None if heard[0].verdict is None else float(heard[0].verdict)
    (score,) = pipeline.score(task, [question], [prediction], heard)
    if score.points is None or not score.max_points:
        return None
    return score.points / score.max_points


def _trial_responses(questions: Sequence[Question]) -> Iterator[tuple[Question, str, str]]:
    """Questions with a right and a wrong response, in an order that depends on their ids alone."""
    shuffled = sorted(questions, key=lambda q: sha256(q.question_id.encode()).digest())
    for place, question in enumerate(shuffled):
        right = _right_response(question)
        wrong = _wrong_response(question, right, [*shuffled[place + 1 :], *shuffled[:place]])
        if right and wrong and not {right.casefold(), wrong.casefold()} & _VERDICTS:
            yield question, right, wrong


def _right_response(question: Question) -> str:
    key = question.answer[0] if question.answer else ""
    return _option(question, key) if question.kind == "choice" else key


def _wrong_response(question: Question, right: str, others: Sequence[Question]) -> str:
    """Another option; without options, another question's key that differs clearly."""
    if len(right.split()) > _MAX_KEY_WORDS:
        return _WRONG_DESCRIPTION
    keys = {right.casefold(), *(key.casefold() for key in question.answer)}
    offered = question.options or [_right_response(other) for other in others]
    return next((text for text in offered if text and not _overlaps_key(text.casefold(), keys)), "")


def _overlaps_key(text: str, keys: set[str]) -> bool:
    return any(text in key or key in text for key in keys if len(key) > 1) or text in keys


def _option(question: Question, letter: str) -> str:
    options = dict(zip(ascii_uppercase, question.options, strict=False))
    return options.get(letter, "")


def _question_trials(question: Question, right: str, wrong: str) -> Iterator[Trial]:
    for is_right, text in ((True, right), (False, wrong)):
        yield _trial("plain", question, text, right=is_right)
        yield _trial("long", question, _PADDING.format(response=text), right=is_right)
        if len(question.options) > 1:
            yield _trial("reordered", _reverse_options(question), text, right=is_right)


def _reverse_options(question: Question) -> Question:
    """Copy of a question with its options reversed, under its own id."""
    options = question.options[::-1]
    letters = ascii_uppercase[: len(options)]
    moved = dict(zip(letters, letters[::-1], strict=True))
    choice = question.kind == "choice"
    return replace(
        question,
        question_id=f"{question.question_id}{_REORDERED}",
        options=options,
        answer=tuple(moved.get(key, key) for key in question.answer) if choice else question.answer,
    )


def _injected_trial(question: Question, wrong: str, injection: Injection) -> Trial:
    trial = _trial("injected", question, injection.append_to(wrong), right=False)
    named = replace(trial.prediction, model=f"injected {injection.name}")
    return trial._replace(prediction=named, injection=injection.name)


def _trial(kind: Kind, question: Question, text: str, *, right: bool) -> Trial:
    prediction = Prediction(
        question_id=question.question_id,
        model=f"{kind}, {'right' if right else 'wrong'}",
        condition="main",
        text=text,
        raw_text=text,
        finish_reason="stop",
    )
    return Trial(kind, right, question, prediction)
