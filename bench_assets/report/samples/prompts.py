"""Prompts of the sample browser as they were sent to models and judges."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from bench_assets.report.samples.questions import CHUNK

FindPrompts: TypeAlias = Callable[[Collection[str]], Mapping[str, str]]
"""Finds the turns of sent prompts as JSON, by their SHA-256, as far as they are known."""

_DIGITS = 16


def short_name(sha256: str) -> str:
    """The name of a prompt among those of its chunk."""
    return sha256[:_DIGITS]


class PromptChunk(NamedTuple):
    """The prompts about a chunk of questions."""

    number: int
    turns: dict[str, Any]  # by ``short_name``: role and parts of each turn, images as digests
    images: list[str]


def prompt_chunks(
    ids: Sequence[str], sent: Mapping[str, Collection[str]], find: FindPrompts
) -> Iterator[PromptChunk]:
    """Prompts about each chunk of questions; chunks without any are left out.

    Args:
        ids: Of the questions, in the order of the list.
        sent: SHA-256 of the prompts about each question.
        find: Looks prompts up.
    """
    for first in range(0, len(ids), CHUNK):
        wanted = chain.from_iterable(sent.get(one, ()) for one in ids[first : first + CHUNK])
        found = find(sorted(set(wanted) - {""}))
        read = {short_name(sha256): _turns(text) for sha256, text in sorted(found.items())}
        turns = {name: one for name, one in read.items() if one}
        if turns:
            yield PromptChunk(first // CHUNK, turns, list(dict.fromkeys(_images(turns.values()))))


def _turns(text: str) -> Any:  # noqa: ANN401
    """The turns of a prompt; None where its text is nested too deep to be read."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _images(prompts: Collection[Any]) -> Iterator[str]:
    parts = (part for turns in prompts for _, parts in turns for part in parts)
    return (part["image"] for part in parts if isinstance(part, dict))
