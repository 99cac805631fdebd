"""Keys that models contradict: where those that are right elsewhere agree on another answer."""

from collections import Counter
from collections.abc import Sequence
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench_assets.audit.framework.evidence import PARTS, Evidence, Results
from bench_assets.audit.framework.findings import AuditFinding, Suspect
from bench_assets.audit.items.answer_key_likelihood import (
    NO_ANSWER,
    Habits,
    ModelAnswers,
    against_the_key,
    evidence_of_wrong_keys,
    fitted_ways,
    habits,
)
from bench_assets.core.schema.rows import Question

LEAST_MODELS = 3
LEAST_QUESTIONS = 20

_DOUBTFUL = 20.0  # see evidence_of_wrong_keys
_LISTED = np.log(10.0)  # answers ten times as likely without the key, or more
_MOST = 50  # suspects: what a person reads
_COPIES = 0.8  # share of the mistakes of two models that are one and the same
_MISTAKES = 10  # of fewer nothing is concluded
_OPEN = 5  # answers at least that a question without options is taken to have


class ComparableAnswers(NamedTuple):
    """The answers that can be held against keys."""

    said: ModelAnswers
    questions: tuple[Question, ...]
    texts: tuple[tuple[str, ...], ...]  # of each question, what its numbered answers are
    models: tuple[str, ...]


def suspected_keys(evidence: Evidence) -> AuditFinding:
    """Find questions whose answers are far likelier under another key."""
    read = read_answers(evidence.results(), evidence.questions)
    n = len(read.questions)
    if len(read.models) < LEAST_MODELS:
        found = f"models with answers of their own: {len(read.models)}"
        return AuditFinding.not_looked_at(f"{found}; it takes {LEAST_MODELS}")
    if n < LEAST_QUESTIONS:
        return AuditFinding.not_looked_at(
            f"questions with answers: {n}; it takes {LEAST_QUESTIONS}"
        )
    known = habits(read.said)
    if not known.knows.any():
        return AuditFinding.not_looked_at("no model is right more often than by guessing")
    ratios, others = against_the_key(read.said, known, fitted_ways(read.said, known))
    likelier, share = evidence_of_wrong_keys(ratios)
    worst = [int(j) for j in np.argsort(-ratios, kind="stable")[:_MOST] if ratios[j] >= _LISTED]
    suspects = [_suspect(read, known, j, int(others[j]), float(ratios[j])) for j in worst]
    passed = likelier < _DOUBTFUL
    return AuditFinding(passed, _sentence(read, ratios, likelier, share), n, suspects)


def read_answers(results: Results, questions: Sequence[Question]) -> ComparableAnswers:
    """Number the answers of each question; of models that copy one another, one is taken.

    Of questions without options, an answer that only one model gives is no evidence of a wrong key,
    and left out.
    """
    by_id = {question.question_id: question for question in questions}
    rows, asked, texts, keys = [], [], [], []
    for column, name in enumerate(results.questions if results.answers.size else ()):
        question = by_id.get(name)
        if question is None or question.kind == "ranking" or not question.answer:
            continue
        numbered = _numbered(question, results.answers[:, column], results.points[:, column])
        if numbered is None:
            continue
        row, key, answers = numbered
        rows.append(row)
        keys.append(key)
        texts.append(answers)
        asked.append(question)
    codes = np.array(rows, dtype=np.intp).reshape(len(rows), len(results.models)).T
    kept = [i for i in _not_copies(results) if (codes[i] != NO_ANSWER).any()]
    names = {one: i for i, one in enumerate(sorted({q.category for q in asked}))}
    is_open = np.array([not _has_options(q) for q in asked], dtype=bool)
    least = np.where(is_open, _OPEN, 2)
    said = ModelAnswers(
        answers=codes[kept],
        key=np.array(keys, dtype=np.intp),
        n_options=np.maximum(np.array([len(one) for one in texts], dtype=np.intp), least),
        category=np.array([names[q.category] for q in asked], dtype=np.intp),
        open=is_open,
    )
    return ComparableAnswers(
        said, tuple(asked), tuple(texts), tuple(results.models[i] for i in kept)
    )


