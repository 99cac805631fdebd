"""Whether a response says yes or no, without a model.

Only what is said in these words counts: how a response opens, and what it concludes with. A
response that doubts, or that says both, says neither: better to miss an answer than to invent one.
"""

import re

from bench_assets.core.parsing.normalization import plain, sentences
from hallusion_bench.questions import NO, YES

_WORD = r"(yes|no)\b(?! or no\b| and no\b|-)"
_LABEL = r"(?:(?:the )?(?:final |correct |short )?answer(?: to (?:the|your) question)?(?: is)?\W+)?"
_STATES = r"(?=\W*$|\s*[,.;:!–—-]|\s+(?:the|this|that|these|those|there|it|they|he|she|both|in)\b)"
_OPENS = re.compile(rf"\W*{_LABEL}{_WORD}(?:(?<=yes)|{_STATES})", re.IGNORECASE)
_CONCLUDES = re.compile(
    rf"\b(?:so|therefore|thus|hence|answer(?: to (?:the|your) question)? (?:is|would be)"
    rf"|in conclusion)\W{{1,3}}{_WORD}{_STATES}",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"\b(?:cannot|can['’]t|could not|couldn['’]t|unable to|impossible to"
    r"|not (?:possible|enough \w+|sufficient \w+) to)"
    r" (?:\w+ly )?(?:determine|tell|say|answer|confirm|verify|know|be (?:determined|sure|certain))"
    r"|\b(?:not|un)[ ]?(?:clear|sure|certain)\b|\bi (?:do not|don['’]t) (?:know|have)\b|\bmaybe\b",
    re.IGNORECASE,
)


def yes_or_no(response: str) -> str:
    """Read the yes or no of a response; "" if it says neither.

    >>> yes_or_no("**No**, both are of the same size."), yes_or_no("Both are. So, yes, they are.")
    ('no', 'yes')
    >>> yes_or_no("No, I cannot determine that."), yes_or_no("They look the same.")
    ('', '')
    """
    text = plain(response)
    said = {word.casefold() for word in _CONCLUDES.findall(text)}
    opening = _OPENS.match(text)
    if opening:
        said.add(opening[1].casefold())
    first = sentences(text)[0]
    if len(said) != 1 or (opening and _DOUBTS.search(first)):
        return ""
    return YES if said == {YES} else NO
