"""Ambiguous options and questions: two options that mean the same, one question with two keys.

Options are compared by value (numbers, fractions, units) or by words (spelling, order of a list);
options with other characters, such as formulas, literally.
Questions are compared without function words.
"""

import re
import unicodedata
from collections.abc import Hashable
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.audit.framework.text_normalization import (
    count_phrase,
    question_words,
    right_texts,
    split_words,
)
from bench_assets.core.reading.numbers import parse_quantity
from bench_assets.core.reading.units import SHARE, find_unit
from bench_assets.core.schema.rows import Question
from bench_assets.core.text.number_words import words_to_digits

_ORDINARY_TEXT = re.compile(  # words, one of three letters; capitals may matter in "AaBb"
    r"(?=.*[^\W\d_]{3})(?:(?:[A-Z]?[^\W\dA-Z_]+|[A-Z]|\d+)(?![^\W_])|[\s,.'’;:!?()\"“”-])+",
    re.DOTALL,
)
_SUPERSCRIPT = re.compile("[²³¹⁰-⁹⁻]+")
_CONJUNCTION = re.compile(r"\s+(and|or)\s+")
_FUNCTION_WORDS = """a an the this that these those please following shown given here what which is
are was were be do does did has have had of to it its you can see there whose one
look carefully closely now"""
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
_IMAGE_PHRASE = re.compile(
    r"\b(?:in|of|from|on|at) (?:the|this|that) (?:given |following |above )?"
    r"(?:image|picture|photo|photograph|figure|scene)s?\b",
    re.IGNORECASE,
)


@audit_check("ambiguous_options", "Do two options mean the same?")
def ambiguous_options(evidence: Evidence) -> AuditFinding:
    """Find options of one question that mean the same; worst if one of them is the key."""
    with_options = [q for q in evidence.questions if len(q.options) > 1 and any(q.options)]
    if not with_options:
        raise SkippedCheckError("no question has options")
    suspects = []
    for question in with_options:
        right = right_texts(question)
        for first, second in combinations(question.options, 2):
            if canonical_option(first) == canonical_option(second):
                reason = f"{first!r:.80} and {second!r:.80} mean the same"
                weight = 2.0 if first in right or second in right else 1.0
                suspects.append(Suspect(question.question_id, reason, weight=weight))
    n = len({suspect.about for suspect in suspects})
    sentence = (
        f"{count_phrase(n, 'question')} ambiguous, of {len(with_options)}: two options mean the"
        " same."
    )
    return AuditFinding(sentence=sentence, n=len(with_options), suspects=suspects)


@lru_cache(maxsize=2**16)
def canonical_option(option: str) -> Hashable:
    """Canonical form of an option; options with equal forms are taken to mean the same.

    >>> canonical_option("0.5 m") == canonical_option("50 cm")
    True
    >>> canonical_option("red and blue") == canonical_option("Blue and red.")
    True
    >>> canonical_option("x + 1") == canonical_option("x - 1")
    False
    """
    marked = _SUPERSCRIPT.sub(r"^\g<0>", option)  # "2³" becomes "2^3", not "23"
    text = words_to_digits(unicodedata.normalize("NFKC", marked)).strip()
    if quantity := _quantity(text):
        return quantity
    if not _ORDINARY_TEXT.fullmatch(text):
        return "as written", text.rstrip(" .。")
    parts = _CONJUNCTION.split(text)
    phrases = frozenset(map(_normalize_phrase, parts[::2]))
    conjunctions = frozenset(parts[1::2])
    if "," in text or len(phrases) < 2:  # the order of a list may matter
        phrase = _normalize_phrase(text)
        return _quantity(phrase) or ("words", phrase.replace(" ", ""))
    return "words", phrases, conjunctions


def paraphrase_key(question: Question) -> Hashable:
    """Canonical form of a question; equal if only function words and word forms differ.

    Images and kind are parts of it, and the options in any order; the context is not.
    """
    text = words_to_digits(_IMAGE_PHRASE.sub(" ", question.text))
    words = question_words(replace(question, text=text))
    stems = [_stem(word) for word in words if word not in _STOP_WORDS]
    options = frozenset(map(canonical_option, question.options))
    return tuple(stems), question.images, question.image_texts, question.kind, options


def _normalize_phrase(text: str) -> str:
    """Join the stemmed words of a text, without articles."""
    words = split_words(text.casefold().replace("’", "'").rstrip(" .!"))
    return " ".join(_stem(word) for word in words if word not in ("a", "an", "the"))


def _stem(word: str) -> str:
    """Approximate the singular of a word in American spelling."""
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    word = re.sub(r"(?<=\w{2})our$", "or", word)
    word = re.sub(r"(?<=\w{2})([tb])re$", r"\1er", word)
    word = re.sub(r"(?<=\w{3})is(e|ed|ing)$", r"iz\1", word)
    return "gray" if word == "grey" else word


def _quantity(text: str) -> tuple[str, float] | None:
    """Dimension and value of a number with or without a unit; None for others, and for "5+", "~5".

    A percentage is a plain number: 50 % is 0.5.
    """
    quantity = None if text.endswith("+") or text.startswith(("~", "≈")) else parse_quantity(text)
    unit = find_unit(quantity.unit) if quantity else None
    if not quantity or (quantity.unit and not unit):
        return None
    dimension, factor = unit or ("number", 1.0)
    if dimension == SHARE:
        dimension, factor = "number", factor / 100
    return dimension, float(f"{quantity.value * factor:.12g}")  # without rounding errors of units
