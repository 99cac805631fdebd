"""Numbers inside texts: in replies, in ground truths, in the words of a question."""

import re

from bench_assets.core.reply_text import plain, sentences

TOLERANCE = 0.1
"""Numbers this far apart are the same answer, as in the authors' answer_verification.py."""

WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
"""The numbers that are commonly written out, by value."""

_DIGITS = r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?![\d])"
_NUMBER = re.compile(rf"{_DIGITS}|\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
_ANSWER = re.compile(r"\b(?:answer|total|result)\b(?:\s+is\b|\s*[:=])|####", re.IGNORECASE)
_EPSILON = 1e-9  # 3.1 - 3.0 is a little more than 0.1


def numbers(text: str) -> list[float]:
    """List the numbers of a text in order, those written out up to twenty included.

    >>> numbers("Three cups at $1,200.50 each, 25% off")
    [3.0, 1200.5, 25.0]
    """
    return [_value(found) for found in _NUMBER.findall(text)]


def final_number(reply: str) -> float | None:
    """Read the number that a solution ends in; None if it holds none.

    What is called the answer comes first: the last such sentence decides, and in it what comes
    after the last "=". Without one, the last number in digits is taken, and of a reply without
    digits the last that is written out.

    >>> final_number("2 + 3 = 5 cups. The answer is 5, of 12 in all."), final_number("4 + 4 = 8")
    (5.0, 8.0)
    """
    text = plain(reply)
    for sentence in reversed(sentences(text)):
        *before, called = _ANSWER.split(sentence)
        if before and (found := numbers(called.rsplit("=", 1)[-1])):
            return found[0]
    digits = [_value(found) for found in re.findall(_DIGITS, text)]
    found = digits or numbers(text)
    return found[-1] if found else None


def same_number(one: float, other: float) -> bool:
    """Whether two numbers count as the same answer.

    >>> same_number(3.1, 3.0), same_number(3.2, 3.0)
    (True, False)
    """
    return abs(one - other) <= TOLERANCE + _EPSILON


def written(number: float) -> str:
    """Write a number without needless digits.

    >>> written(5.0), written(2.5)
    ('5', '2.5')
    """
    return f"{number:.10g}"


def as_number(text: str) -> float | None:
    """Read a text that is a number and nothing else but a unit sign; None if it is not.

    >>> as_number("25%"), as_number("$1,200"), as_number("no cups")
    (25.0, 1200.0, None)
    """
    bare = text.strip().strip("$%").strip()
    return _value(bare) if _NUMBER.fullmatch(bare) else None


def _value(text: str) -> float:
    word = text.casefold()
    return float(WORDS.index(word)) if word in WORDS else float(text.replace(",", ""))
