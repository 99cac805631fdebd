"""Ambiguous options and questions: two options that mean the same, one question with two keys.

Options are compared by value (numbers, fractions, units, times) or by words (spelling, order of a
list, ``equal_phrases.txt``); options with other characters, such as formulas, literally.
Questions are compared without function words.
"""

import re
import unicodedata
from collections.abc import Hashable
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path

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

_NOON = {"noon": 720, "midday": 720, "12 noon": 720, "midnight": 0, "12 midnight": 0}
_ORDINARY_TEXT = (
    re.compile(  # words of three letters and more; other capitals may matter, as in "AaBb"
        r"(?=.*[^\W\d_]{3})"
        r"(?:(?:[A-Z]?[^\W\dA-Z_]+|[A-Z]|\d+)(?![^\W_])|[\s,.'’;:!?()\"“”-])+",
        re.DOTALL,
    )
)
_CLOCK = re.compile(r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))? ?(?P<half>[ap]\.?m|o'clock)?")
_PAST = re.compile(
    r"(?P<part>half|quarter|\d+)(?: minutes?)? (?P<way>past|to) (?P<hour>\d{1,2})"
    r" ?(?P<half>[ap]\.?m|o'clock)?"
)
_DAY = 24 * 60  # minutes
_PARTS = {"half": 30, "quarter": 15}  # minutes
_FRAME = re.compile(r"^(?:(?:it|this|that)(?: is|'s)|the (?:right )?answer is) ")
_BOTH = re.compile(r"^both (?=.+ and )", re.IGNORECASE)
_CONJUNCTION = re.compile(r"\s+(?:and|or)\s+")
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
    suspects = [
        Suspect(option.question_id, f"{a!r:.80} and {b!r:.80} mean the same", 1.0 + is_key)
        for option in with_options
        for a, b in combinations(option.options, 2)
        if canonical_option(a) == canonical_option(b)
        for is_key in [bool({a, b} & set(right_texts(option)))]
    ]
    n = len({suspect.about for suspect in suspects})
    sentence = (
        f"{count_phrase(n, 'question')} ambiguous, of {len(with_options)}: two options mean the"
        " same."
    )
    return AuditFinding(sentence, len(with_options), suspects)


@lru_cache(maxsize=2**16)
def canonical_option(option: str) -> Hashable:
    """Canonical form of an option; equal for options with the same meaning.

    >>> (
    ...     canonical_option("Three.") == canonical_option("3"),
    ...     canonical_option("0.5 m") == canonical_option("50 cm"),
    ... )
    (True, True)
    >>> canonical_option("red and blue") == canonical_option("Blue and red.")
    True
    >>> canonical_option("the grey cat") == canonical_option("Gray cats")
    True
    >>> (
    ...     canonical_option("Aa") == canonical_option("aa"),
    ...     canonical_option("x + 1") == canonical_option("x - 1"),
    ... )
    (False, False)
    """
    text = words_to_digits(unicodedata.normalize("NFKC", option)).strip()
    if (time := _time(text)) or (quantity := _quantity(text)):
        return time or quantity
    if not _ORDINARY_TEXT.fullmatch(text) and _stem_phrase(text.casefold()) not in _EQUAL:
        return "as written", text.rstrip(" .。")
    parts = [_normalize_phrase(part) for part in _CONJUNCTION.split(_BOTH.sub("", text))]
    if "," in text or len(set(parts)) < 2:  # the order of a list may matter
        return _quantity(_normalize_phrase(text)) or (
            "words",
            _normalize_phrase(text).replace(" ", ""),
        )
    return "words", frozenset(parts)


def paraphrase_key(question: Question) -> Hashable:
    """Canonical form of a question; equal for paraphrases."""
    text = words_to_digits(_IMAGE_PHRASE.sub(" ", question.text))
    words = question_words(replace(question, text=text))
    stems = [_stem(word) for word in words if word not in _STOP_WORDS]
    options = frozenset(map(canonical_option, question.options))
    return tuple(stems), question.images, question.image_texts, question.kind, options


def _normalize_phrase(text: str) -> str:
    """Stemmed words of a text; equal phrases become the first of their line in the file."""
    normalized = _FRAME.sub("", text.casefold().replace("’", "'").rstrip(" .!"))
    normalized = normalized.replace("can't", "cannot").replace("n't", " not")
    stems = _stem_phrase(normalized)
    return _EQUAL.get(stems) or " ".join(_EQUAL.get(word, word) for word in stems.split())


def _time(text: str) -> tuple[str, int] | None:
    """Minutes of a clock time; "7 pm" equals "19:00", and "7:00" equals "7 am"."""
    normalized = text.casefold().replace("’", "'").rstrip(" .")
    if (minutes := _NOON.get(normalized)) is not None:
        return "time of day", minutes
    if match := _PAST.fullmatch(normalized.removeprefix("a ")):
        minutes = _PARTS.get(match["part"]) or int(match["part"])
        at = 60 * _hour(match) + (minutes if match["way"] == "past" else -minutes)
        if match["hour"] == "1" and match["half"] in (None, "o'clock") and at < 60:
            at += 720  # the hour before one is twelve
        return "time of day", at % _DAY
    match = _CLOCK.fullmatch(normalized)
    if not match or not (match["minute"] or match["half"]):
        return None
    return "time of day", 60 * _hour(match) + int(match["minute"] or 0)


def _hour(found: re.Match[str]) -> int:
    """Hour of the day; as written without am or pm."""
    hour = int(found["hour"])
    return {"a": hour % 12, "p": hour % 12 + 12}.get((found["half"] or "")[:1], hour)


def _stem(word: str) -> str:
    """A word in American spelling, in the singular."""
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    word = re.sub(r"(?<=\w{2})our$", "or", word)
    word = re.sub(r"(?<=\w{2})(tre|bre)$", lambda found: f"{found[0][0]}er", word)
    word = re.sub(r"(?<=\w{3})is(e|ed|ing)$", r"iz\1", word)
    return "gray" if word == "grey" else word


def _quantity(text: str) -> tuple[str, float] | None:
    """Dimension and value of a number with or without a unit; None if it is not one."""
    quantity = parse_quantity(text)
    unit = find_unit(quantity.unit) if quantity else None
    if not quantity or (quantity.unit and not unit):
        return None
    kind, size = unit or ("number", 1.0)
    value = quantity.value * size / (100 if kind == SHARE else 1)
    return "number" if kind == SHARE else kind, float(f"{value:.12g}")


def _equal_phrases() -> dict[str, str]:
    lines = Path(__file__).with_name("equal_phrases.txt").read_text(encoding="utf-8").splitlines()
    phrases: dict[str, str] = {}
    for line in lines:
        first, *equivalents = map(_stem_phrase, words_to_digits(line).split("="))
        phrases |= (
            dict.fromkeys(equivalents, phrases.get(first, first))
            if not line.startswith("#")
            else {}
        )
    return phrases


def _stem_phrase(phrase: str) -> str:
    return " ".join(_stem(word) for word in split_words(phrase) if word not in ("a", "an", "the"))


_EQUAL = _equal_phrases()
