"""Verdicts: the word of a complete response of a judge, and the points that it gives."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from bench_assets.core.reading.verdicts import read_word
from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.rows import Judgement


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
