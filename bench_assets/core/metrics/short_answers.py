"""Short-answer metrics: exact match, ANLS, relaxed numeric and VQA accuracy, word errors."""

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
    """Normalise a text; one of punctuation alone keeps it, and does not equal an empty one."""
    plain = _strip_markup(text)
    return plain.strip(_EDGES) or plain or text.strip()


def exact_match(response: str, references: Sequence[str]) -> float:
    """1 if the response is one of the references, or the same number; else 0.

    >>> exact_match("4.0", ["4"]), exact_match("four", ["4"]), exact_match("4 cups", ["4"])
    (1.0, 1.0, 0.0)
    """
    text = _comparison_form(response)
    return float(any(_is_same(text, _comparison_form(reference)) for reference in references))


def anls(response: str, references: Sequence[str]) -> float:
    """Normalized Levenshtein similarity of a response to the nearest reference, in [0, 1].

    1 - edit distance / length of the longer text, case-insensitive; 0 if that is less than a half
    (Biten et al., Scene Text Visual Question Answering, 2019). A half counts as in the evaluation
    script of the challenges; by equation 1 it is 0.

    >>> anls("hello", ["hallo"]), anls("ab", ["ac"]), anls("abc", ["axy"])
    (0.8, 0.5, 0.0)
    """
    text = _comparison_form(response)
    similarities = (_similarity(text, _comparison_form(reference)) for reference in references)
    return max(similarities, default=0.0)


def relaxed_match(response: str, references: Sequence[str]) -> float:
    """1 if the response is a reference or a number within 5 % of it, else 0 (ChartQA, section 5.1).

    Percent and dollar signs are ignored. ``read_number`` reads a response in sentences.

    >>> relaxed_match("It is about 96 %.", ["100"]), relaxed_match("94", ["100"])
    (1.0, 0.0)
    """
    return float(
        exact_match(response, references)
        or any(_is_within_tolerance(response, reference) for reference in references)
    )


def _is_same(text: str, reference: str) -> bool:
    """Whether two texts are equal, or the same number."""
    if text == reference:
        return True
    number = parse_number(text)
    return number is not None and number == parse_number(reference)


def _is_within_tolerance(response: str, reference: str) -> bool:
    truth = parse_number(normalize_answer(reference))
    if truth is None:
        return False
    value = parse_number(normalize_answer(response))
    if value is None:
        reading = read_number(response)
        value = reading.value.value if reading else None
    # The bound is inclusive, despite rounding errors.
    return value is not None and abs(value - truth) <= RELAXED_TOLERANCE * abs(truth) * (1 + 1e-9)


def _similarity(text: str, reference: str) -> float:
    """Similarity of a single reference, see ``anls``."""
    longest = max(len(text), len(reference))
    if not longest or abs(len(text) - len(reference)) > ANLS_THRESHOLD * longest:
        return float(text == reference)  # the distance is at least the difference in length
    similarity = 1 - edit_distance(text, reference) / longest
    return similarity if similarity >= ANLS_THRESHOLD else 0.0


def edit_distance(source: Sequence[str], target: Sequence[str]) -> int:
    """Edit distance: letters or words to insert, delete or substitute (Levenshtein, 1966).

    Bit-parallel (Hyyrö, 2003): a table of all pairs of letters takes seconds for a page of text.
    """
    shorter, longer = sorted((source, target), key=len)
    positions: dict[str, int] = {}  # of each letter in the shorter text, as bits
    for position, letter in enumerate(shorter):
        positions[letter] = positions.get(letter, 0) | 1 << position
    everywhere, last = (1 << len(shorter)) - 1, 1 << len(shorter) >> 1
    up, down = everywhere, 0  # where a column of the table rises or falls
    distance = len(shorter)
    for letter in longer:
        matches = positions.get(letter, 0)
        diagonal = ((matches & up) + up ^ up) | matches | down
        rises, falls = down | everywhere & ~(diagonal | up), diagonal & up
        distance += bool(rises & last) - bool(falls & last)
        rises = rises << 1 | 1
        up, down = everywhere & (falls << 1 | ~(diagonal | rises)), everywhere & rises & diagonal
    return distance if shorter else len(longer)


def word_errors(response: str, references: Sequence[str]) -> tuple[int, int]:
    """Word errors against the nearest reference, and its length: WER is the ratio of their sums.

    Words to insert, delete or substitute; case and punctuation do not count. Without references
    every word is an error, and the length is 0.

    >>> word_errors("The cat sat", ["the cat sat down", "a dog"])
    (1, 4)
    """
    words = _words(response)
    if not references:
        return len(words), 0
    n_words = [len(_words(reference)) for reference in references]
    n_errors = [edit_distance(words, _words(reference)) for reference in references]
    rates = [errors / max(1, total) for errors, total in zip(n_errors, n_words, strict=True)]
    nearest = rates.index(min(rates))
    return n_errors[nearest], n_words[nearest]


def word_accuracy(response: str, references: Sequence[str]) -> float:
    """1 - word error rate of one response, at least 0."""
    n_errors, n_words = word_errors(response, references)
    return max(0.0, 1 - n_errors / max(1, n_words))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", unicodedata.normalize("NFKC", text).casefold())


_VQA_STOPS = re.compile(r"[;/\[\]\"{}()=+\\_><@`?!-]|[,.](?!(?<=\d[,.])\d)")
_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
VQA_DIGITS = {word: str(n) for n, word in enumerate(_NUMBERS)} | {"zero": "0"}
VQA_ARTICLES = frozenset({"a", "an", "the"})
VQA_FULL_AGREEMENT = 3  # people of ten who have to agree for a full point


def vqa_accuracy(response: str, references: Sequence[str]) -> float:
    """VQA accuracy: a third of a point for each person who agrees, at most 1, averaged over people.

    Each person in turn is left out (Antol et al., VQA, 2015; the evaluation script). Case,
    punctuation, articles and apostrophes are ignored, unless nothing else is left, and numbers
    become digits. A single reference has to match.

    >>> vqa_accuracy("A red cup.", ["red cup"] * 2 + ["mug"] * 8)
    0.6
    """
    answer = _vqa_words(response)
    people_answers = [_vqa_words(reference) for reference in references]
    if len(people_answers) < 2:
        return float(answer in people_answers)
    n_agreeing = people_answers.count(answer)
    agreements = (n_agreeing - (person == answer) for person in people_answers)
    return sum(min(1.0, n / VQA_FULL_AGREEMENT) for n in agreements) / len(people_answers)


def _vqa_words(text: str) -> str:
    """Words by which VQA accuracy compares texts; the text as it is if it has none."""
    plain = _VQA_STOPS.sub(" ", _ANSWER_PREFIX.sub("", text).casefold().replace("'", ""))
    words = [VQA_DIGITS.get(word, word) for word in plain.replace(",", "").split()]
    content_words = [word for word in words if word not in VQA_ARTICLES]
    return " ".join(content_words or words) or text.strip()
