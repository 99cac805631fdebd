"""Verdicts of judges: the one word or the one grade of a complete reply, and its points.

Our prompts ask for one word, or one number, in one field. Only explicit forms that agree are read.
Anything else is None: it is requested once more, and then left unscored.
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
    start, end = word.evidence
    evidence = re.findall(r"\w+", text[start:end].casefold())
    has_other_word = any(other in evidence for other in words if other != word.value)
    return None if has_other_word else words[word.value]


def read_grade(reply: str, low: float, high: float) -> float | None:
    """Read a judge's grade; None for a range, another scale, a grade outside of it, or two.

    >>> read_grade("Score (1-5): 4", 1, 5), read_grade("7-8", 0, 10), read_grade("4/10", 1, 5)
    (4.0, None, None)
    """

    def parse(text: str, _: Extent) -> float | None:
        match = part("grade").fullmatch(text)
        if match is None:
            return None
        top = match["top"] or (100 if match["percent"] else high)
        return float(match["grade"].replace(",", "")) if float(top) == high else None

    grade = read("grade", strip_reasoning(reply), parse)
    if grade is None or grade.disputed or not low <= grade.value <= high:
        return None
    return grade.value


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
    """Why there is not one response of a judge; "" if there is."""
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
