"""Scores of guesses that ignore an exam's images, such as by letters, lengths and texts.

In a fair exam, none of them scores more than chance. To check a mini edition, build it with five
seeds, and pass the questions of one task, one list for each seed, to ``unfair``::

    from tests.fakes.fair_exam import unfair

    def test_no_task_can_be_passed_without_looking(editions):  # five of them
        for task in TASKS:
            exams = [[q for q in edition.questions if q.category == task] for edition in editions]
            assert unfair(exams) == {}

Questions need options: of kind ``choice`` with letters for answers, or of kind ``text`` with the
options as possible answers. For texts without options (numbers, words) chance is 0, and there is
only the most frequent answer and the look-up to try. In a tie, the first option is taken.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from string import ascii_uppercase
from typing import TypeAlias

from bench_assets.core.schema.rows import Question

Exam: TypeAlias = Sequence[Question]
Guess: TypeAlias = Callable[[Question], str]  # the text of an option

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def unfair(exams: Sequence[Exam], margin: float = 0.10) -> dict[str, float]:
    """Name the shortcuts that score more than chance and a margin.

    Args:
        exams: The questions of one task, a list a seed.
        margin: Above chance, or above what the most frequent answer gets.
    """
    luck = chance(exams)
    return {name: share for name, share in shortcuts(exams).items() if share > luck + margin}


def chance(exams: Sequence[Exam]) -> float:
    """The mean points of a random option; 0 for questions without options."""
    questions = [question for exam in exams for question in exam]
    shares = [1 / len(question.options) if question.options else 0 for question in questions]
    return sum(shares) / len(shares)


def shortcuts(exams: Sequence[Exam]) -> dict[str, float]:
    """Score every shortcut by words that applies, over all questions of all exams."""
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
    return {name: _share(exams, guess) for name, guess in guesses.items()}


def right_text(question: Question) -> str:
    """The text of the right option, or the right text where there are no letters.

    >>> from tests.fakes.rows import question
    >>> right_text(question(kind="choice", options=("left", "right"), answer=("B",)))
    'right'
    """
    answer = question.answer[0]
    if question.kind != "choice":
        return answer
    return question.options[ascii_uppercase.index(answer)]


def _share(exams: Sequence[Exam], guess: Callable[[Exam], Guess]) -> float:
    points = []
    for exam in exams:
        guess_option = guess(exam)
        points += [guess_option(question) == right_text(question) for question in exam]
    return sum(points) / len(points)


def _most_frequent_answer(exam: Exam) -> Guess:
    counts = Counter(map(right_text, exam))

    def guess(question: Question) -> str:
        return max(question.options or counts, key=counts.__getitem__)

    return guess


def _most_frequent_letter(exam: Exam) -> Guess:
    counts = Counter(question.options.index(right_text(question)) for question in exam)

    def guess(question: Question) -> str:
        return question.options[max(range(len(question.options)), key=counts.__getitem__)]

    return guess


def _look_up(everything: Sequence[Question], words: Callable[[Question], str]) -> Guess:
    """Choose the answer that is most often right for the same words with other images."""
    same_words: dict[str, list[Question]] = {}
    for question in everything:
        same_words.setdefault(words(question), []).append(question)

    def guess(question: Question) -> str:
        rows = [row for row in same_words[words(question)] if row.images != question.images]
        counts = Counter(map(right_text, rows))
        offered = question.options or tuple(counts) or ("",)
        return max(offered, key=counts.__getitem__)

    return guess


def _by_number(everything: Sequence[Question]) -> dict[str, Callable[[Exam], Guess]]:
    """Take the option nearest to a number, for every number that makes a difference."""
    offered = {number for question in everything for number in _numbers(question.options)}
    if not offered:
        return {}
    edges = sorted({(first + second) / 2 for first in offered for second in offered})
    targets = [(low + high) / 2 for low, high in pairwise(edges)]
    return {f"the number nearest to {float(target):g}": _nearest_to(target) for target in targets}


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
    """The options as numbers; empty if one of them is no number."""
    texts = [option.strip() for option in options]
    return [Fraction(text) for text in texts] if all(map(_NUMBER.fullmatch, texts)) else []
