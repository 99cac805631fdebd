"""Yes or no, in the words of all languages of the rules."""

import re

from bench_assets.core.reading.readings import Reading, read
from bench_assets.core.reading.rules import Extent, part

_CLAUSE_END = re.compile(r"[.,;!\n]")
_EDGES = " .!。'\"()"


def read_yes_no(response: str) -> Reading[str] | None:
    """Read "yes" or "no" in a response, without the model's reasoning.

    >>> read_yes_no("So the answer is no.").value, read_yes_no("I cannot tell.")
    ('no', None)
    """
    return read("yes_no", response, parse_yes_no)


def parse_yes_no(text: str, extent: Extent = "answer") -> str | None:
    """Parse a text that is yes or no, opens with it, or names only one of them."""
    if extent == "mention":
        words = [name for name in ("yes", "no") if part(f"{name}_word").search(text)]
        is_denied = words == ["yes"] and part("denial").search(text)
        return words[0] if len(words) == 1 and not is_denied else None
    text = text.strip(_EDGES)
    for name in ("yes", "no"):
        pattern = part(f"{name}_word")
        match = pattern.fullmatch(text) if extent == "answer" else pattern.match(text)
        if match:
            return name
    filler = part("filler").match(text) if extent == "opening" else None
    return parse_yes_no(_CLAUSE_END.split(text[filler.end() :])[0]) if filler else None
