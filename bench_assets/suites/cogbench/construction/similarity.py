"""Whether two annotators' entities or chains say the same (section 2.2, where people decide).

A cosine of sentences hardly sees who does what to whom: "The dog chases the cat" and its reverse
have 0.98. So the conclusions of two chains are compared apart from their premises, and what is
close is one only if nothing speaks against it: a denial, an opposite, another number, the roles
exchanged, or one word replaced by another of a different meaning.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bench_assets.core.schema.chat import TextEncoder, Vectors
from bench_assets.suites.cogbench.construction.annotation_parsing import ENTITIES, AnnotatedItem
from bench_assets.suites.cogbench.construction.selection import plain
from bench_assets.suites.cogbench.dataset.content_words import content_words
from bench_assets.suites.cogbench.dataset.reasoning_chains import read_chain
from bench_assets.suites.cogbench.dataset.reasoning_kinds import EVENT_RELATIONSHIP

SAME_WORD = 0.75  # least cosine of a word and the one that replaces it; boy and girl have 0.62
_RELATED_CLUES = 0.3  # least cosine of the premises of chains with one conclusion
_DENIALS = re.compile(r"\b(?:not|no|never|nobody|nothing|without|cannot|unable)\b|n['’]t\b")
_NUMBERS = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|first|second|third)\b"
)
_SYMMETRIC = re.compile(r"\b(?:and|by|each other|together)\b")
_OPPOSITES = tuple(
    tuple(frozenset(side.split()) for side in pair.split("|"))
    for pair in (
        "give gives giving hand hands offer offers|take takes taking steal steals grab grabs",
        "open opens opening|close closes closing shut shuts",
        "enter enters arrive arrives come comes coming|leave leaves leaving go goes depart departs",
        "up rise rises climb climbs|down fall falls descend descends sink sinks",
        "push pushes|pull pulls",
        "buy buys|sell sells",
        "win wins won|lose loses lost",
        "start starts begin begins|end ends stop stops finish finishes",
        "before|after",
        "in inside|out outside",
        "happy glad joyful pleased|sad unhappy angry upset",
        "calm relaxed|angry nervous worried afraid frightened",
        "friend friends|stranger strangers enemy enemies",
        "asleep sleeping sleeps|awake waking wakes",
        "alive|dead",
        "old|young",
        "man men boy boys father son brother husband|"
        "woman women girl girls mother daughter sister wife",
        "summer|winter",
        "morning|evening night",
        "hot warm|cold cool",
        "safe|dangerous",
    )
)


class Likeness(NamedTuple):
    """How close two items are, and what speaks against their being one."""

    cosine: float  # of entities, or of the conclusions of chains
    objection: str  # "" if nothing does

    @property
    def as_one(self) -> float:
        """The cosine if the two may be one item; else -1."""
        return -1.0 if self.objection else self.cosine


class SimilarityResult:
    """Compares items; every text is embedded once."""

    def __init__(self, items: Sequence[AnnotatedItem], encoder: TextEncoder) -> None:
        """Embed whatever the items are made of."""
        texts = [part for item in items for part in _parts(item)]
        texts += [word for item in items for word in _words(_parts(item)[-1])]
        distinct = list(dict.fromkeys(texts))
        self._vectors: Mapping[str, Vectors] = dict(
            zip(distinct, encoder.encode_texts(distinct), strict=True)
        )

    def likeness(self, one: AnnotatedItem, other: AnnotatedItem) -> Likeness:
        """Compare two items of one section of an image."""
        if plain(one.text) == plain(other.text):
            return Likeness(1.0, "")
        (*clues, first), (*other_clues, second) = _parts(one), _parts(other)
        cosine = self._cosine(first, second)
        if objection := self._objection(first, second):
            return Likeness(cosine, objection)
        if not clues or not other_clues:
            return Likeness(cosine, "")
        return Likeness(cosine, self._apart(one.field, clues[0], other_clues[0]))

    def _objection(self, one: str, other: str) -> str:
        if objection := contradiction(one, other):
            return objection
        words, others = _words(one), _words(other)
        gone, new = (sorted(set(a) - set(b)) for a, b in ((words, others), (others, words)))
        one_replaced = len(gone) == len(new) == 1 and len(words) > 1
        if one_replaced and self._cosine(gone[0], new[0]) < SAME_WORD:
            return f"{gone[0]!r} is {new[0]!r} there"
        return ""

    def _apart(self, field: str, clues: str, others: str) -> str:
        """Of event relationships the causes have to be the same, of other chains only related."""
        if field != EVENT_RELATIONSHIP.field:
            related = self._cosine(clues, others) >= _RELATED_CLUES
            return "" if related else "other premises"
        return contradiction(clues, others) or (
            "" if self._cosine(clues, others) >= SAME_WORD else "other causes"
        )

    def _cosine(self, one: str, other: str) -> float:
        return float(np.dot(self._vectors[one], self._vectors[other]))


def contradiction(one: str, other: str) -> str:
    """Say what two texts contradict each other in; "" if nothing shows.

    >>> contradiction("The dog chases the cat.", "The cat chases the dog.")
    'the roles are exchanged'
    >>> contradiction("She gives her a flower.", "She takes it away.")
    'one says the opposite'
    """
    texts = one.casefold(), other.casefold()
    denials, numbers = (
        [pattern.findall(text) for text in texts] for pattern in (_DENIALS, _NUMBERS)
    )
    if len(denials[0]) % 2 != len(denials[1]) % 2:
        return "one denies"
    if all(numbers) and sorted(numbers[0]) != sorted(numbers[1]):
        return "other numbers"
    said, heard = (set(re.findall(r"\w+", text)) for text in texts)
    if any(_opposed(said - heard, heard - said, *pair) for pair in _OPPOSITES):
        return "one says the opposite"
    return "the roles are exchanged" if _exchanged(*texts) else ""


def _opposed(said: set[str], heard: set[str], side: frozenset[str], other: frozenset[str]) -> bool:
    return bool((said & side and heard & other) or (said & other and heard & side))


def _exchanged(one: str, other: str) -> bool:
    """Whether the first to be named in each text is named later in the other one."""
    if any(_SYMMETRIC.search(text) for text in (one, other)):
        return False
    words, others = _words(one), _words(other)
    if not words or not others or words[0] == others[0]:
        return False
    return words[0] in others and others[0] in words


@lru_cache(maxsize=4096)  # every text is compared with many others
def _words(text: str) -> tuple[str, ...]:
    """The words that say something, without endings, in the order of the text."""
    stems = (content_words(word) for word in re.findall(r"\w+", text))
    return tuple(dict.fromkeys(stem for found in stems for stem in found))


def _parts(item: AnnotatedItem) -> list[str]:
    """An entity as it is; of a chain its premises in one text, and its conclusion."""
    chain = item.text if item.field == ENTITIES else read_chain(item.text)
    return [item.text] if isinstance(chain, str) else [" ".join(chain.premises), chain.conclusion]
