"""Verdicts: the one word or the one grade that a judge replies.

Our prompts ask for one word, or one number, in one field. Only that is read: explicit forms that
agree. Anything else is None, which is asked for once more and then left unscored.
"""

import re
from collections.abc import Mapping
from typing import TypeVar

from bench_assets.core.reading.choices import read_one_of
from bench_assets.core.reading.readings import read
from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.reading.rules import Extent, part

Verdict = TypeVar("Verdict")

YES_OR_NO: Mapping[str, bool] = {"yes": True, "no": False}
RIGHT_OR_WRONG: Mapping[str, bool] = {"right": True, "wrong": False}


def read_word(reply: str, words: Mapping[str, Verdict]) -> Verdict | None:
    """Read a judge's word; None if it says none of them, or two.

    >>> read_word("Verdict: **wrong**", RIGHT_OR_WRONG), read_word("I have no idea.", YES_OR_NO)
    (False, None)
    """
    text = strip_reasoning(reply)
    word = read_one_of("verdict", text, tuple(words))
    if word is None or word.disputed:
        return None
    evidence = re.findall(r"\w+", text[slice(*word.evidence)].casefold())
    return None if {*evidence} & {*words} - {word.value} else words[word.value]


def read_grade(reply: str, low: float, high: float) -> float | None:
    """Read a judge's grade; None for a range, another scale, a grade outside of it, or two.

    >>> read_grade("Score (1-5): 4", 1, 5), read_grade("7-8", 0, 10), read_grade("4/10", 1, 5)
    (4.0, None, None)
    """

    def parse(text: str, _: Extent) -> float | None:
        match = part("grade").fullmatch(text)
        top = match and (match["top"] or (match["percent"] and 100))
        if not match or (top and float(top) != high):
            return None
        return float(match["grade"].replace(",", ""))

    grade = read("grade", strip_reasoning(reply), parse)
    return grade.value if grade and not grade.disputed and low <= grade.value <= high else None
