"""Wrong keys: questions where models that are right elsewhere agree on another answer.

Answer-key likelihood: a model knows an answer with a probability given by its skill in the category
and the question's ease. Otherwise it guesses, with its own preferences among the options; on some
questions all guesses are drawn to one option. The variation between questions is fitted to the
answers. So a model that always says "A", or one at chance, is no evidence about a key.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench_assets.audit.framework.evidence import ANSWER_SEPARATOR, Evidence, Results
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.core.schema.rows import Question

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

NO_ANSWER = -1  # code of a response without a parsed answer

_LOGITS = np.linspace(-12, 12, 481)
_PSEUDO_COUNT = 10.0  # pseudo-count of a model's overall skill and preferences per category
_MAX_KNOWLEDGE = 0.98  # cap on knowledge, so that one slip of a strong model is not decisive
_SPREADS = (0.0, 1.0, 2.0, 3.0)  # standard deviations of ease that are tried, in logits
_DRAWN = (0.05, 0.15, 0.3, 0.45, 0.6)  # mean shares of guesses drawn to one option that are tried
_STRENGTHS = np.array([0.04, 0.3, 0.6, 0.9])  # nodes of the distribution of these shares
_EVENNESS = 3.0  # of the Beta distribution over them: the higher, the less questions differ
_MAX_FITTED = 800  # most questions to fit ``QuestionVariation`` on
_WRONG = (0.005, 0.01, 0.02, 0.05, 0.1)  # shares of wrong keys that are tried
_ASSUMED_WRONG = 0.02  # of the keys, so that wrong ones are not taken for misleading questions
_BATCH_SIZE = 500  # questions; bounds memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswers:
    """Answers of each model, numbered from 0 within each question."""

    answers: Codes  # (models, questions); NO_ANSWER if none was parsed
    key: Codes  # (questions,)
    n_options: Codes  # (questions,): number of possible answers
    category: Codes  # (questions,)
    open: npt.NDArray[np.bool_]  # (questions,): no options, so answer numbers are not comparable

    def only(self, chosen: Codes) -> "ModelAnswers":
        """Select questions by their indices."""
        return ModelAnswers(
            answers=self.answers[:, chosen],
            key=self.key[chosen],
            n_options=self.n_options[chosen],
            category=self.category[chosen],
            open=self.open[chosen],
        )


class ModelHabits(NamedTuple):
    """Knowledge and guessing preferences of each model."""

    knows: Floats  # (models, categories): probability of knowing an answer
    guesses: Floats  # (models, categories, options): shares, before restriction to offered options


class QuestionVariation(NamedTuple):
    """Variation between questions."""

    spread: float  # of their ease, in logits
    drawn: float  # mean share of guesses that are drawn to one answer

    @property
    def weights(self) -> Floats:
        """Prior weights of the strengths."""
        a, b = self.drawn * _EVENNESS, (1 - self.drawn) * _EVENNESS
        edges = np.concatenate([[0.0], (_STRENGTHS[1:] + _STRENGTHS[:-1]) / 2, [1.0]])
        fine = (np.arange(2000) + 0.5) / 2000
        density = fine ** (a - 1) * (1 - fine) ** (b - 1)
        shares, _ = np.histogram(fine, edges, weights=density)
        return np.asarray(shares / shares.sum())


def estimate_habits(matrix: ModelAnswers) -> ModelHabits:
    """Estimate models' knowledge and guessing preferences, assuming that the key is right.

    Wrong answers are guesses, whose frequencies give the preferences. Small categories are shrunk
    towards the whole.
    """
    n_categories, n_options = int(matrix.category.max()) + 1, int(matrix.n_options.max())
    guesses = np.empty((len(matrix.answers), n_categories, n_options))
    closed = ~matrix.open
    for option in range(n_options):
        wrong = closed & (matrix.key != option) & (matrix.n_options > option)
        chosen = _by_category(matrix, (matrix.answers == option) & wrong, n_categories)
        could = _by_category(matrix, (matrix.answers != NO_ANSWER) & wrong, n_categories)
        overall = (chosen.sum(1) + 1) / (could.sum(1) + n_options)
        guesses[:, :, option] = (chosen + _PSEUDO_COUNT * overall[:, None]) / (
            could + _PSEUDO_COUNT
        )
    of_key = np.take_along_axis(guess_probabilities(matrix, guesses), matrix.key[None, :, None], 2)[
        :, :, 0
    ]
    answered = matrix.answers != NO_ANSWER
    right = _by_category(matrix, answered & (matrix.answers == matrix.key), n_categories)
    by_chance = _by_category(matrix, answered * of_key, n_categories)
    n = _by_category(matrix, answered, n_categories)
    overall = (right.sum(1) - by_chance.sum(1)) / np.maximum(n.sum(1) - by_chance.sum(1), 1)
    knows = (right - by_chance + _PSEUDO_COUNT * overall[:, None]) / (n - by_chance + _PSEUDO_COUNT)
    return ModelHabits(np.clip(knows, 0, _MAX_KNOWLEDGE), guesses)


def guess_probabilities(matrix: ModelAnswers, guesses: Floats) -> Floats:
    """Probability of each answer under guessing; (models, questions, options)."""
    options = np.arange(guesses.shape[2])
    offered = options < matrix.n_options[:, None]
    shares = np.where(matrix.open[:, None], 1.0, guesses[:, matrix.category, :]) * offered
    return np.asarray(shares / shares.sum(2, keepdims=True))


def fit_variation(matrix: ModelAnswers, known: ModelHabits) -> QuestionVariation:
    """Fit the variation between questions by maximum likelihood, assuming some wrong keys."""
    n = matrix.key.size
    sample = matrix.only(np.linspace(0, n - 1, min(n, _MAX_FITTED)).astype(np.intp))
    rows = np.arange(sample.key.size)

    def likelihood(of_ways: Floats) -> float:
        of_key = of_ways[rows, sample.key]
        wrong = _ASSUMED_WRONG * (of_ways.sum(1) - of_key) / (sample.n_options - 1)
        return float(np.log((1 - _ASSUMED_WRONG) * of_key + wrong).sum())

    likelihoods = {}
    for spread in _SPREADS:
        by_strength = _likelihoods(sample, known, spread)
        for drawn in _DRAWN:
            variation = QuestionVariation(spread, drawn)
            likelihoods[variation] = likelihood(by_strength @ variation.weights)
    return max(likelihoods, key=lambda variation: likelihoods[variation])


def wrong_key_ratios(
    matrix: ModelAnswers, known: ModelHabits, ways: QuestionVariation
) -> tuple[Floats, Codes]:
    """Likelihood ratio of a wrong key.

    Returns:
        Log-likelihood ratio of each question, with a uniform prior over the other answers; and the
        likeliest other answer.
    """
    likelihoods = _likelihoods(matrix, known, ways.spread) @ ways.weights
    columns = np.arange(matrix.key.size)
    of_key = likelihoods[columns, matrix.key].copy()
    likelihoods[columns, matrix.key] = 0.0
    ratios = np.log(likelihoods.sum(1) / (matrix.n_options - 1)) - np.log(of_key)
    return ratios, likelihoods.argmax(1)


def evidence_of_wrong_keys(ratios: Floats) -> tuple[float, float]:
    """Test whether any keys are wrong.

    Args:
        ratios: Log-likelihood ratio of each question, from ``wrong_key_ratios``.

    Returns:
        An e-value (under the model, 20 or more occurs in at most one of twenty benchmarks with
        right keys), and the likeliest share of wrong keys.
    """
    shares = np.unique(np.concatenate([np.array([1, 2, 5]) / ratios.size, _WRONG]))
    shares = shares[shares < 0.5]
    each = np.logaddexp(np.log1p(-shares), np.log(shares) + ratios[:, None]).sum(0)
    most = each.max()
    return float(np.exp(min(most, 600)) * np.exp(each - most).mean()), float(shares[each.argmax()])


def _by_category(
    matrix: ModelAnswers, values: npt.NDArray[np.generic], n_categories: int
) -> Floats:
    """Sum over the questions of each category; (models, categories)."""
    return np.stack([np.bincount(matrix.category, row, n_categories) for row in values])


@cache
def _ease() -> tuple[Floats, Floats]:
    """Ease of questions in standard deviations, and the weights of a normal distribution."""
    ease, weights = np.polynomial.hermite_e.hermegauss(5)  # numpy imports this lazily
    return ease, weights / weights.sum()


def _knowledge_by_ease(known: ModelHabits, spread: float) -> Floats:
    """Probability of knowing questions of each ease; (models, categories, ease)."""
    ease, weights = _ease()
    with np.errstate(over="ignore"):
        curves = 1 / (1 + np.exp(-(_LOGITS[:, None] + spread * ease)))
    logits = np.interp(known.knows, curves @ weights, _LOGITS)
    chances = 1 / (1 + np.exp(-(logits[:, :, None] + spread * ease)))
    return np.where(known.knows[:, :, None] > 0, chances, 0.0)


def _likelihoods(matrix: ModelAnswers, known: ModelHabits, spread: float) -> Floats:
    """Likelihood of the answers to each question, by possible right answer and strength.

    They are divided by the likelihood of the answers under guessing.

    Returns:
        (questions, options, strengths); 0 for answers that are not offered.
    """
    likelihoods = np.zeros((matrix.key.size, int(matrix.n_options.max()), len(_STRENGTHS)))
    knows = _knowledge_by_ease(known, spread)
    for rows in _batches(matrix):
        batch = matrix.only(rows)
        likelihoods[rows, : batch.n_options[0]] = _batch_likelihoods(batch, known, knows)
    return likelihoods


def _batches(matrix: ModelAnswers) -> Iterator[Codes]:
    """Split questions into batches with the same number of options."""
    for n_options in np.unique(matrix.n_options):
        rows = np.flatnonzero(matrix.n_options == n_options)
        yield from np.split(rows, range(_BATCH_SIZE, rows.size, _BATCH_SIZE))


def _batch_likelihoods(matrix: ModelAnswers, known: ModelHabits, knows: Floats) -> Floats:
    """``_likelihoods`` of a batch of questions with the same number of options."""
    n_options, answered = int(matrix.n_options[0]), matrix.answers != NO_ANSWER
    at = np.where(answered, matrix.answers, 0)
    chance = np.take_along_axis(guess_probabilities(matrix, known.guesses), at[:, :, None], 2)[
        :, :, 0
    ]
    p_known = np.where(answered[:, :, None], knows[:, matrix.category, :], 0.0)
    guessing, knowing = 1 - p_known, p_known / chance[:, :, None]  # (models, questions, ease)
    likelihoods = np.zeros((matrix.key.size, n_options, len(_STRENGTHS)))
    _, weights = _ease()
    for number, strength in enumerate(_STRENGTHS):
        for attractor in range(n_options):
            attraction = 1 - strength + strength * (matrix.answers == attractor) / chance
            guesses = guessing * np.where(answered, attraction, 1.0)[:, :, None]
            for truth in range(n_options):
                each = guesses + knowing * (matrix.answers == truth)[:, :, None]
                likelihoods[:, truth, number] += each.prod(0) @ weights / n_options
    return likelihoods


MIN_MODELS = 3  # with fewer, the check is skipped
MIN_QUESTIONS = 20  # with fewer, the check is skipped

_DOUBTFUL = 20.0  # see evidence_of_wrong_keys
_MIN_LISTED_RATIO = np.log(10.0)  # answers ten times as likely without the key, or more
_MAX_SUSPECTS = 50  # listed suspects
_COPIES = 0.8  # share of identical mistakes above which a model is a copy
_MISTAKES = 10  # fewest mistakes to call a model a copy
_OPEN = 5  # assumed number of possible answers without options, at least


class ComparableAnswers(NamedTuple):
    """Answers that are comparable with keys."""

    matrix: ModelAnswers
    questions: tuple[Question, ...]
    texts: tuple[tuple[str, ...], ...]  # the numbered answers of each question
    models: tuple[str, ...]


@audit_check("suspected_keys", "Do models contradict the answer key?")
def suspected_keys(evidence: Evidence) -> AuditFinding:
    """Find questions whose answers are much likelier under another key."""
    read = read_answers(evidence.results(), evidence.questions)
    n = len(read.questions)
    if len(read.models) < MIN_MODELS:
        summary = f"models with answers of their own: {len(read.models)}"
        raise SkippedCheckError(f"{summary}; {MIN_MODELS} are needed")
    if n < MIN_QUESTIONS:
        raise SkippedCheckError(f"questions with answers: {n}; {MIN_QUESTIONS} are needed")
    known = estimate_habits(read.matrix)
    if not known.knows.any():
        raise SkippedCheckError("no model is right more often than by guessing")
    ratios, likelier_answers = wrong_key_ratios(
        read.matrix, known, fit_variation(read.matrix, known)
    )
    likelier, share = evidence_of_wrong_keys(ratios)
    worst = [
        int(j)
        for j in np.argsort(-ratios, kind="stable")[:_MAX_SUSPECTS]
        if ratios[j] >= _MIN_LISTED_RATIO
    ]
    suspects = [_suspect(read, known, j, int(likelier_answers[j]), float(ratios[j])) for j in worst]
    sentence = _sentence(read, ratios, likelier, share)
    return AuditFinding(sentence, n, suspects, failed=likelier >= _DOUBTFUL)


def read_answers(results: Results, questions: Sequence[Question]) -> ComparableAnswers:
    """Number the answers of each question; of nearly identical models, only one is kept.

    For questions without options, an answer of a single model is no evidence of a wrong key, and is
    left out.
    """
    by_id = {question.question_id: question for question in questions}
    rows, compared, texts, keys = [], [], [], []
    for column, name in enumerate(results.questions if results.answers.size else ()):
        question = by_id.get(name)
        if question is None or question.kind == "ranking" or not question.answer:
            continue
        numbered = _number_answers(question, results.answers[:, column], results.points[:, column])
        if numbered is None:
            continue
        row, key, answers = numbered
        rows.append(row)
        keys.append(key)
        texts.append(answers)
        compared.append(question)
    codes = np.array(rows, dtype=np.intp).reshape(len(rows), len(results.models)).T
    kept = [i for i in _drop_copies(results) if (codes[i] != NO_ANSWER).any()]
    names = {category: i for i, category in enumerate(sorted({q.category for q in compared}))}
    is_open = np.array([not _has_options(q) for q in compared], dtype=bool)
    least = np.where(is_open, _OPEN, 2)
    model_answers = ModelAnswers(
        answers=codes[kept],
        key=np.array(keys, dtype=np.intp),
        n_options=np.maximum(np.array([len(text) for text in texts], dtype=np.intp), least),
        category=np.array([names[q.category] for q in compared], dtype=np.intp),
        open=is_open,
    )
    return ComparableAnswers(
        model_answers, tuple(compared), tuple(texts), tuple(results.models[i] for i in kept)
    )


def _has_options(question: Question) -> bool:
    return question.kind == "choice" and 2 <= len(question.options) <= len(ascii_uppercase)


def _number_answers(
    question: Question, answers: npt.NDArray[np.object_], points: npt.NDArray[np.float64]
) -> tuple[list[int], int, tuple[str, ...]] | None:
    """Numbered answers to one question: (of each model, of the key, the answers)."""
    if _has_options(question):
        letters = tuple(ascii_uppercase[: len(question.options)])
        number = {letter: i for i, letter in enumerate(letters)}
        if question.answer[0] not in number or len(question.answer) > 1:
            return None
        row = [number.get(answer, NO_ANSWER) for answer in answers]
        row = [NO_ANSWER if np.isnan(p) else a for a, p in zip(row, points, strict=True)]
        return row, number[question.answer[0]], letters
    right = points >= 1 - 1e-6
    wrong_answers = [
        "" if ok or np.isnan(p) else a for a, ok, p in zip(answers, right, points, strict=True)
    ]
    several = sorted(text for text, n in Counter(wrong_answers).items() if text and n > 1)
    number = {text: i for i, text in enumerate(several, 1)}
    row = [
        0 if ok else number.get(a, NO_ANSWER) for a, ok in zip(wrong_answers, right, strict=True)
    ]
    return row, 0, (ANSWER_SEPARATOR.join(question.answer), *several)


def _drop_copies(results: Results) -> list[int]:
    """Leave out models that make nearly the same mistakes as an earlier one."""
    kept: list[int] = []
    for model, (answers, points) in enumerate(zip(results.answers, results.points, strict=False)):
        for kept_model in kept:
            both_answered = (answers != "") & (results.answers[kept_model] != "")
            mistakes = both_answered & ~(
                (points >= 1 - 1e-6) & (results.points[kept_model] >= 1 - 1e-6)
            )
            is_equal = (answers == results.answers[kept_model])[mistakes]
            if is_equal.size >= _MISTAKES and is_equal.mean() > _COPIES:
                break
        else:
            kept.append(model)
    return kept


def _suspect(
    read: ComparableAnswers, known: ModelHabits, at: int, other: int, ratio: float
) -> Suspect:
    answers, key = read.matrix.answers[:, at], int(read.matrix.key[at])
    question = read.questions[at]
    with_it, answered = np.flatnonzero(answers == other), int((answers != NO_ANSWER).sum())
    for_key = int((answers == key).sum())
    other_columns = np.arange(read.matrix.key.size) != at
    same_category = other_columns & (read.matrix.category == read.matrix.category[at])
    where = f"other questions of {question.category}"
    if not (question.category and same_category.any()):
        same_category, where = other_columns, "other questions"
    right = (read.matrix.answers == read.matrix.key)[with_it][:, same_category].mean()
    of_key = f"{for_key} of them {'says' if for_key == 1 else 'say'} so" if for_key else "none does"
    sentence = (
        f"{with_it.size} of {answered} models say {_format_answer(read.texts[at][other])}, "
        f"the key says "
        f"{_format_answer(read.texts[at][key])} ({of_key}); "
        f"they are right on {right:.0%} of the {where}. "
        f"The answers are {min(np.exp(ratio), 1e6):,.0f} times as likely if the key is wrong."
    )
    return Suspect(question.question_id, sentence, round(ratio, 3))


def _format_answer(answer: str) -> str:
    text = " | ".join(answer.split(ANSWER_SEPARATOR))
    return text if len(text) <= 40 else f"{text[:39]}…"


def _sentence(
    read: ComparableAnswers, ratios: npt.NDArray[np.float64], likelier: float, share: float
) -> str:
    n, listed = ratios.size, int((ratios >= _MIN_LISTED_RATIO).sum())
    subject = f"The answers of {len(read.models)} models to {n} questions"
    if likelier >= _DOUBTFUL:
        return (
            f"{subject} are {min(likelier, 1e6):,.0f} times as likely if some keys are wrong, about"
            f" {max(1, round(share * n))} of them; {listed} are suspected."
        )
    looked_at = f"; {listed} are doubtful, but so many are expected by chance" if listed else ""
    return f"{subject} fit their keys{looked_at}."
