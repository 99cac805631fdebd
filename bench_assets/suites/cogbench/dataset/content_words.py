"""Which words of a text say something, and how many of them another text has."""

import re

_UNSAID = (
    "a an and are as at be been being by for from has have he her him his i in into is it its of "
    "on or our she so that the their them there they this to was were will with who"
)
_STOPWORDS = frozenset(_UNSAID.split())
_ENDING = re.compile(r"(?<=\w{3})(ing|ed|es|s)$")


def content_words(text: str) -> frozenset[str]:
    """List the words that say something, without common endings.

    >>> sorted(content_words("The boys were stealing cookies."))
    ['boy', 'cooki', 'steal']
    """
    words = re.findall(r"\w+", text.casefold())
    return frozenset(_ENDING.sub("", word) for word in words if word not in _STOPWORDS)


def word_share(text: str, said: frozenset[str]) -> float:
    """Share of a text's words that were said; 0 for a text without any."""
    words = content_words(text)
    return len(words & said) / len(words) if words else 0.0
