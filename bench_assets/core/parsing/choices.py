"""Letters for options, and letters out of responses.

A response is read form by form, from the plainest (nothing but a letter) to the loosest (one option
is mentioned, no other). The first form that finds one option decides; where a form that commits
finds two, none is read: a wrong letter is worse than none. So is a letter beside the text of
another option, one after which another is left open, and whatever a response merely mentions that
refuses, finds that nothing fits or an image missing, or breaks off.
"""

from collections.abc import Sequence
from functools import lru_cache
from string import ascii_uppercase
from typing import NamedTuple

from bench_assets.core.parsing.choice_patterns import (
    CLEAR,
    IN_FULL,
    UNDECIDED,
    VAGUE,
    concluded,
    names,
    without_list,
)
from bench_assets.core.parsing.normalization import (
    after_doubts,
    bare,
    breaks_off,
    plain,
    with_letters,
)
from bench_assets.core.parsing.self_correction import leaves_open, takes_back

_SHORT = 64  # characters of a text that is remembered


class Choice(NamedTuple):
    """The option that a response commits to, if it commits to one."""

    letter: str | None
    why: str  # what it was read from, or why nothing was


def lettered(options: Sequence[str]) -> str:
    r"""Write options one per line, as the model sees them.

    >>> lettered(("left", "right"))
    '(A) left\n(B) right'
    """
    return "\n".join(f"({a}) {o}" for a, o in zip(ascii_uppercase, options, strict=False))


def read_choice(response: str, options: Sequence[str]) -> Choice:
    """Read which option a response commits to, by its letter or by its text.

    Args:
        response: What the model said, in English or Chinese, with or without markup.
        options: The texts of the options as shown, at most 8; "" where only a letter is known.

    >>> read_choice("Turning clockwise, so the camera moves **left**.", ("left", "right"))
    Choice(letter='A', why='the only option in the conclusion')
    >>> read_choice("Either (A) or (B).", ("left", "right"))
    Choice(letter=None, why='names (A) and (B)')
    """
    texts = [bare(_known(option)) for option in options]
    text = _known(response)
    why, found = _first_found(text, texts)
    if len(found) == 1:
        letter = min(found)
        if leaves_open(text, letter):
            return Choice(None, f"names ({letter}), and leaves another open")
        if takes_back(
            text, letter, dict(zip(ascii_uppercase, texts, strict=False)).get(letter, "")
        ):
            return Choice(None, f"names ({letter}), and takes it back")
        offered = letter in ascii_uppercase[: len(options)]
        return Choice(letter, why) if offered else Choice(None, f"({letter}) is not offered")
    named = " and ".join(f"({letter})" for letter in sorted(found))
    return Choice(None, f"names {named or 'no option'}")


def _known(text: str) -> str:
    """A text with its letters plain; short ones are remembered, since they come again and again."""
    return _remembered(text) if len(text) <= _SHORT else with_letters(plain(text))


@lru_cache(maxsize=8192)
def _remembered(text: str) -> str:
    return with_letters(plain(text))


def _first_found(text: str, texts: Sequence[str]) -> tuple[str, set[str]]:
    """First form that finds an option, and the option; several if it may be none of them."""
    told = without_list(text, texts)
    certain = after_doubts(told)
    drawn = concluded(certain, texts)
    for why, find in CLEAR:
        found = find(text if find in IN_FULL else told, texts)
        if len(found) == 1:
            return why, found | (drawn if len(drawn) == 1 else set())
        if found and find not in UNDECIDED:
            return why, found
    if len(drawn) == 1:
        return "the only option in the conclusion", drawn
    return ("", set()) if certain != told or breaks_off(told) else _vaguely(told, texts)


def _vaguely(text: str, texts: Sequence[str]) -> tuple[str, set[str]]:
    for why, find in VAGUE:
        if len(found := find(text, texts)) == 1:
            return why, found
    named = names(text, texts)
    return "", named if len(named) > 1 else set()
