"""Prompts of the sample browser, as sent to models and judges."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bench_assets.report.samples.questions import CHUNK

FindPrompts: TypeAlias = Callable[[Collection[str]], Mapping[str, str]]
"""Finds the turns of sent prompts as JSON, by SHA-256; omits unknown ones."""

_DIGITS = 16
_PLACE = 32  # bits of an index into the prompts


def short_name(sha256: str) -> str:
    """Name of a prompt within its chunk."""
    return sha256[:_DIGITS]


class PromptChunk(NamedTuple):
    """The prompts for a chunk of questions."""

    number: int
    turns: dict[str, Any]  # by ``short_name``: role and parts of each turn, images as digests
    images: list[str]


class SentPrompts:
    """The prompts sent for each chunk of questions; each is held once."""

    def __init__(self) -> None:
        """Start empty."""
        self._prompts = pa.chunked_array([], pa.string())
        self._pairs = np.array([], np.int64)  # chunk, and index into the prompts

    def add(self, rows: npt.NDArray[np.int32], prompts: pa.ChunkedArray) -> None:
        """Add the SHA-256 of prompts, with the row of the question of each."""
        import pyarrow.compute as pc

        is_new = pc.is_null(pc.index_in(prompts, value_set=self._prompts))
        new = prompts.filter(is_new).unique()
        self._prompts = pa.chunked_array([*self._prompts.chunks, new], pa.string())
        places = pc.index_in(prompts, value_set=self._prompts).to_numpy()
        pairs = (rows // CHUNK).astype(np.int64) << _PLACE | places
        self._pairs = np.unique(np.concatenate([self._pairs, pairs]))

    def chunks(self, find: FindPrompts) -> Iterator[PromptChunk]:
        """Yield the known prompts for each chunk of questions."""
        chunks, places = self._pairs >> _PLACE, self._pairs & (1 << _PLACE) - 1
        ends = [*np.flatnonzero(np.diff(chunks)) + 1, len(chunks)]
        for start, end in pairwise([0, *ends] if len(chunks) else []):
            wanted = self._prompts.take(pa.array(places[start:end])).to_pylist()
            found = find(sorted({*wanted} - {"", None}))
            read = {short_name(sha256): _turns(text) for sha256, text in sorted(found.items())}
            if turns := {name: one for name, one in read.items() if one}:
                images = list(dict.fromkeys(_images(turns.values())))
                yield PromptChunk(int(chunks[start]), turns, images)


def _turns(text: str) -> Any:  # noqa: ANN401
    """Parse the turns of a prompt; None if they are not valid JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _images(prompts: Collection[Any]) -> Iterator[str]:
    parts = (part for turns in prompts for _, parts in turns for part in parts)
    return (part["image"] for part in parts if isinstance(part, dict))
