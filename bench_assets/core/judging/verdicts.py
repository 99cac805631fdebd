"""Verdicts in judges' responses: a word of a complete one."""

from collections.abc import Mapping

from bench_assets.core.reading.verdicts import read_word
from bench_assets.core.schema.chat import Response


def read_verdict(response: Response, words: Mapping[str, bool]) -> bool | None:
    """Read a judge's word as ``read_word`` does; None if its response was truncated."""
    return None if is_truncated(response) else read_word(response.said.answer, words)


def is_truncated(response: Response) -> bool:
    """Whether a response was truncated at the token limit.

    >>> is_truncated(Response(text="No", finish_reason="length"))
    True
    """
    return response.finish_reason == "length"
