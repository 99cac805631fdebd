"""Letters for options, and letters out of replies."""

import re
from collections.abc import Sequence
from string import ascii_uppercase

_STATED = re.compile(r"\banswer(?:\s+is)?\s*:?\s*\**\(?([A-Z])\)?(?![A-Za-z'])", re.IGNORECASE)
_BARE = re.compile(r"[\s*(]*([A-Z])[\s*).]*", re.IGNORECASE)
_BRACKETED = re.compile(r"\(([A-Z])\)")


def lettered(options: Sequence[str]) -> str:
    r"""Write options one per line, as the model sees them.

    >>> lettered(("left", "right"))
    '(A) left\n(B) right'
    """
    return "\n".join(f"({a}) {o}" for a, o in zip(ascii_uppercase, options, strict=False))


def letter_in(reply: str, n_options: int) -> str | None:
    """Find the one option letter a reply commits to, or None if it commits to none or several.

    Args:
        reply: What the model said.
        n_options: How many options it was shown, at most 26.

    >>> letter_in("The answer is (B).", 4)
    'B'
    >>> letter_in("Both look alike, so I cannot tell.", 4) is None
    True
    """
    offered = set(ascii_uppercase[:n_options])
    if bare := _BARE.fullmatch(reply):
        found = {bare[1].upper()}
    else:
        found = {m.upper() for m in _STATED.findall(reply)} or set(_BRACKETED.findall(reply))
    found &= offered
    return found.pop() if len(found) == 1 else None
