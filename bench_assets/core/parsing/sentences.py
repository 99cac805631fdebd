"""Sentences and clauses of a text: whether they deny, doubt, refuse, ask or break off.

The patterns are those of ``words.txt``, which the option parser uses too (``statements.py``).
"""

import re
from functools import lru_cache
from pathlib import Path

from bench_assets.core.parsing.word_lists import alternatives

_WORDS = Path(__file__).with_name("words.txt")
_LONG = 25  # words; shorter responses seldom end with a full stop


def _any(*sections: str, form: str = "{}") -> re.Pattern[str]:
    words = "|".join(alternatives(_WORDS, one) for one in sections)
    return re.compile(form.format(f"(?:{words.replace('@', '$.')})"), re.IGNORECASE | re.DOTALL)


_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])|\n+")
_QUESTION = re.compile(r"(?<![^.!?])[^.!?]*+\?")
_BOUNDARY = _any("contrast", "parts clauses")
_REASON = _any("reason / proper", form="{}.*")
_GROUNDS = _any("reason / proper", form=r"(^|[.!;])[\s*]*+{}[^,.;!?]*+,")
_DENIAL = _any("negation / proper")
_TURNS_AWAY = _any("negation / proper", "negation / of what follows")
_NEGATES, _NO_NEGATION = _any("negation"), _any("no negation")
_REFUSES, _ASKS = _any("refuse"), _any("asks for input")
_HEDGES = _any("if", "or", "hedge / of any statement")
_OPEN = _any("refuse", "leaves open")
_OPEN_END = _any("ends in the middle", form=r"{}\Z")


def sentences(text: str) -> list[str]:
    r"""Split at full stops and line ends; text after a colon belongs to its sentence.

    >>> sentences("It is clear.\nThe answer is:\n(B) left")
    ['It is clear.', 'The answer is: (B) left']
    """
    return [part for part in _SENTENCE_END.split(re.sub(r":\s*\n\s*", ": ", text)) if part] or [""]


def denies(sentence: str) -> bool:
    """Whether a sentence is negated, so that an option in it may not be the answer.

    >>> denies("It is not (A)."), denies("It is (A).")
    (True, False)
    """
    return _NEGATES.search(_NO_NEGATION.sub("", sentence)) is not None


def refuses(text: str) -> bool:
    """Whether a response says that it cannot answer.

    >>> refuses("It is not possible to determine which one fits."), refuses("It is not (A).")
    (True, False)
    """
    return _REFUSES.search(text) is not None


@lru_cache(256)  # one response to many questions is read once
def leaves_open(text: str) -> bool:
    """Whether a text hedges, refuses, states a condition, or offers alternatives.

    >>> leaves_open("Maybe up."), leaves_open("Up or down."), leaves_open("Up.")
    (True, True, False)
    >>> leaves_open("It may rain."), leaves_open("It is in May.")
    (True, False)
    """
    told = without_questions(text)
    return hedges(told) or _OPEN.search(told) is not None


def hedges(text: str) -> bool:
    """Whether a text hedges, states a condition, or offers alternatives.

    >>> hedges("There may be no cup."), hedges("I cannot see a cup.")
    (True, False)
    """
    return _HEDGES.search(text) is not None


@lru_cache(256)
def without_questions(text: str) -> str:
    """Leave out the questions of a text.

    >>> without_questions("Up? It goes down.")
    ' It goes down.'
    """
    return _QUESTION.sub("", text)


def clauses(text: str) -> list[str]:
    """Split a text into clauses, without questions and reasons.

    >>> clauses("Not up but down, because it falls. Right?")
    ['Not up', 'down']
    """
    return list(_clauses(text))


@lru_cache(256)
def _clauses(text: str) -> tuple[str, ...]:
    told = _REASON.sub("", _GROUNDS.sub(r"\1", without_questions(text)))
    return tuple(clause.strip() for clause in _BOUNDARY.split(told) if clause.strip())


def affirmed(clause: str) -> str:
    """Part of a clause before its negation.

    >>> affirmed("on left rather than on right"), affirmed("not up")
    ('on left', '')
    """
    return _TURNS_AWAY.split(clause, maxsplit=1)[0].strip()


def n_denials(clause: str) -> int:
    """Count the negations of a clause; two of them do not always cancel out.

    >>> n_denials("nobody is not there"), n_denials("up rather than down")
    (2, 0)
    """
    return len(_DENIAL.findall(clause))


@lru_cache(256)
def asks_for_input(text: str) -> bool:
    """Whether a text asks for the image, offers help or sees no image, instead of answering.

    >>> asks_for_input("I can help! Please send it."), asks_for_input("I can't see any dog.")
    (True, False)
    """
    return _ASKS.search(text) is not None


def breaks_off(text: str) -> bool:
    """Whether a response was cut off: it ends open, or is long and ends without punctuation.

    >>> breaks_off(30 * "one " + "car"), breaks_off("the second image"), breaks_off("First, A:")
    (True, False, True)
    """
    return (len(text.split()) > _LONG and text[-1].isalnum()) or ends_open(text)


def ends_open(text: str) -> bool:
    """Whether a text ends with a word or sign that something has to follow.

    >>> ends_open("(A) left, (B) right and"), ends_open("The answer is B")
    (True, False)
    """
    return _OPEN_END.search(text) is not None
