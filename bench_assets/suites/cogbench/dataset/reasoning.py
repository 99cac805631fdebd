"""Kinds and chains of reasoning (section 2.2), and the content words of a text."""

import re
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of reasoning."""

    name: str  # as Tables 1, 3 and 5 print it; categories of questions have this name
    field: str  # as the annotation files and Figure 6 have it
    code: str  # as the question file has it; used in ids


EVENT_RELATIONSHIP = Kind(
    name="Event Relationship", field="Event Relationship Reasoning", code="event_relationship"
)
KINDS = (
    Kind(name="Time", field="Special Time Reasoning", code="time"),
    Kind(name="Location", field="Location Reasoning", code="location"),
    Kind(name="Character", field="Character Reasoning", code="character"),
    Kind(
        name="Character Relationship",
        field="Character Relationship Reasoning",
        code="character_relationship",
    ),
    Kind(name="Event", field="Event Reasoning", code="event"),
    EVENT_RELATIONSHIP,
    Kind(name="Next Moment Event", field="Next Moment Event Reasoning", code="next_event"),
    Kind(name="Mental State", field="Mental State Reasoning", code="mental"),
)
"""In the order of Table 1."""


def find_kind(spelling: str) -> Kind | None:
    """Find a kind by any of its names, in any case, with blanks or underscores; None without one.

    >>> find_kind("[Mental State Reasoning]").code, find_kind("next_event").code
    ('mental', 'next_event')
    """
    return _BY_SPELLING.get(_normalize_spelling(spelling))


_FILLERS = ("special", "reasoning", "moment")  # words that the names of a kind may lack


def _normalize_spelling(spelling: str) -> str:
    words = spelling.strip(" []:").casefold().replace("_", " ").split()
    return " ".join(word for word in words if word not in _FILLERS)


_BY_SPELLING = {
    _normalize_spelling(name): kind for kind in KINDS for name in (kind.name, kind.field, kind.code)
}


ARROW = "->"
_PLUS = re.compile(r"(?:^|(?<=[\s.!?]))\+(?=[\sA-Z]|$)")  # the one between clues, not in "C++"
_ARROWS = re.compile(r"-+>|→|⇒|=>")


class Chain(NamedTuple):
    """A parsed chain."""

    premises: tuple[str, ...]
    conclusion: str

    def __str__(self) -> str:
        """Write it as the authors do."""
        return f"{' + '.join(self.premises)} {ARROW} {self.conclusion}"


def is_none(text: str) -> bool:
    """Whether a section is empty or "None".

    >>> is_none("None."), is_none(" "), is_none("None of them smiles.")
    (True, True, False)
    """
    return text.strip(" .[]").casefold() in ("", "none")


def conclusion(chain: str) -> str:
    """The text after the last arrow, as the authors' evaluation takes it.

    >>> conclusion("It snows. + A tree is lit. -> It is Christmas.")
    'It is Christmas.'
    """
    return chain.rsplit(ARROW, maxsplit=1)[-1].strip()


def read_chain(text: str) -> Chain | str:
    """Parse a chain, or return its format error (rules of Figure 6); other arrows are accepted.

    >>> read_chain("It snows. + A tree is lit. -> It is Christmas.").premises
    ('It snows.', 'A tree is lit.')
    >>> read_chain("It is Christmas.")
    'a conclusion only: there is no arrow'
    """
    parts = [" ".join(part.split()) for part in _ARROWS.split(text)]
    if len(parts) == 1:
        return "a conclusion only: there is no arrow"
    if len(parts) > 2:
        return f"{len(parts) - 1} arrows: each chain has one conclusion, split it"
    clue_text, conclusion_text = parts
    clues = tuple(clue.strip() for clue in _PLUS.split(clue_text) if clue.strip())
    if not clues:
        return "no premise before the arrow"
    if not conclusion_text:
        return "no conclusion after the arrow"
    return Chain(clues, conclusion_text)


_FUNCTION_WORDS = (
    "a an and are as at be been being by for from has have he her him his i in into is it its of "
    "on or our she so that the their them there they this to was were will with who"
)
_STOPWORDS = frozenset(_FUNCTION_WORDS.split())
_ENDING = re.compile(r"(?<=\w{3})(ing|ed|es|s)$")


def content_words(text: str) -> frozenset[str]:
    """Content words without common endings.

    >>> sorted(content_words("The boys were stealing cookies."))
    ['boy', 'cooki', 'steal']
    """
    words = re.findall(r"\w+", text.casefold())
    return frozenset(_ENDING.sub("", word) for word in words if word not in _STOPWORDS)


def word_share(text: str, vocabulary: frozenset[str]) -> float:
    """Share of a text's content words that are in ``vocabulary``; 0 for a text without any."""
    words = content_words(text)
    return len(words & vocabulary) / len(words) if words else 0.0
