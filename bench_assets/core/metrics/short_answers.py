"""Short-answer metrics: exact match, ANLS and relaxed numeric accuracy."""

import re
import unicodedata
from collections.abc import Sequence

from bench_assets.core.reading.json_values import unwrap_answer
from bench_assets.core.reading.numbers import parse_number, read_number

ANLS_THRESHOLD = 0.5
"""Smallest ANLS above 0: with more than half of the letters wrong it is another word."""
RELAXED_TOLERANCE = 0.05
"""Relative tolerance of a number read off a chart (Masry et al., 2022)."""

_ANSWER_PREFIX = re.compile(
    r"\A\W*(?:the\s+)?(?:final\s+|short\s+)?answer(?:\s+is\b|\s*:)+\s*", re.I
)
_MARKUP = re.compile(r"[*`]|__")
_EDGES = " \t\n.,;:!?。，\"'“”‘’"


def normalize_answer(text: str) -> str:
    """Remove case, markup, extra blanks, outer punctuation, boxes and the words "the answer is".

    >>> normalize_answer("**Answer:** New  York.") == normalize_answer("new york")
    True
    """
    return _strip_markup(text).strip(_EDGES)


def _strip_markup(text: str) -> str:
    text = unicodedata.normalize("NFKC", unwrap_answer(text)).replace("−", "-")
    stripped = _ANSWER_PREFIX.sub("", _MARKUP.sub("", text))
    return " ".join(stripped.split()).casefold()


def _comparison_form(text: str) -> str:
    """Normalise a text; punctuation stays where nothing else is left, unlike an empty response."""
    plain = _strip_markup(text)
    return plain.strip(_EDGES) or plain or text.strip()


def exact_match(response: str, references: Sequence[str]) -> float:
    """1 if the response is one of the references, or the same number; else 0.

    >>> exact_match("4.0", ["4"]), exact_match("four", ["4"]), exact_match("4 cups", ["4"])
    (1.0, 1.0, 0.0)
    """
    return float(
        any(
            _same(_comparison_form(response), _comparison_form(reference))
            for reference in references
        )
    )


def anls(response: str, references: Sequence[str]) -> float:
    """Normalized Levenshtein similarity of a response to the nearest reference, in [0, 1].

    1 - edit distance / length of the longer text, case-insensitive; 0 if that is less than a half
    (Biten et al., Scene Text Visual Question Answering, 2019). A half counts as in the evaluation
    script of the challenges; by equation 1 it is 0.

    >>> anls("hello", ["hallo"]), anls("ab", ["ac"]), anls("abc", ["axy"])
    (0.8, 0.5, 0.0)
    """
    return max(
        (
            _similarity(_comparison_form(response), _comparison_form(reference))
            for reference in references
        ),
        default=0.0,
    )


def relaxed_match(response: str, references: Sequence[str]) -> float:
    """1 if the response is a reference or a number within 5 % of it, else 0 (ChartQA, section 5.1).

    Percent and dollar signs are ignored. Of a response in sentences, the final number counts.

    >>> relaxed_match("It is about 96 %.", ["100"]), relaxed_match("94", ["100"])
    (1.0, 0.0)
    """
    return float(
        exact_match(response, references)
        or any(_is_within_tolerance(response, reference) for reference in references)
    )


def _same(one: str, other: str) -> bool:
    if one == other:
        return True
    numbers = parse_number(one), parse_number(other)
    return None not in numbers and numbers[0] == numbers[1]


def _is_within_tolerance(response: str, reference: str) -> bool:
    truth = parse_number(normalize_answer(reference))
    if truth is None:
        return False
    value = parse_number(normalize_answer(response))
    if value is None and (number := read_number(response)):
        value = number.value.value
    # The bound is inclusive, despite rounding errors.
    return value is not None and abs(value - truth) <= RELAXED_TOLERANCE * abs(truth) * (1 + 1e-9)


def _similarity(one: str, other: str) -> float:
    longest = max(len(one), len(other))
    if not longest or abs(len(one) - len(other)) > ANLS_THRESHOLD * longest:
        return float(one == other)
    similarity = 1 - edit_distance(one, other) / longest
    return similarity if similarity >= ANLS_THRESHOLD else 0.0


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """Edit distance: letters or words to insert, delete or substitute (Levenshtein, 1966).

    Bit-parallel (Hyyrö, 2003): a table of all pairs of letters takes seconds for a page of text.
    """
    one, other = sorted((one, other), key=len)  # the shorter is the numbers' length in bits
    places: dict[str, int] = {}
    for position, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << position
    everywhere, last = (1 << len(one)) - 1, 1 << len(one) >> 1
    up, down, distance = everywhere, 0, len(one)  # where a column of the table rises or falls
    for letter in other:
        matches = places.get(letter, 0)
        diagonal = ((matches & up) + up ^ up) | matches | down
        rises, falls = down | everywhere & ~(diagonal | up), diagonal & up
        distance += bool(rises & last) - bool(falls & last)
        rises = rises << 1 | 1
        up, down = everywhere & (falls << 1 | ~(diagonal | rises)), everywhere & rises & diagonal
    return distance if one else len(other)


def word_errors(response: str, references: Sequence[str]) -> tuple[int, int]:
    """Word errors against the nearest reference, and its words: WER is the ratio of their sums.

    Words to insert, delete or substitute; case and punctuation do not count.

    >>> word_errors("The cat sat", ["the cat sat down", "a dog"])
    (1, 4)
    """
    response_words = _words(response)
    pairs = [
        (edit_distance(response_words, words), len(words)) for words in map(_words, references)
    ]
    return min(pairs, key=lambda pair: pair[0] / max(1, pair[1]), default=(len(response_words), 0))


def word_accuracy(response: str, references: Sequence[str]) -> float:
    """1 - word error rate of one response, at least 0."""
    errors, words = word_errors(response, references)
    return max(0.0, 1 - errors / max(1, words))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", unicodedata.normalize("NFKC", text).casefold())


_VQA_STOPS = re.compile(r"[;/\[\]\"{}()=+\\_><@`?!-]|[,.](?!(?<=\d[,.])\d)")
_VQA_NUMBERS = dict(
    zip(
        ("none", "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
        ("0", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
        strict=True,
    )
) | {"ten": "10"}
_ARTICLES = frozenset({"a", "an", "the"})
_FULL_AGREEMENT = 3  # agreeing people for a full point, of ten


def vqa_accuracy(response: str, references: Sequence[str]) -> float:
    """VQA accuracy: a third of a point for each person who agrees, at most 1, averaged over people.

    Each person in turn is left out (Antol et al., VQA, 2015; the evaluation script). Case,
    punctuation, articles and apostrophes are ignored, unless nothing else is left, and numbers
    become digits. A single reference has to match.

    >>> vqa_accuracy("A red cup.", ["red cup"] * 2 + ["mug"] * 8)
    0.6
    """
    answer, people = _vqa_words(response), [_vqa_words(reference) for reference in references]
    if len(people) < 2:
        return float(answer in people)
    agree = people.count(answer)
    points = (min(1.0, (agree - (person == answer)) / _FULL_AGREEMENT) for person in people)
    return sum(points) / len(people)


def _vqa_words(text: str) -> str:
    plain = _VQA_STOPS.sub(" ", _ANSWER_PREFIX.sub("", text).casefold().replace("'", ""))
    words = [_VQA_NUMBERS.get(word, word) for word in plain.replace(",", "").split()]
    content_words = [word for word in words if word not in _ARTICLES]
    return " ".join(content_words or words) or text.strip()
