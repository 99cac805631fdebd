"""Whether a reply that has named an option leaves another one open after it.

"The answer is (B), but it could also be (A)." chooses none. What is weighed before the answer is
named for the last time does not count, nor what is denied.
"""

import re

from bench_assets.core.reply_text import denies, sentences

_OTHER = r"\(?[A-H]\)?(?![A-Za-z'’])"
_OPEN = re.compile(
    rf"\b(?i:could|might|may)(?: also)? be {_OTHER}|\b(?i:maybe|perhaps|possibly) {_OTHER}"
    rf"|(?<![A-Za-z]){_OTHER} (?:is|seems|could|might|may)(?: also| be)*"
    rf" (?:possible|plausible|correct|right)\b|可能是{_OTHER}"
)
_CLAUSE = re.compile("[,;，；]")


def leaves_open(text: str, letter: str) -> bool:
    """Whether something else than the letter stays possible after it was named for the last time.

    Args:
        text: As ``reply_text.with_letters`` leaves it.
        letter: The option that was read.

    >>> leaves_open("The answer is (B), but it could also be (A).", "B")
    True
    >>> leaves_open("It could be (A). But (B) fits.", "B")
    False
    """
    named = [at.end() for at in re.finditer(rf"(?<![A-Za-z]){letter}(?![A-Za-z])", text)]
    return any(
        not denies(_CLAUSE.split(sentence[: found.end()])[-1])
        for sentence in sentences(text[named[-1] :] if named else "")
        for found in [_OPEN.search(sentence)]
        if found
    )
