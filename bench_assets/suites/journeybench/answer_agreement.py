"""Whether a response agrees with a ground truth, by rules: as far as numbers and words go."""

import re
from collections.abc import Sequence
from string import ascii_uppercase

from bench_assets.core.parsing.choices import read_choice
from bench_assets.core.parsing.normalization import plain
from bench_assets.core.parsing.numbers import (
    as_number,
    denied,
    final_number,
    numbers,
    same_number,
    written,
)
from bench_assets.core.parsing.sentences import (
    denies,
    hedges,
    refuses,
    sentences,
    without_questions,
)

_STEP = re.compile(r"=\s*\$?(-?\d[\d,]*(?:\.\d+)?)")
_WORD = re.compile(r"\w+")
_ORDINALS = ("first image", "second image")
_SAYS_NOTHING = frozenset(
    ("there", "is", "are", "no", "not", "any", "a", "an", "the", "exist", "none")
)


def read_answer(response: str, options: Sequence[str]) -> str:
    """Parse an option if there are some (cause and effect), else a number; "" if absent.

    >>> read_answer("The second image.", ("image1", "image2")), read_answer("So thirty.", ())
    ('image2', '30')
    """
    if options:
        letter = read_choice(response, _ORDINALS).letter
        return options[ascii_uppercase.index(letter)] if letter else ""
    number = final_number(response)
    return "" if number is None else written(number)


def agrees(answer: str, truth: str, response: str) -> bool:
    """Whether a response with this answer matches one form of the ground truth.

    A truth that is a number, with or without what is counted, is compared as one. A truth that
    denies ("there is no cup") is said by whatever denies the same thing and counts nothing. Any
    other has to stand in a sentence that does not deny it, ask for it or leave it open.

    >>> agrees("0", "there is not any cup", "I see no cups."), agrees("3", "no cups", "3 cups")
    (True, False)
    """
    said, counted = as_number(answer), numbers(truth)
    if len(counted) == 1 and not _absent(truth):
        return said is not None and same_number(said, counted[0])
    if _absent(truth):
        return not said and any(
            _denies_it(truth, sentence) for sentence in sentences(plain(response))
        )
    return any(
        f" {_words(truth)} " in f" {_words(sentence)} "
        for sentence in map(without_questions, sentences(plain(response)))
        if not (_absent(sentence) or hedges(sentence))
    )


def missing_steps(solution: str, response: str) -> list[str]:
    """Results of the true steps that the response does not state after those before them."""
    said = iter(numbers(response))
    return [
        step
        for step in _STEP.findall(solution)
        for result in numbers(step)
        if not any(same_number(number, result) for number in said)
    ]


def _denies_it(truth: str, sentence: str) -> bool:
    """Whether a sentence denies the same thing as a ground truth."""
    things = {_stem(word) for word in _WORD.findall(truth.casefold())} - _SAYS_NOTHING
    said = without_questions(sentence)
    named = {_stem(word) for word in _WORD.findall(said.casefold())}
    told = _absent(said) and not hedges(said)
    blind = refuses(said) and not denied(said)
    return bool(things) and things <= named and told and not blind


def _absent(text: str) -> bool:
    return denies(text) or denied(text)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _stem(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 else word