def _has_options(question: Question) -> bool:
    return question.kind == "choice" and 2 <= len(question.options) <= len(ascii_uppercase)


def _numbered(
    question: Question, answers: npt.NDArray[np.object_], points: npt.NDArray[np.float64]
) -> tuple[list[int], int, tuple[str, ...]] | None:
    """Number what models said of one question: (of each model, of the key, what they are)."""
    if _has_options(question):
        letters = tuple(ascii_uppercase[: len(question.options)])
        number = {letter: i for i, letter in enumerate(letters)}
        if question.answer[0] not in number or len(question.answer) > 1:
            return None
        row = [number.get(answer, NO_ANSWER) for answer in answers]
        row = [NO_ANSWER if np.isnan(p) else a for a, p in zip(row, points, strict=True)]
        return row, number[question.answer[0]], letters
    right = points >= 1 - 1e-6
    said = ["" if ok or np.isnan(p) else a for a, ok, p in zip(answers, right, points, strict=True)]
    several = sorted(text for text, n in Counter(said).items() if text and n > 1)
    number = {text: i for i, text in enumerate(several, 1)}
    row = [0 if ok else number.get(a, NO_ANSWER) for a, ok in zip(said, right, strict=True)]
    return row, 0, (PARTS.join(question.answer), *several)


def _not_copies(results: Results) -> list[int]:
    """Leave out models that make nearly the same mistakes as one before: they count as one."""
    kept: list[int] = []
    for model, (answers, points) in enumerate(zip(results.answers, results.points, strict=False)):
        for other in kept:
            both = (answers != "") & (results.answers[other] != "")
            mistakes = both & ~((points >= 1 - 1e-6) & (results.points[other] >= 1 - 1e-6))
            same = (answers == results.answers[other])[mistakes]
            if same.size >= _MISTAKES and same.mean() > _COPIES:
                break
        else:
            kept.append(model)
    return kept


def _suspect(read: ComparableAnswers, known: Habits, at: int, other: int, ratio: float) -> Suspect:
    said, key, question = read.said.answers[:, at], int(read.said.key[at]), read.questions[at]
    with_it, answered = np.flatnonzero(said == other), int((said != NO_ANSWER).sum())
    for_key = int((said == key).sum())
    same = (read.said.category == read.said.category[at]) & (np.arange(read.said.key.size) != at)
    right = (read.said.answers == read.said.key)[with_it][:, same].mean() if same.any() else np.nan
    where = f"other questions of {question.category}" if question.category else "other questions"
    of_key = f"{for_key} of them {'says' if for_key == 1 else 'say'} so" if for_key else "none does"
    sentence = (
        f"{with_it.size} of {answered} models say {_shown(read.texts[at][other])}, the key says "
        f"{_shown(read.texts[at][key])} ({of_key}); they are right on {right:.0%} of the {where}. "
        f"The answers are {min(np.exp(ratio), 1e6):,.0f} times as likely if the key is wrong."
    )
    return Suspect(question.question_id, sentence, round(ratio, 3))


def _shown(answer: str) -> str:
    text = " | ".join(answer.split(PARTS))
    return text if len(text) <= 40 else f"{text[:39]}…"


def _sentence(
    read: ComparableAnswers, ratios: npt.NDArray[np.float64], likelier: float, share: float
) -> str:
    n, listed = ratios.size, int((ratios >= _LISTED).sum())
    told = f"The answers of {len(read.models)} models to {n} questions"
    if likelier >= _DOUBTFUL:
        return (
            f"{told} are {min(likelier, 1e6):,.0f} times as likely if some keys are wrong, about "
            f"{max(1, round(share * n))} of them; {listed} are suspected."
        )
    looked_at = f"; {listed} may be looked at, but so many come by chance" if listed else ""
    return f"{told} fit their keys{looked_at}."
