"""Takes what a description says is not there out of it: "There is no boy" names a boy."""

import re

_STOP = (
    r"(?=[.,;:!?]|$|\s(?:in|on|at|near|with|behind|under|beside|to|from|is|are|was|were|has|have"
    r"|that|who|which|but|and|because|as|so)\b)"
)
_THINGS = rf"[^.,;:!?]*?(?:,[^.,;:!?]*?)*?(?:,? (?:or|nor)\b[^.,;:!?]*?)?{_STOP}"
_NEAR = r"[^.;:!?]{0,200}?"
_DENIED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bneither\b{_THINGS}",
        rf"\b(?:no|without)\b(?! (?:doubt|longer))(?:{_NEAR}\b(?:or|nor)\b{_THINGS}|{_THINGS})",
        rf"(?:\bnot|n['’]t)(?: (?:a|an|any|one|the))\b{_THINGS}",
        rf"\b(?:absence|lack|free) of\b{_THINGS}|\black(?:s|ing)?\b{_THINGS}",
        r"\b[\w-]{1,40} (?:is|are|was|were) (?:absent|missing|nowhere"
        r"|not (?:there|visible|present|shown|seen|depicted))\b",
    )
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
