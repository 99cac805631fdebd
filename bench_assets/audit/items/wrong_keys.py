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

from bench_assets.audit.framework.evidence import ANSWER_SEPARATOR, Evidence, Floats, Results
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.core.schema.rows import Question

Codes = npt.NDArray[np.intp]

NO_ANSWER = -1  # code of a response without a parsed answer

_LOGITS = np.linspace(-12, 12, 481)
_PSEUDO_COUNT = 10.0  # pseudo-count of a model's overall skill and preferences per category
_MAX_KNOWLEDGE = 0.98  # cap on knowledge, so that one slip of a strong model is not decisive
_SPREADS = (0.0, 1.0, 2.0, 3.0)  # standard deviations of ease that are tried, in logits
_DRAWN = (0.05, 0.15, 0.3, 0.45, 0.6)  # mean shares of guesses drawn to one option that are tried
_STRENGTHS = np.array([0.04, 0.3, 0.6, 0.9])  # nodes of the distribution of these shares
_EVENNESS = 3.0  # parameter of the Beta distribution: the higher, the less questions differ
_MAX_FITTED = 800  # questions to which ``QuestionVariation`` is fitted, at most
_WRONG = (0.005, 0.01, 0.02, 0.05, 0.1)  # shares of wrong keys that are tried
_ASSUMED_WRONG = 0.02  # share of the keys that is assumed to be wrong
_BATCH_SIZE = 500  # questions per batch; bounds memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswers:
    """Answers of each model, numbered from 0 within each question."""

    answers: Codes  # (models, questions); NO_ANSWER if none was parsed
    key: Codes  # (questions,)
    n_options: Codes  # (questions,): number of possible answers
    category: Codes  # (questions,)
    is_open: npt.NDArray[np.bool_]  # (questions,): no options, so answer numbers are not comparable

    def select(self, questions: Codes) -> "ModelAnswers":
        """Select questions by their indices."""
        return ModelAnswers(
            answers=self.answers[:, questions],
            key=self.key[questions],
            n_options=self.n_options[questions],
            category=self.category[questions],
            is_open=self.is_open[questions],
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
        """Prior weights of the strengths: a Beta distribution, integrated around each of them."""
        a, b = self.drawn * _EVENNESS, (1 - self.drawn) * _EVENNESS
        edges = np.concatenate([[0.0], (_STRENGTHS[1:] + _STRENGTHS[:-1]) / 2, [1.0]])
        points = (np.arange(2000) + 0.5) / 2000
        density = points ** (a - 1) * (1 - points) ** (b - 1)
        shares, _ = np.histogram(points, edges, weights=density)
        return np.asarray(shares / shares.sum())


def estimate_habits(matrix: ModelAnswers) -> ModelHabits:
    """Estimate models' knowledge and guessing preferences, assuming that the key is right.

    Wrong answers are guesses, whose frequencies give the preferences. Small categories are shrunk
    towards the whole.
    """
    guesses = _estimate_guesses(matrix)
    probabilities = guess_probabilities(matrix, guesses)
    key_chance = np.take_along_axis(probabilities, matrix.key[None, :, None], 2)[:, :, 0]
    answered = matrix.answers != NO_ANSWER
    n_right = _by_category(matrix, answered & (matrix.answers == matrix.key))
    by_chance = _by_category(matrix, answered * key_chance)
    n = _by_category(matrix, answered)
    overall = (n_right.sum(1) - by_chance.sum(1)) / np.maximum(n.sum(1) - by_chance.sum(1), 1)
    n_known = n_right - by_chance + _PSEUDO_COUNT * overall[:, None]
    knows = n_known / (n - by_chance + _PSEUDO_COUNT)
    return ModelHabits(np.clip(knows, 0, _MAX_KNOWLEDGE), guesses)


def _estimate_guesses(matrix: ModelAnswers) -> Floats:
    """Estimate guessing preferences from wrong answers; (models, categories, options)."""
    n_options = int(matrix.n_options.max())
    preferences = []
    for option in range(n_options):
        is_wrong = ~matrix.is_open & (matrix.key != option) & (matrix.n_options > option)
        n_chosen = _by_category(matrix, (matrix.answers == option) & is_wrong)
        n_offered = _by_category(matrix, (matrix.answers != NO_ANSWER) & is_wrong)
        overall = (n_chosen.sum(1) + 1) / (n_offered.sum(1) + n_options)
        shrunk = n_chosen + _PSEUDO_COUNT * overall[:, None]
        preferences.append(shrunk / (n_offered + _PSEUDO_COUNT))
    return np.stack(preferences, axis=2)


def guess_probabilities(matrix: ModelAnswers, guesses: Floats) -> Floats:
    """Probability of each answer under guessing; (models, questions, options)."""
    options = np.arange(guesses.shape[2])
    offered = options < matrix.n_options[:, None]
    shares = np.where(matrix.is_open[:, None], 1.0, guesses[:, matrix.category, :]) * offered
    return np.asarray(shares / shares.sum(2, keepdims=True))


def fit_variation(matrix: ModelAnswers, habits: ModelHabits) -> QuestionVariation:
    """Fit the variation between questions by maximum likelihood, assuming some wrong keys."""
    n = matrix.key.size
    sample = matrix.select(np.linspace(0, n - 1, min(n, _MAX_FITTED)).astype(np.intp))
    fit = {}
    for spread in _SPREADS:
        by_strength = _likelihoods(sample, habits, spread)
        for drawn in _DRAWN:
            variation = QuestionVariation(spread, drawn)
            fit[variation] = _log_likelihood(sample, by_strength @ variation.weights)
    return max(fit, key=fit.__getitem__)


def _log_likelihood(matrix: ModelAnswers, likelihoods: Floats) -> float:
    """Log-likelihood of all answers, from those by question and right answer."""
    under_key = likelihoods[np.arange(matrix.key.size), matrix.key]
    n_others = matrix.n_options - 1
    if_wrong = _ASSUMED_WRONG * (likelihoods.sum(1) - under_key) / n_others
    return float(np.log((1 - _ASSUMED_WRONG) * under_key + if_wrong).sum())


def wrong_key_ratios(
    matrix: ModelAnswers, habits: ModelHabits, variation: QuestionVariation
) -> tuple[Floats, Codes]:
    """Likelihood ratio of a wrong key.

    Returns:
        Log-likelihood ratio of each question, with a uniform prior over the other answers; and the
        likeliest other answer.
    """
    likelihoods = _likelihoods(matrix, habits, variation.spread) @ variation.weights
    questions = np.arange(matrix.key.size)
    under_key = likelihoods[questions, matrix.key].copy()
    likelihoods[questions, matrix.key] = 0.0
    ratios = np.log(likelihoods.sum(1) / (matrix.n_options - 1)) - np.log(under_key)
    return ratios, likelihoods.argmax(1)


def evidence_of_wrong_keys(ratios: Floats) -> tuple[float, float]:
    """Test whether any keys are wrong, by the ratios of ``wrong_key_ratios``.

    Returns:
        An e-value (under the model, 20 or more occurs in at most one of twenty benchmarks with
        right keys), and the likeliest share of wrong keys.
    """
    few = np.array([1, 2, 5]) / ratios.size  # shares of one, two and five wrong keys
    shares = np.unique(np.concatenate([few, _WRONG]))
    shares = shares[shares < 0.5]
    log_ratios = np.logaddexp(np.log1p(-shares), np.log(shares) + ratios[:, None]).sum(0)
    largest = log_ratios.max()
    e_value = np.exp(min(largest, 600)) * np.exp(log_ratios - largest).mean()  # without overflow
    return float(e_value), float(shares[log_ratios.argmax()])


def _by_category(matrix: ModelAnswers, values: npt.NDArray[np.generic]) -> Floats:
    """Sum ``values``, (models, questions), over each category; (models, categories)."""
    n_categories = int(matrix.category.max()) + 1
    return np.stack([np.bincount(matrix.category, row, n_categories) for row in values])


@cache
def _ease() -> tuple[Floats, Floats]:
    """Ease of questions in standard deviations, and the weights of a normal distribution."""
    ease, weights = np.polynomial.hermite_e.hermegauss(5)  # numpy imports this lazily
    return ease, weights / weights.sum()


def _knowledge_by_ease(habits: ModelHabits, spread: float) -> Floats:
    """Probability of knowing questions of each ease; (models, categories, ease)."""
    ease, weights = _ease()
    with np.errstate(over="ignore"):
        curves = 1 / (1 + np.exp(-(_LOGITS[:, None] + spread * ease)))
    logits = np.interp(habits.knows, curves @ weights, _LOGITS)
    chances = 1 / (1 + np.exp(-(logits[:, :, None] + spread * ease)))
    return np.where(habits.knows[:, :, None] > 0, chances, 0.0)


def _likelihoods(matrix: ModelAnswers, habits: ModelHabits, spread: float) -> Floats:
    """Likelihood of the answers to each question, by possible right answer and strength.

    They are divided by the likelihood of the answers under guessing.

    Returns:
        (questions, options, strengths); 0 for answers that are not offered.
    """
    likelihoods = np.zeros((matrix.key.size, int(matrix.n_options.max()), len(_STRENGTHS)))
    knowledge = _knowledge_by_ease(habits, spread)
    for questions in _batches(matrix):
        batch = matrix.select(questions)
        n_options = int(batch.n_options[0])
        likelihoods[questions, :n_options] = _batch_likelihoods(batch, habits, knowledge)
    return likelihoods


def _batches(matrix: ModelAnswers) -> Iterator[Codes]:
    """Split questions into batches with the same number of options."""
    for n_options in np.unique(matrix.n_options):
        questions = np.flatnonzero(matrix.n_options == n_options)
        yield from np.split(questions, range(_BATCH_SIZE, questions.size, _BATCH_SIZE))


def _batch_likelihoods(matrix: ModelAnswers, habits: ModelHabits, knowledge: Floats) -> Floats:
    """``_likelihoods`` of a batch of questions with the same number of options."""
    n_options, answered = int(matrix.n_options[0]), matrix.answers != NO_ANSWER
    chosen = np.where(answered, matrix.answers, 0)
    probabilities = guess_probabilities(matrix, habits.guesses)
    chance = np.take_along_axis(probabilities, chosen[:, :, None], 2)[:, :, 0]
    p_known = np.where(answered[:, :, None], knowledge[:, matrix.category, :], 0.0)
    guessing, knowing = 1 - p_known, p_known / chance[:, :, None]  # (models, questions, ease)
    likelihoods = np.zeros((matrix.key.size, n_options, len(_STRENGTHS)))
    _, weights = _ease()
    for strength_index, strength in enumerate(_STRENGTHS):
        for attractor in range(n_options):
            attraction = 1 - strength + strength * (matrix.answers == attractor) / chance
            guesses = guessing * np.where(answered, attraction, 1.0)[:, :, None]
            for truth in range(n_options):
                by_model = guesses + knowing * (matrix.answers == truth)[:, :, None]
                likelihoods[:, truth, strength_index] += by_model.prod(0) @ weights / n_options
    return likelihoods


MIN_MODELS = 3  # models; with fewer, the check is skipped
MIN_QUESTIONS = 20  # questions; with fewer, the check is skipped

_DOUBTFUL = 20.0  # see ``evidence_of_wrong_keys``
_MIN_LISTED_RATIO = np.log(10.0)  # answers ten times as likely without the key, or more
_MAX_SUSPECTS = 50  # suspects that are listed
_MAX_SAME_MISTAKES = 0.8  # share of identical mistakes above which a model is a copy
_MIN_MISTAKES = 10  # mistakes, with fewer of which no model is called a copy
_MIN_OPEN_ANSWERS = 5  # assumed number of possible answers without options, at least
_FULL_POINTS = 1 - 1e-6  # share of points that is full, but for rounding errors


class _NumberedAnswers(NamedTuple):
    """Answers of all models to one question, numbered from 0."""

    numbers: list[int]  # of each model; NO_ANSWER if none is comparable
    key: int
    texts: tuple[str, ...]  # the numbered answers


class ComparableAnswers(NamedTuple):
    """Answers that are comparable with keys."""

    matrix: ModelAnswers
    questions: tuple[Question, ...]
    texts: tuple[tuple[str, ...], ...]  # the numbered answers of each question
    models: tuple[str, ...]


@audit_check("suspected_keys", "Do models contradict the answer key?")
def suspected_keys(evidence: Evidence) -> AuditFinding:
    """Find questions whose answers are much likelier under another key; fails if many are.

    The check is skipped with too few models or questions, or if no model knows anything.
    """
    comparable = read_answers(evidence.results(), evidence.questions)
    n = len(comparable.questions)
    if len(comparable.models) < MIN_MODELS:
        summary = f"models with answers of their own: {len(comparable.models)}"
        raise SkippedCheckError(f"{summary}; {MIN_MODELS} are needed")
    if n < MIN_QUESTIONS:
        raise SkippedCheckError(f"questions with answers: {n}; {MIN_QUESTIONS} are needed")
    habits = estimate_habits(comparable.matrix)
    if not habits.knows.any():
        raise SkippedCheckError("no model is right more often than by guessing")
    variation = fit_variation(comparable.matrix, habits)
    ratios, likelier_answers = wrong_key_ratios(comparable.matrix, habits, variation)
    e_value, share = evidence_of_wrong_keys(ratios)
    suspects = [
        _suspect(comparable, question, int(likelier_answers[question]), float(ratios[question]))
        for question in np.argsort(-ratios, kind="stable")[:_MAX_SUSPECTS].tolist()
        if ratios[question] >= _MIN_LISTED_RATIO
    ]
    sentence = _sentence(len(comparable.models), ratios, e_value, share)
    is_doubtful = e_value >= _DOUBTFUL
    return AuditFinding(sentence=sentence, n=n, suspects=suspects, failed=is_doubtful)


def read_answers(results: Results, questions: Sequence[Question]) -> ComparableAnswers:
    """Number the answers of each question; of nearly identical models, only the first is kept.

    Rankings, questions without a comparable key and models without an answer are left out. For
    questions without options, so is a wrong answer of a single model, which is no evidence of a
    wrong key.
    """
    compared = list(_compared_questions(results, questions))
    shape = len(compared), len(results.models)
    codes = np.array([row.numbers for _, row in compared], dtype=np.intp).reshape(shape).T
    kept = [model for model in _distinct_models(results) if (codes[model] != NO_ANSWER).any()]
    categories = sorted({question.category for question, _ in compared})
    category_index = {category: index for index, category in enumerate(categories)}
    is_open = np.array([not _has_options(question) for question, _ in compared], dtype=bool)
    n_texts = np.array([len(row.texts) for _, row in compared], dtype=np.intp)
    matrix = ModelAnswers(
        answers=codes[kept],
        key=np.array([row.key for _, row in compared], dtype=np.intp),
        n_options=np.maximum(n_texts, np.where(is_open, _MIN_OPEN_ANSWERS, 2)),
        category=np.array([category_index[q.category] for q, _ in compared], dtype=np.intp),
        is_open=is_open,
    )
    return ComparableAnswers(
        matrix=matrix,
        questions=tuple(question for question, _ in compared),
        texts=tuple(row.texts for _, row in compared),
        models=tuple(results.models[model] for model in kept),
    )


def _compared_questions(
    results: Results, questions: Sequence[Question]
) -> Iterator[tuple[Question, _NumberedAnswers]]:
    """Number the answers of each question with a comparable key."""
    if not results.answers.size:
        return
    by_id = {q.question_id: q for q in questions if q.kind != "ranking" and q.answer}
    for column, question_id in enumerate(results.questions):
        question = by_id.get(question_id)
        if question is None:
            continue
        points = results.points[:, column]
        scored = np.where(np.isnan(points), "", results.answers[:, column]).tolist()
        numbered: _NumberedAnswers | None
        if _has_options(question):
            numbered = _number_letters(question, scored)
        else:
            graded = list(zip(scored, (points >= _FULL_POINTS).tolist(), strict=True))
            numbered = _number_texts(ANSWER_SEPARATOR.join(question.answer), graded)
        if numbered:
            yield question, numbered


def _has_options(question: Question) -> bool:
    return question.kind == "choice" and 2 <= len(question.options) <= len(ascii_uppercase)


def _number_letters(question: Question, answers: Sequence[str]) -> _NumberedAnswers | None:
    """Number the letters of options; None if the key is not one of them."""
    letters = tuple(ascii_uppercase[: len(question.options)])
    number_of = {letter: number for number, letter in enumerate(letters)}
    if len(question.answer) > 1 or question.answer[0] not in number_of:
        return None
    numbers = [number_of.get(answer, NO_ANSWER) for answer in answers]
    return _NumberedAnswers(numbers=numbers, key=number_of[question.answer[0]], texts=letters)


def _number_texts(key: str, graded: Sequence[tuple[str, bool]]) -> _NumberedAnswers:
    """Number answers without options: 0 is right, the others are wrong and given repeatedly.

    ``graded`` are the answers of each model, and whether they are right.
    """
    counts = Counter(answer for answer, ok in graded if not ok)
    repeated = sorted(answer for answer, n in counts.items() if answer and n > 1)
    number_of = {answer: number for number, answer in enumerate(repeated, 1)}
    numbers = [0 if ok else number_of.get(answer, NO_ANSWER) for answer, ok in graded]
    return _NumberedAnswers(numbers=numbers, key=0, texts=(key, *repeated))


def _distinct_models(results: Results) -> list[int]:
    """Indices of the models that do not make nearly the same mistakes as one kept before."""
    kept: list[int] = []
    for model in range(len(results.answers)):
        if not any(_is_copy(results, model, earlier) for earlier in kept):
            kept.append(model)
    return kept


def _is_copy(results: Results, model: int, earlier: int) -> bool:
    """Whether two models nearly always answer alike where not both are right."""
    answers, earlier_answers = results.answers[model], results.answers[earlier]
    both_answered = (answers != "") & (earlier_answers != "")
    both_right = np.minimum(results.points[model], results.points[earlier]) >= _FULL_POINTS
    is_same = (answers == earlier_answers)[both_answered & ~both_right]
    return bool(is_same.size >= _MIN_MISTAKES and is_same.mean() > _MAX_SAME_MISTAKES)


def _suspect(
    comparable: ComparableAnswers, question_index: int, other_answer: int, ratio: float
) -> Suspect:
    """Describe why another answer is likelier than the key, by the log-likelihood ``ratio``."""
    matrix, question = comparable.matrix, comparable.questions[question_index]
    answers, key = matrix.answers[:, question_index], int(matrix.key[question_index])
    n_answered = int((answers != NO_ANSWER).sum())
    dissenters = np.flatnonzero(answers == other_answer)
    compared = np.arange(matrix.key.size) != question_index
    compared_name = "other questions"
    same_category = compared & (matrix.category == matrix.category[question_index])
    if question.category and same_category.any():
        compared, compared_name = same_category, f"other questions of {question.category}"
    accuracy = (matrix.answers == matrix.key)[dissenters][:, compared].mean()
    texts = comparable.texts[question_index]
    agreement = _format_agreement(int((answers == key).sum()))
    sentence = (
        f"{dissenters.size} of {n_answered} models say {_format_answer(texts[other_answer])}, the"
        f" key says {_format_answer(texts[key])} ({agreement}); they are right on {accuracy:.0%} of"
        f" the {compared_name}. The answers are {min(np.exp(ratio), 1e6):,.0f} times as likely if"
        " the key is wrong."
    )
    return Suspect(question.question_id, sentence, weight=round(ratio, 3))


def _format_agreement(n_models: int) -> str:
    if not n_models:
        return "none does"
    return f"{n_models} of them {'says' if n_models == 1 else 'say'} so"


def _format_answer(answer: str) -> str:
    text = " | ".join(answer.split(ANSWER_SEPARATOR))
    return text if len(text) <= 40 else f"{text[:39]}…"


def _sentence(n_models: int, ratios: Floats, e_value: float, share: float) -> str:
    n, n_listed = ratios.size, int((ratios >= _MIN_LISTED_RATIO).sum())
    subject = f"The answers of {n_models} models to {n} questions"
    if e_value >= _DOUBTFUL:
        return (
            f"{subject} are {min(e_value, 1e6):,.0f} times as likely if some keys are wrong, about"
            f" {max(1, round(share * n))} of them; {n_listed} are suspected."
        )
    doubt = f"; {n_listed} are doubtful, but so many are expected by chance" if n_listed else ""
    return f"{subject} fit their keys{doubt}."
