"""Verdicts of judges: the one word or the one grade of a complete reply, and its points.

Our prompts ask for one word, or one number, in one field. Only that is read: explicit forms that
agree. Anything else is None, which is asked for once more and then left unscored.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from bench_assets.core.reading.choices import read_one_of
from bench_assets.core.reading.readings import read
from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.reading.rules import Extent, part
from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.rows import Judgement

YES_OR_NO: Mapping[str, bool] = {"yes": True, "no": False}
RIGHT_OR_WRONG: Mapping[str, bool] = {"right": True, "wrong": False}


def read_word(reply: str, words: Mapping[str, bool]) -> bool | None:
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


def read_verdict(response: Response, words: Mapping[str, bool]) -> bool | None:
    """Read a judge's word as ``read_word`` does; None if its response was truncated."""
    return None if is_truncated(response) else read_word(response.parts.answer, words)


def is_truncated(response: Response) -> bool:
    """Whether a response was truncated at the token limit.

    >>> is_truncated(Response(text="No", finish_reason="length"))
    True
    """
    return response.finish_reason == "length"


def judge_fault(judgements: Sequence[Judgement]) -> str:
    """Why a response has no judge's response; "" if it has one."""
    if len(judgements) != 1:
        return f"{len(judgements)} judgements instead of one"
    error = judgements[0].error
    return f"the judge gave no response: {error}" if error else ""


def verdict_points(
    judgements: Sequence[Judgement],
    fault: str,
    read: Callable[[Judgement], bool | None] = attrgetter("verdict"),
) -> tuple[float | None, str]:
    """Points of a response by its one judgement, and the note; None with the reason if unscored.

    Args:
        judgements: The judgements that count.
        fault: What an unreadable judge does, such as "prints neither yes nor no".
        read: Reads the verdict.
    """
    if reason := judge_fault(judgements):
        return None, reason
    (judgement,) = judgements
    verdict = read(judgement)
    if verdict is None:
        return None, f"the judge {fault}: {judgement.response:.200}"
    return float(verdict), judgement.response if judgement.by_rules else ""
