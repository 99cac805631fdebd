"""Word comparison: normalised words without endings, with near synonyms.

``opposites.txt`` lists the synonyms, paired with those of their opposites.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from bench_assets.core.parsing.sentences import split_clauses
from bench_assets.core.parsing.word_lists import section_lines

_FILE = Path(__file__).with_name("opposites.txt")
_AFTERNOON = re.compile(r"\b(0?[1-9]|1[01]):(\d\d) ?p\.?m\b")
_HALF_DAY = re.compile(r"(?<=\d) ?([ap])\.?m\b\.?|\b([ap])\.m\b\.?", re.IGNORECASE)
_WORD = re.compile(r"\d+:\d\d|[^\W_]+")
# Not the A of "edge A": an article precedes a word and, within a text, is lower case.
_ARTICLE = re.compile(r"\b(?:(?i:the|an)|a)\b(?=\W+\w)|\A\W*A\b(?=\s+(?!and |or |is )\w)")
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_CONTRACTIONS = (
    ("’", "'"),
    ("can't", "can not"),
    ("won't", "will not"),
    ("n't", " not"),
    ("cannot", "can not"),
)
_COMPOUNDS = (
    (re.compile(r"\b(?:anti|counter)[- ]?clockwise\b"), "counterclockwise"),
    (re.compile(r"\b(north|south)(?:ern)?[- ]?(east|west)(?:ern|ward)?s?\b"), r"\1\2"),
    (re.compile(r"\bgood[- ]bye\b"), "goodbye"),
)
_ENDING = re.compile(r"(?:ing|(?<!e)ed|ion|(?<!s)s|es|e)$")
_DOUBLED = re.compile(r"([b-df-hj-np-tv-z])\1$")
_IRREGULAR = {
    form: word
    for word, forms in {
        "catch": "caught",
        "throw": "threw thrown",
        "win": "won",
        "break": "broke broken",
        "take": "took taken",
        "give": "gave given",
        "go": "went gone goes",
        "rise": "rose risen",
        "fall": "fell fallen",
        "hold": "held",
        "draw": "drew drawn",
        "drive": "drove driven",
        "wear": "wore worn",
    }.items()
    for form in forms.split()
}
_LONGEST_NUMBER = 9  # digits, leading zeros included
_LEAST_STEM = 3  # letters; a shorter rest is no stem, and the word stays whole
_CACHE_SIZE = 4096  # cache size: the words of possible answers recur for every response
_MAX_CACHED_LENGTH = 200  # characters; longer texts are not cached


class Opposites(NamedTuple):
    """Two exclusive sides, with the words of each."""

    one: frozenset[str]
    other: frozenset[str]


def normalize_text(text: str) -> str:
    """Reduce a text to its words: no case, punctuation or articles, numbers up to ten spelt out.

    >>> normalize_text("**It isn't** on the “left”: 2 p.m.")
    'it is not on left two pm'
    """
    return (
        _cached_normalized(text) if len(text) <= _MAX_CACHED_LENGTH else _normalize_uncached(text)
    )


def _normalize_uncached(text: str) -> str:
    plain = _HALF_DAY.sub(_expand_half_day, unicodedata.normalize("NFKC", text))
    plain = _ARTICLE.sub(" ", plain).casefold()
    for written, read in _CONTRACTIONS:
        plain = plain.replace(written, read)
    plain = _AFTERNOON.sub(lambda found: f"{int(found[1]) + 12}:{found[2]}", plain)
    for pattern, word in _COMPOUNDS:
        plain = pattern.sub(word, plain)
    return " ".join(_spell_number(word) for word in _WORD.findall(plain))


_cached_normalized = lru_cache(_CACHE_SIZE)(_normalize_uncached)


def has_phrase(phrase: str, words: str) -> bool:
    """Whether normalised words hold a normalised phrase, as whole words in a row."""
    return f" {phrase} " in f" {words} "


@cache
def stem(word: str) -> str:
    """Stem of a word, so that its forms compare equal.

    >>> stem("opening") == stem("opens"), stem("putting") == stem("put"), stem("closer")
    (True, True, 'closer')
    """
    word = _IRREGULAR.get(word, word)
    rest = _ENDING.sub("", word)
    keeps_ending = len(rest) < _LEAST_STEM or not re.search("[aeiouy]", rest)
    short = word if keeps_ending else rest
    return _DOUBLED.sub(r"\1", short) if len(short) > _LEAST_STEM else short


@lru_cache(_CACHE_SIZE)
def stems(words: str) -> frozenset[str]:
    """Words of a normalised text, each as written ("=word") and as stem.

    Runs of two and three words are included, as "=on_time".
    """
    word_list = words.split()
    rows = (word_list[at : at + n] for n in (1, 2, 3) for at in range(len(word_list) - n + 1))
    return frozenset(map(stem, word_list)) | {f"={'_'.join(row)}" for row in rows}


@lru_cache(_CACHE_SIZE)
def synonyms_of(word: str) -> frozenset[str]:
    """Synonyms of a word of a possible answer, in the form of ``stems``."""
    found, word_stems = {stem(word)}, stems(word)
    for sides in opposites("names"):
        for side in sides:
            if has_any(word_stems, side):
                found |= side
    return frozenset(found)


@lru_cache(_CACHE_SIZE)
def opposite_of(word: str) -> frozenset[str]:
    """Opposites of a word, in the form of ``stems``."""
    found, word_stems = set[str](), stems(word)
    for sides in opposites("names"):
        for side, other in (sides, sides[::-1]):
            if has_any(word_stems, side):
                found |= other
    return frozenset(found)


def has_any(said: frozenset[str], words: Iterable[str]) -> bool:
    """Whether any of ``words`` occurs."""
    return not said.isdisjoint(words)


@cache
def opposites(section: str) -> Sequence[Opposites]:
    """Read a section of ``opposites.txt``: "names", "judgements" or "permission"."""
    sides = (line.split("|") for line in section_lines(_FILE, section))
    return [Opposites(*(frozenset(map(_entry, side.split())) for side in pair)) for pair in sides]


def statements(line: str) -> list[str]:
    """Split a line into clauses of plain words, without reasons and questions.

    >>> statements("It isn't up but down, because it falls. Right?")
    ['it is not up', 'down']
    """
    return [clause for clause in map(normalize_text, split_clauses(line)) if clause]


def remove_figures(clause: str, options: Sequence[str] = ()) -> str:
    """Remove figures of speech: "right now", "upside down", "left the room"."""
    for figure in _figures() if _has_figure(clause) else ():
        found = figure.search(clause)
        if found and not any(found[0] in normalize_text(option) for option in options):
            clause = figure.sub(" ", clause)
    return " ".join(clause.split())


@lru_cache(_CACHE_SIZE)
def _has_figure(clause: str) -> bool:
    return any(figure.search(clause) for figure in _figures())


@cache
def _figures() -> Sequence[re.Pattern[str]]:
    return [re.compile(one) for one in section_lines(_FILE, "figures of speech")]


def _expand_half_day(found: re.Match[str]) -> str:
    return f" {found[1] or found[2]}m"


def _entry(written: str) -> str:
    if written.startswith("="):
        return written
    return f"={written}" if "_" in written else stem(written)


def _spell_number(word: str) -> str:
    if ":" in word:
        return word.removeprefix("0")
    counts = word.isdecimal() and len(word) <= _LONGEST_NUMBER
    return _NUMBERS[int(word)] if counts and int(word) < len(_NUMBERS) else word
