"""Sentences and clauses of a text: whether they deny, doubt, refuse, ask or break off.

The patterns are those of ``words.txt``, which the option parser uses too (``statements.py``).
"""

import re
from functools import lru_cache
from pathlib import Path

from bench_assets.core.parsing.word_lists import alternatives

_WORDS = Path(__file__).with_name("words.txt")
_MIN_TRUNCATED_WORDS = 25  # words; shorter responses seldom end with a full stop


def _sections_pattern(*sections: str, form: str = "{}") -> re.Pattern[str]:
    words = "|".join(alternatives(_WORDS, one) for one in sections)
    return re.compile(form.format(f"(?:{words.replace('@', '$.')})"), re.IGNORECASE | re.DOTALL)


_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])|\n+")
_QUESTION = re.compile(r"(?<![^.!?])[^.!?]*+\?")
_BOUNDARY = _sections_pattern("contrast", "parts clauses")
_REASON = _sections_pattern("reason / proper", form="{}.*")
_GROUNDS = _sections_pattern("reason / proper", form=r"(^|[.!;])[\s*]*+{}[^,.;!?]*+,")
_DENIAL = _sections_pattern("negation / proper")
_CONTRASTING_NEGATION = _sections_pattern("negation / proper", "negation / of what follows")
_NEGATION, _NO_NEGATION = _sections_pattern("negation"), _sections_pattern("no negation")
_REFUSAL, _INPUT_REQUEST = _sections_pattern("refuse"), _sections_pattern("asks for input")
_HEDGE = _sections_pattern("if", "or", "hedge / of any statement")
_OPEN = _sections_pattern("refuse", "leaves open")
_OPEN_END = _sections_pattern("ends in the middle", form=r"{}\Z")


def split_sentences(text: str) -> list[str]:
    r"""Split at full stops and line ends; text after a colon belongs to its sentence.

    >>> split_sentences("It is clear.\nThe answer is:\n(B) left")
    ['It is clear.', 'The answer is: (B) left']
    """
    return [part for part in _SENTENCE_END.split(re.sub(r":\s*\n\s*", ": ", text)) if part] or [""]


def is_negated(sentence: str) -> bool:
    """Whether a sentence is negated, so that an option in it may not be the answer.

    >>> is_negated("It is not (A)."), is_negated("It is (A).")
    (True, False)
    """
    return _NEGATION.search(_NO_NEGATION.sub("", sentence)) is not None


def refuses(text: str) -> bool:
    """Whether a response says that it cannot answer.

    >>> refuses("It is not possible to determine which one fits."), refuses("It is not (A).")
    (True, False)
    """
    return _REFUSAL.search(text) is not None


@lru_cache(256)  # one response to many questions is read once
def is_undecided(text: str) -> bool:
    """Whether a text hedges, refuses, states a condition, or offers alternatives.

    >>> is_undecided("Maybe up."), is_undecided("Up or down."), is_undecided("Up.")
    (True, True, False)
    >>> is_undecided("It may rain."), is_undecided("It is in May.")
    (True, False)
    """
    stated = strip_questions(text)
    return hedges(stated) or _OPEN.search(stated) is not None


def hedges(text: str) -> bool:
    """Whether a text hedges, states a condition, or offers alternatives.

    >>> hedges("There may be no cup."), hedges("I cannot see a cup.")
    (True, False)
    """
    return _HEDGE.search(text) is not None


@lru_cache(256)
def strip_questions(text: str) -> str:
    """Leave out the questions of a text.

    >>> strip_questions("Up? It goes down.")
    ' It goes down.'
    """
    return _QUESTION.sub("", text)


def split_clauses(text: str) -> list[str]:
    """Split a text into clauses, without questions and reasons.

    >>> split_clauses("Not up but down, because it falls. Right?")
    ['Not up', 'down']
    """
    return list(_clauses(text))


@lru_cache(256)
def _clauses(text: str) -> tuple[str, ...]:
    stated = _REASON.sub("", _GROUNDS.sub(r"\1", strip_questions(text)))
    return tuple(clause.strip() for clause in _BOUNDARY.split(stated) if clause.strip())


def affirmed_part(clause: str) -> str:
    """Part of a clause before its negation.

    >>> affirmed_part("on left rather than on right"), affirmed_part("not up")
    ('on left', '')
    """
    return _CONTRASTING_NEGATION.split(clause, maxsplit=1)[0].strip()


def count_negations(clause: str) -> int:
    """Count the negations of a clause; two of them do not always cancel out.

    >>> count_negations("nobody is not there"), count_negations("up rather than down")
    (2, 0)
    """
    return len(_DENIAL.findall(clause))


@lru_cache(256)
def asks_for_input(text: str) -> bool:
    """Whether a text asks for the image, offers help or sees no image, instead of answering.

    >>> asks_for_input("I can help! Please send it."), asks_for_input("I can't see any dog.")
    (True, False)
    """
    return _INPUT_REQUEST.search(text) is not None


def is_truncated(text: str) -> bool:
    """Whether a response was cut off: it ends open, or is long and ends without punctuation.

    >>> (
    ...     is_truncated(30 * "one " + "car"),
    ...     is_truncated("the second image"),
    ...     is_truncated("First, A:"),
    ... )
    (True, False, True)
    """
    return (len(text.split()) > _MIN_TRUNCATED_WORDS and text[-1].isalnum()) or ends_open(text)


def ends_open(text: str) -> bool:
    """Whether a text ends with a word or sign that something has to follow.

    >>> ends_open("(A) left, (B) right and"), ends_open("The answer is B")
    (True, False)
    """
    return _OPEN_END.search(text) is not None
