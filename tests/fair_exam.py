"""What can be scored in an exam without understanding its images: by letters, lengths, sizes,
texts, and by brightness, contrast, sharpness and measures of the images.

A fair exam gives none of these more than chance. To check a mini edition, build it with five seeds,
and put the questions of one task in each, one list a seed, into ``shortcuts``::

    from tests.fair_exam import unfair

    def test_no_task_can_be_passed_without_looking(editions):  # five of them
        for task in TASKS:
            exams = [[q for q in edition.questions if q.category == task] for edition in editions]
            assert unfair(exams, lambda image: len(store.read(image)), store.open) == {}

Questions need options: of kind ``choice`` with letters for answers, or of kind ``text`` with the
options as possible answers. For texts without options (numbers, words) chance is 0, and there is
only the most frequent answer and the look-up to try. Where an exam ties, the first option is taken:
images of one size say nothing.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from statistics import median
from string import ascii_uppercase
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.stats import binomtest

from bench_assets.core.schema.rows import Question

Exam: TypeAlias = Sequence[Question]
Open: TypeAlias = Callable[[str], Image.Image]
Guess: TypeAlias = Callable[[Question], str]  # the text of an option

LEARNED = "the letter by"
_RARE = 1e-3
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def unfair(
    exams: Sequence[Exam],
    n_bytes: Callable[[str], int],
    open_image: Open | None = None,
    margin: float = 0.10,
) -> dict[str, float]:
    """Name the shortcuts that score more than chance and a margin; see ``shortcuts``.

    One that is learned must also be beyond luck: there are many of them for few questions.
    """
    luck, n = chance(exams), sum(map(len, exams))
    found = shortcuts(exams, n_bytes, open_image)
    return {
        name: share
        for name, share in found.items()
        if share > luck + margin
        and (LEARNED not in name or binomtest(round(share * n), n, luck).pvalue < _RARE)
    }


def chance(exams: Sequence[Exam]) -> float:
    """What a random option scores; 0 for questions without options."""
    shares = [1 / len(one.options) if one.options else 0 for exam in exams for one in exam]
    return sum(shares) / len(shares)


def shortcuts(
    exams: Sequence[Exam], n_bytes: Callable[[str], int], open_image: Open | None = None
) -> dict[str, float]:
    """Score every shortcut that applies, over all questions of all exams.

    Args:
        exams: The questions of one task, a list a seed.
        n_bytes: The size of an image's file by its SHA-256.
        open_image: Decodes an image by its SHA-256; None: statistics of pixels are not tried.
    """
    everything = [question for exam in exams for question in exam]
    guesses: dict[str, Callable[[Exam], Guess]] = {
        "the most frequent answer": _most_frequent_answer,
        "the answer to the same question about another image": lambda _: _look_up(
            everything, lambda question: question.text
        ),
        "the answer to the same question in the same context": lambda _: _look_up(
            everything, lambda question: f"{question.text}\n{question.context}"
        ),
    }
    if all(question.options for question in everything):
        guesses |= {
            "always the first option": lambda _: lambda question: question.options[0],
            "the most frequent letter": _most_frequent_letter,
            "the longest option": lambda _: lambda question: max(question.options, key=len),
            "the shortest option": lambda _: lambda question: min(question.options, key=len),
        }
        guesses |= _by_number(everything)
        measured = {"file size": n_bytes}
        if open_image:
            measured |= {name: _measured(open_image, name) for name in STATISTICS}
        for name, measure in measured.items():
            guesses |= _by_images(everything, name, measure)
    found = {name: _share(exams, guess) for name, guess in guesses.items()}
    if open_image and all(question.options for question in everything):
        for name in STATISTICS:
            found |= _by_thresholds(exams, name, _measured(open_image, name))
    return found


def right_text(question: Question) -> str:
    """The text of the right option, or the right text where there are no letters.

    >>> from tests.rows import question
    >>> right_text(question(kind="choice", options=("left", "right"), answer=("B",)))
    'right'
    """
    answer = question.answer[0]
    if question.kind != "choice":
        return answer
    return question.options[ascii_uppercase.index(answer)]


def _share(exams: Sequence[Exam], guess: Callable[[Exam], Guess]) -> float:
    points = [guessed(one) == right_text(one) for e in exams for guessed in [guess(e)] for one in e]
    return sum(points) / len(points)


def _most_frequent_answer(exam: Exam) -> Guess:
    counts = Counter(map(right_text, exam))

    def guess(question: Question) -> str:
        return max(question.options or counts, key=counts.__getitem__)

    return guess


def _most_frequent_letter(exam: Exam) -> Guess:
    counts = Counter(one.options.index(right_text(one)) for one in exam)

    def guess(question: Question) -> str:
        return question.options[max(range(len(question.options)), key=counts.__getitem__)]

    return guess


def _look_up(everything: Sequence[Question], words: Callable[[Question], str]) -> Guess:
    """Answer as is most often right for the same words with other images, in any exam."""
    known: dict[str, list[Question]] = {}
    for question in everything:
        known.setdefault(words(question), []).append(question)

    def guess(question: Question) -> str:
        others = [one for one in known[words(question)] if one.images != question.images]
        counts = Counter(map(right_text, others))
        offered = question.options or tuple(counts) or ("",)
        return max(offered, key=counts.__getitem__)

    return guess


def _by_number(everything: Sequence[Question]) -> dict[str, Callable[[Exam], Guess]]:
    """Take the option nearest to a number, for every number that makes a difference."""
    offered = {number for one in everything for number in _numbers(one.options)}
    if not offered:
        return {}
    edges = sorted({(a + b) / 2 for a in offered for b in offered})
    tried = [(a + b) / 2 for a, b in pairwise(edges)]

    return {f"the number nearest to {float(target):g}": _nearest_to(target) for target in tried}


def _nearest_to(target: Fraction) -> Callable[[Exam], Guess]:
    def guess(question: Question) -> str:
        numbers = _numbers(question.options)
        if not numbers:
            return question.options[0]
        return question.options[min(range(len(numbers)), key=_distances(numbers, target))]

    return lambda _: guess


def _distances(numbers: Sequence[Fraction], target: Fraction) -> Callable[[int], Fraction]:
    return lambda nth: abs(numbers[nth] - target)


def _numbers(options: Iterable[str]) -> list[Fraction]:
    """The options as numbers; empty if one is none."""
    found = [_NUMBER.fullmatch(option.strip()) for option in options]
    return [Fraction(one[0]) for one in found if one] if all(found) else []


def _measured(open_image: Open, name: str) -> Callable[[str], float]:
    return cache(lambda image: STATISTICS[name](np.asarray(open_image(image).convert("L"), float)))


def _sharpness(grey: NDArray[np.float64]) -> float:
    """Variance of the Laplacian."""
    inner = grey[1:-1, 1:-1]
    around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    return float((around - 4 * inner).var())


STATISTICS: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "brightness": lambda grey: float(grey.mean()),
    "contrast": lambda grey: float(grey.std()),
    "sharpness": _sharpness,
    "width": lambda grey: float(grey.shape[1]),
    "height": lambda grey: float(grey.shape[0]),
}
"""Of an image in levels of grey: what can be told without understanding it."""


def _by_images(
    everything: Sequence[Question], name: str, measure: Callable[[str], float]
) -> dict[str, Callable[[Exam], Guess]]:
    """Go by a statistic of the images, where the options are images."""
    extra = {len(one.images) - len(one.options) for one in everything}
    if extra not in ({0}, {1}):
        return {}
    (before,) = extra

    def by(key: Callable[[float, float], float]) -> Callable[[Exam], Guess]:
        def guess(question: Question) -> str:
            of_all = [measure(image) for image in question.images]
            keys = [key(value, of_all[0]) for value in of_all[before:]]
            return question.options[keys.index(min(keys))]

        return lambda _: guess

    ways = {
        f"the greatest {name}": by(lambda value, _: -value),
        f"the least {name}": by(lambda value, _: value),
    }
    if before:
        ways[f"the nearest {name}"] = by(lambda value, first: abs(value - first))
        ways[f"the farthest {name}"] = by(lambda value, first: -abs(value - first))
    return ways


def _by_thresholds(
    exams: Sequence[Exam], name: str, measure: Callable[[str], float]
) -> dict[str, float]:
    """Guess a letter by a statistic of the images, learned on the other exams.

    The statistic of the first image, and of the first less the last where there are several, is
    compared with its median; on either side the letter that is right most often there is chosen.
    """
    everything = [one for exam in exams for one in exam]
    if len(exams) < 2 or not all(one.images for one in everything):
        return {}
    ways: dict[str, Callable[[Question], float]] = {
        f"{LEARNED} {name}": lambda one: measure(one.images[0])
    }
    if all(len(one.images) > 1 for one in everything):
        ways[f"{LEARNED} the difference in {name}"] = lambda one: (
            measure(one.images[0]) - measure(one.images[-1])
        )
    return {way: _cross_validated(exams, value) for way, value in ways.items()}


def _cross_validated(exams: Sequence[Exam], value: Callable[[Question], float]) -> float:
    points = []
    for nth, exam in enumerate(exams):
        others = [one for m, other in enumerate(exams) if m != nth for one in other]
        middle = median(map(value, others))
        counts = {side: Counter[int]() for side in (False, True)}
        for one in others:
            counts[value(one) > middle][one.options.index(right_text(one))] += 1
        for one in exam:
            known = counts[value(one) > middle]
            place = max(range(len(one.options)), key=known.__getitem__)
            points.append(one.options[place] == right_text(one))
    return sum(points) / len(points)
