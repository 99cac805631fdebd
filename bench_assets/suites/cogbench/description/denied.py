"""Takes what a description says is not there out of it: "There is no boy" names a boy."""

import re

_STOP = (
    r"(?=[.,;:!?]|$|\s(?:in|on|at|near|with|behind|under|beside|to|from|is|are|was|were|has|have"
    r"|that|who|which|but|and|because|as|so)\b)"
)
_THINGS = rf"[^.,;:!?]*?(?:, n?or\b[^.,;:!?]*?)?{_STOP}"
_DENIED = (
    re.compile(
        r"(?:\bneither\b|\b(?:no|without)\b(?! (?:doubt|longer))(?:[^.;:!?]{0,200}?\bn?or\b)?"
        r"|(?:\bnot|n['’]t) (?:an?|any|one|the)\b"
        rf"|\b(?:absence|free) of\b|\black(?:s|ing)?\b){_THINGS}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b[\w-]{1,40} (?:is|are|was|were) (?:absent|missing|nowhere"
        r"|not (?:there|visible|present|shown|seen|depicted))\b",
        re.IGNORECASE,
    ),
)


def affirmed(description: str) -> str:
    """Take out the things that a description denies; what somebody does not do stays.

    >>> affirmed("There is no boy in the room.").split()
    ['There', 'is', 'in', 'the', 'room.']
    >>> affirmed("The man does not see the dog.")
    'The man does not see the dog.'
    """
    for pattern in _DENIED:
        description = pattern.sub(" ", description)
    return description
