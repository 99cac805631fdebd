"""In which form a response is, and whether anything is said in it.

What readers have to cope with.
"""

import re
from collections import Counter
from functools import lru_cache
from typing import Literal, TypeAlias

Form: TypeAlias = Literal[
    "nothing", "one letter", "a number", "one word", "an object", "marked up", "a line", "long"
]

_WHOLE: dict[Form, re.Pattern[str]] = {
    "a number": re.compile(r"[^\w]*-?\d[\d.,]*\s*%?[^\w]*"),
    "one letter": re.compile(r"[\s*_`\"'(\[]*[A-Za-z][\s*_`\"')\].:]*"),
    "an object": re.compile(r"[{\[].*[}\]]", re.DOTALL),
    "one word": re.compile(r"\W*\w+\W*"),
}
_MARKED = re.compile(r"^\s*(?:#{1,6} |[-*] |\d+[.)] |\||>)|\*\*|```", re.MULTILINE)
_WORD = re.compile(r"\w+")
_LONG = 200  # characters
_LOOP = 6  # words of which most are one: a model that is stuck
_SAME = 0.5


@lru_cache(maxsize=2**14)  # many responses are a letter
def form_of(response: str) -> Form:
    """Name the form of a response.

    >>> form_of("(B)"), form_of("**Answer:** (B)"), form_of("3 "), form_of("is is is is is is is")
    ('one letter', 'marked up', 'a number', 'nothing')
    """
    text = response.strip()
    if says_nothing(text):
        return "nothing"
    for form, pattern in _WHOLE.items():
        if pattern.fullmatch(text):
            return form
    if _MARKED.search(text):
        return "marked up"
    return "long" if len(text) > _LONG or "\n" in text else "a line"


def says_nothing(response: str) -> bool:
    """Whether a response has no word, or is one word, or one letter, over and over.

    >>> says_nothing("....."), says_nothing("cookie " * 20), says_nothing("3" * 40)
    (True, True, True)
    """
    words = _WORD.findall(response.casefold())
    if not words:
        return True
    if len(words) == 1 and len(words[0]) >= _LOOP:
        return len(set(words[0])) == 1
    return len(words) >= _LOOP and max(Counter(words).values()) > _SAME * len(words)
