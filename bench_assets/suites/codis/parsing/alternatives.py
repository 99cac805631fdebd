"""Which of two possible answers a line names: "up" or "down", "the man" or "the woman".

A line names an answer if it has the words that distinguish it from the other answer, or synonyms
of them (``opposites.txt``), and none of the words that distinguish the other one.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from bench_assets.core.parsing.sentences import affirmed_part, count_negations
from bench_assets.core.tables.large_tables import BLOCK_ROWS
from bench_assets.suites.codis.parsing.words import (
    has_any,
    has_phrase,
    normalize_text,
    opposite_of,
    remove_figures,
    statements,
    stem,
    stems,
    synonyms_of,
)

_OFFERED = re.compile(r"((?:[\w'-]+, )+(?:[\w'-]+,? )?)or ([\w'-]+)")
_LEAST_SHARE = 0.5
# Two answers may differ in these words, but a response may use them whichever answer it means.
_FUNCTION_WORDS = frozenset(
    word
    for words in (
        "is are am be been being was were do does did has have had will would can going",
        "i you he she it we they me him her us them my your his its our their s",
        "of to at by from in on into onto for with and or not no only that this there one",
        "just about already probably likely say saying says said",
    )
    for word in words.split()
)
_CONTENT_PREPOSITIONS = frozenset({"in", "on", "into", "onto", "from", "to", "not", "no"})
_STANDALONE_WORDS = frozenset({"in", "on"})


def named_alternative(question: str, line: str, options: Sequence[str]) -> str | None:
    """Find the one possible answer that a line commits to, or None."""
    found, words = _find_alternative(line, tuple(options))
    return None if words and _names_third_option(question, words, options) else found


@lru_cache(BLOCK_ROWS)  # a response is compared with the same two answers in each context
def _find_alternative(line: str, options: Sequence[str]) -> tuple[str | None, str]:
    """The answer that a line commits to, and the line's words; "" if it is exactly an answer."""
    clauses = [remove_figures(clause, options) for clause in statements(line)]
    normalized_options = [" ".join(sorted(statements(option))) for option in options]
    if " ".join(sorted(clauses)) in normalized_options and len(set(normalized_options)) == len(
        normalized_options
    ):
        return options[normalized_options.index(" ".join(sorted(clauses)))], ""
    if not any(count_negations(normalize_text(option)) for option in options):
        clauses = [affirmed_part(clause) for clause in clauses]
    words = " ".join(clause for clause in clauses if clause)
    shares = {o: _share_named(words, o, [p for p in options if p != o]) for o in options}
    named = [option for option, share in shares.items() if share > 0]
    is_clear = len(named) == 1 and shares[named[0]] >= _LEAST_SHARE
    return named[0] if is_clear else None, words


def _names_third_option(question: str, words: str, options: Sequence[str]) -> bool:
    """Whether a line names a third thing that the question offers: "north" for east or west."""
    offered = _offered_words(question)
    if not offered:
        return False
    known = {
        each for o in options for word in normalize_text(o).split() for each in synonyms_of(word)
    }
    word_stems = stems(words)
    return any(
        has_any(word_stems, synonyms_of(word)) for word in offered if stem(word) not in known
    )


@lru_cache(BLOCK_ROWS)
def _offered_words(question: str) -> frozenset[str]:
    """Words of the alternatives that a question offers, if they have an opposite."""
    found = (f"{found[1]} {found[2]}" for found in _OFFERED.finditer(question.casefold()))
    return frozenset(w for phrase in found for w in re.findall(r"\w+", phrase) if opposite_of(w))


def _share_named(words: str, option: str, others: Sequence[str]) -> float:
    """Share of an answer's distinguishing words that a line has, in [0, 1]."""
    phrase, phrases = normalize_text(option), [normalize_text(other) for other in others]
    if _is_unique_part(words, phrase, phrases):
        return 1.0
    elsewhere = {stem(word) for other in phrases for word in other.split()}
    distinct = [word for word in phrase.split() if stem(word) not in elsewhere]
    marks = [word for word in distinct if word not in _FUNCTION_WORDS]
    word_stems = stems(words)
    if marks:
        return sum(
            has_any(word_stems, _distinct_synonyms(word, elsewhere)) for word in marks
        ) / len(marks)
    if distinct:
        matches = _has_all_words(word_stems, phrase) and _has_no_opposite(word_stems, distinct)
        return float(matches or has_phrase(phrase, words))
    return _share_in_order(words, phrase, phrases)


def _distinct_synonyms(word: str, elsewhere: set[str]) -> frozenset[str]:
    """Synonyms of one answer's words, without its opposite and the other answers' words."""
    return synonyms_of(word) - opposite_of(word) - elsewhere


def _is_unique_part(words: str, phrase: str, others: Sequence[str]) -> bool:
    """Whether a line is a part of one answer only, as "right to left" of "from right to left"."""
    if not words or not has_phrase(words, phrase) or any(has_phrase(words, o) for o in others):
        return False
    word_set = set(words.split())
    return not word_set <= _FUNCTION_WORDS or bool(
        word_set & _STANDALONE_WORDS and len(word_set) == 1
    )


def _has_all_words(said: frozenset[str], phrase: str) -> bool:
    words = [word for word in phrase.split() if word not in _FUNCTION_WORDS - _CONTENT_PREPOSITIONS]
    return bool(words) and all(has_any(said, synonyms_of(word)) for word in words)


def _has_no_opposite(said: frozenset[str], apart: Sequence[str]) -> bool:
    return not any(has_any(said, opposite_of(word)) for word in apart)


def _share_in_order(words: str, phrase: str, others: Sequence[str]) -> float:
    """As ``_share_named``, for answers that contain each other or differ in word order only."""
    longer = [other for other in others if set(phrase.split()) < set(other.split())]
    if longer and len(phrase.split()) > 1:
        if any(has_phrase(phrase, words.replace(other, " ")) for other in longer):
            return 1.0
        marks = {stem(w) for other in longer for w in other.split()} - set(
            map(stem, phrase.split())
        )
        return float(_has_all_words(stems(words), phrase) and not has_any(stems(words), marks))
    for other in others:
        # "not appropriate" does not say "appropriate".
        words = words.replace(other, " ") if has_phrase(phrase, other) else words
    return float(has_phrase(phrase, words))
