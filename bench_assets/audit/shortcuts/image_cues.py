"""Image cues: guesses of the key from a statistic of the images, without understanding them.

A statistic is a number of an image: the size of its file, its brightness, its contrast. Each guess
is scored under cross-validation: what is right for a question is learned on other clusters.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from bench_assets.audit.framework.significance import GuessRate, chance_levels, compare_with_chance
from bench_assets.audit.framework.text_normalization import content_words, with_key_index
from bench_assets.audit.shortcuts.guessable_keys import (
    GuessResults,
    Keyed,
    Weigh,
    option_guess,
    score_majority_guess,
    split_by_category,
)
from bench_assets.core.schema.rows import Question
from bench_assets.core.stats.paired_tests import cluster_questions

ImageFacts: TypeAlias = Mapping[str, Mapping[str, float]]
"""Statistic -> image -> value."""
Groups: TypeAlias = Mapping[str, Sequence[int]]
"""Grouping -> number of the group of each question."""

MIN_QUESTIONS = 12
"""Fewest questions for a guess."""


def cue_guesses(questions: Sequence[Question], facts: ImageFacts) -> GuessResults:
    """Guess by each statistic, over all questions and over each large category.

    Among options that are images: the greatest, the least, the nearest to the first image and the
    farthest from it. Of all questions: the letter, and the answer in words, that is most often
    right for images with similar values.
    """
    known = [q for q in questions if q.images and all(_has_facts(q, of) for of in facts.values())]
    keyed = with_key_index(known)
    with_keys = {question.question_id for question, _ in keyed}
    free_text = [
        one
        for one in known
        if one.kind == "text" and one.answer and one.question_id not in with_keys
    ]
    tried = [*_guess_image_options(keyed, facts), *group_guesses(keyed, _thirds_of(keyed, facts))]
    return [*tried, *_guess_words(free_text, _thirds_of([(one, 0) for one in free_text], facts))]


def group_guesses(some: Keyed, groups: Groups) -> GuessResults:
    """Guess the letter, and the option in words, that is right in other questions of a group."""
    clusters = cluster_questions([one for one, _ in some])
    groups = {name: of for name, of in groups.items() if len(set(of)) > 1}
    place = {one.question_id: n for n, (one, _) in enumerate(some)}
    parts = split_by_category(some)
    halves = len(groups) * min(2, len(parts))  # categories share half of the error budget
    return [
        guess
        for part, chosen in parts.items()
        for tries in [halves * (len(parts) - 1) if part else halves]
        for places in [[place[one.question_id] for one, _ in chosen]]
        for name, of in groups.items()
        for guess in _by_group(f"{name}{part}", chosen, [of[n] for n in places], clusters, tries)
        if len(chosen) >= MIN_QUESTIONS
    ]


def _by_group(
    name: str, keyed: Keyed, group: Sequence[int], clusters: Mapping[str, str], tries: int
) -> GuessResults:
    names = [clusters[one.question_id] for one, _ in keyed]
    lettered = all(one.kind == "choice" for one, _ in keyed)
    tried = []
    if lettered:
        hits = score_majority_guess([key for _, key in keyed], group, names)
        chances = chance_levels([len(one.options) for one, _ in keyed], _best_letter(keyed))
        tried.append((name, compare_with_chance(hits, chances, names, tries), ()))
    plain = option_guess(keyed, _word_weights(keyed, [0] * len(keyed), names), clusters).share
    by_words = _word_weights(keyed, group, names)
    return [
        *tried,
        (f"the answer for {name}", option_guess(keyed, by_words, clusters, tries, plain), ()),
    ]


def _guess_image_options(keyed: Keyed, facts: ImageFacts) -> GuessResults:
    """Guess the greatest, the least, and the image most like the first one or unlike it."""
    tried = []
    clusters = cluster_questions([one for one, _ in keyed])
    for before in (0, 1):
        fitting = [(one, key) for one, key in keyed if n_question_images(one) == before]
        if len(fitting) < MIN_QUESTIONS:
            continue
        parts = split_by_category(fitting)
        guesses = {
            guess: weigh
            for name, of in facts.items()
            for guess, weigh in _statistic_weights(name, of, before).items()
        }
        tried += [
            (f"{guess}{part}", option_guess(chosen, weigh, clusters, len(guesses) * len(parts)), ())
            for part, chosen in parts.items()
            for guess, weigh in guesses.items()
        ]
    return tried


def n_question_images(question: Question) -> int:
    """Number of images before the image options; -1 without image options."""
    before = len(question.images) - len(question.options)
    return before if before in (0, 1) else -1


def _statistic_weights(name: str, of: Mapping[str, float], before: int) -> dict[str, Weigh]:
    def values(question: Question) -> list[float]:
        return [of[image] for image in question.images]

    def unlike(question: Question) -> list[float]:
        first, *others = values(question)
        return [abs(one - first) for one in others]

    guesses: dict[str, Weigh] = {
        f"the greatest {name}": lambda q: values(q)[before:],
        f"the least {name}": lambda q: [-one for one in values(q)[before:]],
    }
    if before:
        guesses[f"the farthest {name}"] = unlike
        guesses[f"the nearest {name}"] = lambda q: [-one for one in unlike(q)]
    return guesses


def _thirds_of(keyed: Keyed, facts: ImageFacts) -> Groups:
    """Group by thirds of each statistic of the first image, and of the first minus the last."""
    if not keyed:
        return {}
    groups: dict[str, Sequence[int]] = {}
    for name, of in facts.items():
        groups[f"images of like {name}"] = tercile_indices([of[one.images[0]] for one, _ in keyed])
        if all(len(one.images) > 1 for one, _ in keyed):
            differences = [of[one.images[0]] - of[one.images[-1]] for one, _ in keyed]
            groups[f"images of like difference in {name}"] = tercile_indices(differences)
    return groups


def tercile_indices(values: Sequence[float]) -> list[int]:
    """Third that each value is in: 0, 1 or 2."""
    edges = np.quantile(np.asarray(values, float), [1 / 3, 2 / 3])
    return [int(np.searchsorted(edges, value)) for value in values]


def _guess_words(questions: Sequence[Question], groups: Groups) -> GuessResults:
    """Guess the answer in words that is most frequent in other questions of a group."""
    parts: dict[str, list[int]] = defaultdict(list)
    for n, one in enumerate(questions):
        parts[f" in {one.category}"].append(n)
    chosen = {"": list(range(len(questions))), **(parts if len(parts) > 1 else {})}
    large = {name: places for name, places in chosen.items() if len(places) >= MIN_QUESTIONS}
    return [
        (f"{name}{part}", rate, ())
        for part, places in large.items()
        for name, rate in _guess_answers([questions[n] for n in places], places, groups, len(large))
    ]


def _guess_answers(
    questions: Sequence[Question], places: Sequence[int], groups: Groups, n_parts: int
) -> Iterator[tuple[str, GuessRate]]:
    """Guess by each group; luck is the most frequent answer of all."""
    answers = [content_words(one.answer[0]) for one in questions]
    numbers = {answer: n for n, answer in enumerate(dict.fromkeys(answers))}
    keys, clusters = [numbers[one] for one in answers], cluster_questions(questions)
    chances = [Counter(keys).most_common(1)[0][1] / len(questions)] * len(questions)
    names = [clusters[one.question_id] for one in questions]
    for name, group in groups.items():
        hits = score_majority_guess(keys, [group[n] for n in places], names)
        yield name, compare_with_chance(hits, chances, names, len(groups) * n_parts)


def _word_weights(keyed: Keyed, group: Sequence[int], names: Sequence[str]) -> Weigh:
    """Weigh an option by how often its words are right in a group, in other clusters."""
    right: Counter[tuple[object, ...]] = Counter()
    offered: Counter[tuple[object, ...]] = Counter()
    for (question, key), of, name in zip(keyed, group, names, strict=True):
        for n, option in enumerate(question.options):
            for cell in ((of, content_words(option)), (of, content_words(option), name)):
                offered[cell] += 1
                right[cell] += n == key
    places = {
        one.question_id: (of, name) for (one, _), of, name in zip(keyed, group, names, strict=True)
    }

    def weigh(question: Question) -> list[float]:
        of, name = places[question.question_id]
        cells = [
            ((of, content_words(option)), (of, content_words(option), name))
            for option in question.options
        ]
        return [
            (right[cell] - right[own]) / max(1, offered[cell] - offered[own]) for cell, own in cells
        ]

    return weigh


def _best_letter(keyed: Keyed) -> float:
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    for one, key in keyed:
        counts[len(one.options)][key] += 1
    return sum(max(of.values()) for of in counts.values()) / len(keyed)


def _has_facts(question: Question, of: Mapping[str, float]) -> bool:
    return all(image in of for image in question.images)
