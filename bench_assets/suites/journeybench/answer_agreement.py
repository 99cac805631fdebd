"""Rules that decide whether a response agrees with a ground truth, by numbers and words."""

import re
from collections.abc import Sequence
from string import ascii_uppercase

from bench_assets.core.parsing.choices import read_choice
from bench_assets.core.parsing.normalization import normalize_response
from bench_assets.core.parsing.numbers import (
    final_number,
    format_number,
    list_numbers,
    parse_number,
    same_number,
    states_none,
)
from bench_assets.core.parsing.sentences import (
    hedges,
    is_negated,
    refuses,
    split_sentences,
    strip_questions,
)

_STEP = re.compile(r"=\s*\$?(-?\d[\d,]*(?:\.\d+)?)")
_WORD = re.compile(r"\w+")
_ORDINALS = ("first image", "second image")
_LIST = re.compile(r",? and |, ")
_LEAD = re.compile(r"\A\W*(?:(?:it|they)(?: is| are|['’]s|['’]re) )?(?:(?:the|an?) )?")
_INSTEAD = re.compile(r"\b(?:instead of|rather than|as opposed to|unlike)\b[^,;]*", re.IGNORECASE)
_ADVERB = re.compile(r"\b\w+ly ")
_PAIRS = (("left", "right"), ("first", "second"), ("top", "bottom"), ("upper", "lower"))
_OPPOSITES = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
_OPPOSITE_WORD = re.compile(rf"\b(?:{'|'.join(_OPPOSITES)})\b")
_FUNCTION_WORDS = frozenset(
    ("there", "is", "are", "no", "not", "any", "a", "an", "the", "exist", "none")
)


def read_answer(response: str, options: Sequence[str]) -> str:
    """Parse the option if there are any (cause and effect), else the number; "" if absent.

    >>> read_answer("The second image.", ("image1", "image2")), read_answer("So thirty.", ())
    ('image2', '30')
    """
    if options:
        letter = read_choice(response, _ORDINALS).letter
        return options[ascii_uppercase.index(letter)] if letter else ""
    number = final_number(response)
    return "" if number is None else format_number(number)


def matches_truth(answer: str, truth: str, response: str) -> bool:
    """Whether a response with this answer matches one form of the ground truth.

    * A number, with or without its unit, is compared as a number.
    * A denial ("there is no cup") matches a response that denies the same thing and has no count.
    * Any other truth must occur in a sentence that does not deny, ask or hedge, and not after
      "than"; of two opposites ("left", "right") the first one counts. Of a list, each item must.

    >>> (
    ...     matches_truth("0", "there is not any cup", "I see no cups."),
    ...     matches_truth("3", "no cups", "3 cups"),
    ... )
    (True, False)
    """
    number, truth_numbers = parse_number(answer), list_numbers(truth)
    # "the left one"
    if len(truth_numbers) == 1 and not _is_denial(truth) and not _OPPOSITE_WORD.search(truth):
        return number is not None and same_number(number, truth_numbers[0])
    if _is_denial(truth):
        return not number and any(
            _denies_same_thing(truth, sentence)
            for sentence in split_sentences(normalize_response(response))
        )
    sentences = [
        _words(sentence)
        for part in split_sentences(normalize_response(response))
        for sentence in [_INSTEAD.sub("", strip_questions(part))]
        if not (_is_denial(sentence) or hedges(sentence))
    ]
    items = _LIST.split(truth.casefold())
    return all(_is_stated(_words(_LEAD.sub("", item)), sentences) for item in items)


def _is_stated(truth: str, sentences: Sequence[str]) -> bool:
    """Whether the first sentence that names a thing or its opposite names the thing."""
    opposite = _OPPOSITE_WORD.sub(lambda side: _OPPOSITES[side[0]], truth)
    for sentence in sentences:
        clause = sentence if "than" in truth else sentence.partition(" than ")[0]
        if f" {truth} " in f" {clause} " or f" {truth} " in f" {_ADVERB.sub('', clause)} ":
            return True
        if opposite != truth and f" {opposite} " in f" {clause} ":
            return False
    return False


def missing_steps(solution: str, response: str) -> list[str]:
    """Results of the solution's steps that a response does not state in order."""
    numbers, missing = list_numbers(response), []
    for step in _STEP.findall(solution):
        for result in list_numbers(step):
            at = next((n for n, number in enumerate(numbers) if same_number(number, result)), None)
            if at is None:
                missing.append(step)
            else:
                numbers = numbers[at + 1 :]
    return missing


def _denies_same_thing(truth: str, sentence: str) -> bool:
    """Whether a sentence denies the same thing as a ground truth."""
    truth_words = {_stem(word) for word in _WORD.findall(truth.casefold())} - _FUNCTION_WORDS
    statement = strip_questions(sentence)
    named = {_stem(word) for word in _WORD.findall(statement.casefold())}
    denied = _is_denial(statement) and not hedges(statement)
    blind = refuses(statement) and not states_none(statement)
    return bool(truth_words) and truth_words <= named and denied and not blind


def _is_denial(text: str) -> bool:
    return is_negated(text) or states_none(text)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _stem(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 else word
