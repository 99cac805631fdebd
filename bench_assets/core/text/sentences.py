"""Sentences of a text."""

import re

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])|\n+")


def split_sentences(text: str) -> list[str]:
    r"""Split at signs such as .!?; and line ends, but not after a colon; [""] without a sentence.

    >>> split_sentences("It is clear.\nThe answer is:\n(B) left")
    ['It is clear.', 'The answer is: (B) left']
    """
    joined = re.sub(r":\s*\n\s*", ": ", text)
    return [sentence for sentence in _SENTENCE_END.split(joined) if sentence] or [""]
