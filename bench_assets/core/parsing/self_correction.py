"""Whether a response that has named an option leaves another one open after it, or takes it back.

"The answer is (B), but it could also be (A)." chooses none, nor does "(B). No, that is wrong." What
is weighed before the answer is named for the last time does not count, nor what is denied.
"""

import re

from bench_assets.core.parsing.normalization import denies, sentences

_OTHER = r"\(?[A-H]\)?(?![A-Za-z'’])"
_OPEN = re.compile(
    rf"\b(?i:could|might|may)(?: also)? be {_OTHER}|\b(?i:maybe|perhaps|possibly) {_OTHER}"
    rf"|(?<![A-Za-z]){_OTHER} (?:is|seems|could|might|may)(?: also| be)*"
    rf" (?:possible|plausible|correct|right)\b|可能是{_OTHER}"
)
_CLAUSE = re.compile("[,;，；]")
_WRONG = r"(?: \w+ly)? (?:wrong|incorrect|false|not (?:right|correct|true)|a (?:joke|mistake))\b"
_BACK = re.compile(
    r"[^\w\n]*+(?:(?:but|no|wait|actually|sorry|oops|hold on)\b[^\w\n]*+)*+"
    rf"(?:(?:which|that|this|it)(?:['’]s| is| was){_WRONG}(?! (?:to|that)\b)"
    r"|I (?:take (?:that|it|this) back|was (?:wrong|kidding|joking))|just (?:kidding|joking)"
    r"|[这那]是?(?:不对|错))",
    re.IGNORECASE,
)


def leaves_open(text: str, letter: str) -> bool:
    """Whether something else than the letter stays possible after it was named for the last time.

    Args:
        text: As ``response_text.with_letters`` leaves it.
        letter: The option that was read.

    >>> leaves_open("The answer is (B), but it could also be (A).", "B")
    True
    >>> leaves_open("It could be (A). But (B) fits.", "B")
    False
    """
    return any(
        not denies(_CLAUSE.split(sentence[: found.end()])[-1])
        for sentence in sentences(_after(text, rf"(?<![A-Za-z]){letter}(?![A-Za-z])"))
        for found in [_OPEN.search(sentence)]
        if found
    )


def takes_back(text: str, letter: str, option: str) -> bool:
    """Whether it is called wrong right after it was named for the last time.

    Args:
        text: As ``response_text.with_letters`` leaves it.
        letter: The option that was read.
        option: Its text, in lower case; "" if only the letter is known.

    >>> takes_back("The answer is (B). No, that is wrong.", "B", "")
    True
    >>> takes_back("It is (B). The other car is wrong.", "B", "")
    False
    """
    own = rf"|(?<!\w)(?i:{re.escape(option)})(?!\w)" if option else ""
    return _BACK.match(_after(text, rf"(?<![A-Za-z]){letter}(?![A-Za-z]){own}")) is not None


def _after(text: str, named: str) -> str:
    """Text after the last mention; "" without one."""
    ends = [at.end() for at in re.finditer(named, text)]
    return text[ends[-1] :].lstrip(")") if ends else ""
