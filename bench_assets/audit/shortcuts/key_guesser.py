"""Key guesser: predicts the right option from cues that should not reveal it.

One model for all shortcuts: a conditional logit over features of the options, cross-validated over
clusters in five folds. Each cue is fitted alone, on all questions and on each large category, so
that a finding names the cue. It must beat chance, and what simpler features achieve.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bench_assets.audit.framework.evidence import Floats
from bench_assets.audit.framework.findings import AuditFinding, Suspect
from bench_assets.audit.framework.significance import GuessRate, compare_with_chance
from bench_assets.audit.framework.text_normalization import content_words, key_index
from bench_assets.core.schema.rows import Question
from bench_assets.core.stats.clusters import cluster_questions

Features: TypeAlias = npt.NDArray[np.float32]  # (questions, options, features)
Rows: TypeAlias = npt.NDArray[np.intp]  # indices of questions

MIN_QUESTIONS = 12
"""Fewest questions of a guess, and of a category that is tested separately."""
MAX_OPTIONS = 10
"""Questions with more options are left out."""

_MAX_QUESTIONS = 4000  # questions of one fit: a shortcut of five points is certain in fewer
_FOLDS = 5  # folds of the cross-validation
_MAX_STEPS = 80  # steps of the fit, at most
_PRECISION = 1e-3  # change of the weights that ends the fit
_RIDGE = 0.02  # L2 penalty; the mean loss is about 1


class Cue(NamedTuple):
    """Features of the options that should not reveal the key."""

    name: str
    features: Callable[[Rows], Features]
    guesses: Sequence[str] = ()  # names of the features, if each is a guess of its own
    groups: npt.NDArray[np.intp] | None = None  # of questions that are learned apart


class Guess(NamedTuple):
    """How often a cue predicts the key."""

    name: str
    rate: GuessRate
    right: Sequence[str]  # ids of the questions that were guessed


@dataclass(frozen=True)
class Exam:
    """Questions with the answers that a guess may choose from."""

    questions: Sequence[Question]
    options: Sequence[Sequence[str]]
    keys: npt.NDArray[np.intp]  # index of the right option; -1: it is not offered
    n_answers: int = 0  # distinct answers, if the options are the most frequent ones of them
    usual: float = 0.0  # share of one answer that is no flaw
    suffix: str = ""  # of the guesses' names

    @classmethod
    def with_options(cls, questions: Iterable[Question]) -> "Exam":
        """Select the questions with exactly one right option of at most ``MAX_OPTIONS``."""
        selected: list[Question] = []
        keys: list[int] = []
        for question in questions:
            key = key_index(question)
            if key >= 0 and len(question.options) <= MAX_OPTIONS:
                selected.append(question)
                keys.append(key)
        return cls(
            questions=selected,
            options=[question.options for question in selected],
            keys=np.array(keys, dtype=np.intp),
        )

    @classmethod
    def with_frequent_answers(
        cls, questions: Iterable[Question], kind: str, usual: float = 0.0
    ) -> "Exam":
        """Select questions of a kind, with the most frequent answers of all of them as options."""
        of_kind = [question for question in questions if question.kind == kind and question.answer]
        answers = [_distinct_answers(question) for question in of_kind]
        counts = Counter(answer for right in answers for answer in right)
        frequent = sorted(counts, key=lambda answer: (-counts[answer], answer))[:MAX_OPTIONS]
        indices = {answer: index for index, answer in enumerate(frequent)}
        keys = [min((indices[a] for a in right if a in indices), default=-1) for right in answers]
        return cls(
            questions=of_kind,
            options=[frequent] * len(of_kind),
            keys=np.array(keys, dtype=np.intp),
            n_answers=len(counts),
            usual=usual,
            suffix=f", of {kind}",
        )

    def select(self, rows: Sequence[int]) -> "Exam":
        """Select questions by their indices."""
        return replace(
            self,
            questions=[self.questions[row] for row in rows],
            options=[self.options[row] for row in rows],
            keys=self.keys[list(rows)],
        )

    @cached_property
    def n_options(self) -> npt.NDArray[np.intp]:
        """Number of options of each question."""
        return np.array([len(options) for options in self.options], dtype=np.intp)

    @cached_property
    def is_offered(self) -> npt.NDArray[np.bool_]:
        """Whether there is an option: (questions, options)."""
        return np.arange(self.n_options.max(initial=0)) < self.n_options[:, None]

    @cached_property
    def is_ordered(self) -> npt.NDArray[np.bool_]:
        """Whether a place means the same in all questions: a letter, or a frequent answer."""
        is_frequent = self.n_answers > 0
        ordered = [is_frequent or question.kind == "choice" for question in self.questions]
        return np.array(ordered, dtype=np.bool_)

    @cached_property
    def clusters(self) -> Sequence[str]:
        """Cluster of each question."""
        clusters = cluster_questions(self.questions)
        return [clusters[question.question_id] for question in self.questions]

    @cached_property
    def folds(self) -> npt.NDArray[np.intp]:
        """Fold of each question; a cluster is in one."""
        digests = [sha256(cluster.encode()).digest() for cluster in self.clusters]
        return np.array([digest[0] % _FOLDS for digest in digests], dtype=np.intp)

    def parts(self) -> dict[str, Rows]:
        """All questions, and those of each large category, by a suffix for messages.

        Each has at most ``_MAX_QUESTIONS``; a single category is no part of its own.
        """
        by_category: dict[str, list[int]] = defaultdict(list)
        for row, question in enumerate(self.questions):
            by_category[f" in {question.category}"].append(row)
        parts = {"": self._sample(range(len(self.questions)))}
        if len(by_category) > 1:
            for suffix, rows in by_category.items():
                if len(rows) >= MIN_QUESTIONS:
                    parts[suffix] = self._sample(rows)
        return parts

    def best_place(self, rows: Rows) -> float:
        """Share of the most frequent place of the right option; 0 if places mean nothing."""
        keys = self.keys[rows]
        counts = np.bincount(keys[self.is_ordered[rows] & (keys >= 0)], minlength=1)
        return float(counts.max()) / len(rows)

    def _sample(self, rows: Sequence[int]) -> Rows:
        """Keep at most ``_MAX_QUESTIONS`` questions: clusters in the order of their digests."""
        if len(rows) > _MAX_QUESTIONS:
            digests = {row: sha256(self.clusters[row].encode()).digest() for row in rows}
            rows = sorted(sorted(rows, key=digests.__getitem__)[:_MAX_QUESTIONS])
        return np.array(rows, dtype=np.intp)


def guess_keys(
    exam: Exam,
    cues: Sequence[Cue],
    simpler: Sequence[Cue] = (),
    *,
    beats_place: bool = True,
    by_category: bool = True,
) -> list[Guess]:
    """Predict the keys from each cue, on all questions and on each large category.

    There are no guesses if there are fewer than ``MIN_QUESTIONS``.

    Args:
        exam: The questions.
        cues: Cues to test; all together share the error budget, half of it for all questions.
        simpler: Simpler cues, whose accuracy the tested ones must beat.
        beats_place: Whether they must also beat the most frequent place of the key.
        by_category: Whether categories are tested, too.
    """
    if len(exam.questions) < MIN_QUESTIONS:
        return []
    parts = exam.parts() if by_category else {"": exam.parts()[""]}
    guesses = []
    for suffix, rows in parts.items():
        n_tests = len(cues)
        if len(parts) > 1:
            n_tests *= 2 * (len(parts) - 1) if suffix else 2
        levels = [float(_cross_validate(exam, rows, cue).mean()) for cue in simpler]
        if beats_place:
            levels.append(exam.best_place(rows))
        for cue in cues:
            hits = _cross_validate(exam, rows, cue)
            guesses.append(
                Guess(
                    name=f"{_guess_name(exam, rows, cue)}{exam.suffix}{suffix}",
                    rate=_guess_rate(exam, rows, hits, max(levels, default=0.0), n_tests),
                    right=[exam.questions[row].question_id for row in rows[hits == 1]],
                )
            )
    return guesses


def guess_finding(
    guesses: Sequence[Guess], source: str, *, with_questions: bool = False
) -> AuditFinding:
    """Summarize guesses; suspects are those that give the key away, and questions on request."""
    best = min(guesses, key=lambda guess: (guess.rate.p, guess.rate.chance - guess.rate.share))
    significant = [guess for guess in guesses if guess.rate.is_significant]
    suspects = [
        Suspect(guess.name, str(guess.rate), weight=guess.rate.share - guess.rate.chance)
        for guess in significant
    ]
    if with_questions and significant:
        reason = f"guessed right by {best.name}"
        suspects += [Suspect(name, reason, weight=0.0) for name in best.right]
    verdict = "gives the key away" if suspects else "does not give the key away"
    return AuditFinding(
        sentence=f"{source[0].upper()}{source[1:]} {verdict}: best is {best.name}, {best.rate}.",
        n=max(guess.rate.n for guess in guesses),
        suspects=suspects,
    )


def _guess_rate(exam: Exam, rows: Rows, hits: Floats, level: float, n_tests: int) -> GuessRate:
    """Test whether hits exceed chance, the level of simpler guesses and the usual rate.

    The returned chance is the higher one of the first two.
    """
    chances = 1 / exam.n_options[rows]
    if exam.n_answers:
        # Questions without options: a guess between fewer than two answers tells nothing.
        chances = np.full(len(rows), 1 / max(2, exam.n_answers))
    if level > chances.mean():
        chances = np.full(len(rows), level)
    tested = np.maximum(chances, exam.usual)
    rate = compare_with_chance(hits, tested, [exam.clusters[row] for row in rows], n_tests)
    return rate._replace(chance=float(chances.mean()), usual=exam.usual)


def _guess_name(exam: Exam, rows: Rows, cue: Cue) -> str:
    """Name of a cue, or of the feature that is the best guess by itself."""
    if not cue.guesses:
        return cue.name
    features = cue.features(rows)
    hits = [_hits(exam, rows, features[:, :, n]).mean() for n in range(len(cue.guesses))]
    return cue.guesses[int(np.argmax(hits))]


def _cross_validate(exam: Exam, rows: Rows, cue: Cue) -> Floats:
    """Accuracy on each question of a classifier trained on other clusters; ties are split."""
    offered, keys = exam.is_offered[rows], exam.keys[rows]
    unscaled = cue.features(rows)
    spread = unscaled[offered].std(axis=0)
    features = (unscaled / np.where(spread > 0, spread, 1)).astype(np.float32)
    folds = exam.folds[rows]
    groups = np.zeros(len(rows), np.intp) if cue.groups is None else cue.groups[rows]
    hits = np.zeros(len(rows))
    for group, fold in product(set(groups.tolist()), range(_FOLDS)):
        test = (groups == group) & (folds == fold)
        train = (groups == group) & (folds != fold) & (keys >= 0)
        if not test.any():
            continue
        weights = _fit_weights(features[train], offered[train], keys[train])
        hits[test] = _hits(exam, rows[test], np.round(features[test] @ weights, 4))
    return hits


def _hits(exam: Exam, rows: Rows, sums: npt.NDArray[np.float32]) -> Floats:
    """1 if the option with the largest sum is right, else 0; in a tie, the share of a guess."""
    offered_sums = np.where(exam.is_offered[rows], sums, -np.inf)
    is_best = offered_sums == offered_sums.max(axis=1, keepdims=True)
    keys = exam.keys[rows]
    shares = is_best[np.arange(len(rows)), keys] / is_best.sum(axis=1)
    return np.where(keys >= 0, shares, 0.0)


def _fit_weights(
    features: Features, offered: npt.NDArray[np.bool_], keys: npt.NDArray[np.intp]
) -> npt.NDArray[np.float32]:
    """Fit weights of features by accelerated gradient steps (Nesterov, 1983); 0 without keys."""
    weights = np.zeros(features.shape[2], np.float32)
    if not len(keys):
        return weights
    is_right = np.eye(offered.shape[1], dtype=np.float32)[keys]
    step_size = 1 / (0.5 * float((features**2).sum(axis=2).max(axis=1).mean()) + _RIDGE)
    ahead = weights
    for step_index in range(_MAX_STEPS):
        sums = np.where(offered, features @ ahead, -np.inf)
        shares = np.exp(sums - sums.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        slope = np.tensordot(shares - is_right, features, axes=2) / len(keys) + _RIDGE * ahead
        stepped = (ahead - step_size * slope).astype(np.float32)
        change = stepped - weights
        momentum = np.float32(step_index / (step_index + 3))
        ahead, weights = stepped + momentum * change, stepped
        if np.abs(change).max(initial=0) < _PRECISION:
            break
    return weights


def _distinct_answers(question: Question) -> set[str]:
    """Distinct answers of a question; several blanks or letters are one answer."""
    if question.kind == "text":
        return {" ".join(content_words(answer)) for answer in question.answer}
    return {" | ".join(" ".join(content_words(answer)) for answer in question.answer)}
