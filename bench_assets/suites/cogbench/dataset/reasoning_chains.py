"""Chains of reasoning, "A1 + A2 -> B": from clues in an image to what follows (section 2.2)."""

import re
from typing import NamedTuple

ARROW = "->"
_PLUS = re.compile(r"(?:^|(?<=[\s.!?]))\+(?=[\sA-Z]|$)")  # the one between clues, not in "C++"
_ARROWS = re.compile(r"-+>|→|⇒|=>")
_NOTHING = frozenset({"", "none"})


class Chain(NamedTuple):
    """A chain, taken apart."""

    premises: tuple[str, ...]
    conclusion: str

    def __str__(self) -> str:
        """Write it as the authors do."""
        return f"{' + '.join(self.premises)} {ARROW} {self.conclusion}"


def is_none(text: str) -> bool:
    """Whether an annotator says that an image has nothing of a kind: "None", or nothing at all.

    >>> is_none("None."), is_none(" "), is_none("None of them smiles.")
    (True, True, False)
    """
    return text.strip(" .[]").casefold() in _NOTHING


def conclusion(chain: str) -> str:
    """What follows: all that stands after the last arrow, as the authors' evaluation reads it.

    >>> conclusion("It snows. + A tree is lit. -> It is Christmas.")
    'It is Christmas.'
    """
    return chain.rsplit(ARROW, maxsplit=1)[-1].strip()


def read_chain(text: str) -> Chain | str:
    """Take a chain apart, or say what is wrong with it (rules of Figure 6).

    Arrows of other forms are read as well; an annotator types what is on the keyboard.

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
    premises = tuple(clue for part in _PLUS.split(parts[0]) if (clue := part.strip()))
    if not premises:
        return "no premise before the arrow"
    if not parts[1]:
        return "no conclusion after the arrow"
    return Chain(premises, parts[1])
