"""Merging of response caches."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from bench_assets.core.schema.errors import HomeError
from resources.response_cache.port import Row
from resources.response_cache.rows import is_prompt, response_from_row
from resources.response_cache.store import ResponseStore

_PAGE = 1000  # rows

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """Outcome of merging two response caches."""

    source: str
    target: str
    responses: int  # intact ones, all of which are in the target now
    prompts: int
    left_out: int  # damaged ones, which only the source has


def merge_into(
    target: ResponseStore,
    source: ResponseStore,
    progress: Callable[[int], object] = lambda n: None,
) -> MergeResult:
    """Copy every intact response, and verify its arrival; the source is unchanged.

    Of two responses with the same key, the older one stays. After an interruption, run it again.

    Args:
        target: The store to write to.
        source: The store to read.
        progress: Gets the number of responses copied so far.

    Raises:
        HomeError: If a store cannot be read or written, or a response is missing afterwards.
    """
    n_prompts = n_responses = n_left_out = 0
    for prompts in _pages(one for one in source.prompts() if is_prompt(*one)):
        target.merge([], dict(prompts))
        n_prompts += len(prompts)
    for rows in _pages(source.rows()):
        intact = [row for row in rows if not response_from_row(row).error]
        target.merge(intact, {})
        _require_all(target, intact)
        n_responses += len(intact)
        n_left_out += len(rows) - len(intact)
        progress(n_responses)
    return MergeResult(
        source=source.place,
        target=target.place,
        responses=n_responses,
        prompts=n_prompts,
        left_out=n_left_out,
    )


def _require_all(target: ResponseStore, rows: Sequence[Row]) -> None:
    keys = [str(row["key"]) for row in rows]
    if missing := set(keys) - target.find(keys).keys():
        raise HomeError(
            f"{target.place}: {len(missing)} responses are missing after they were written, such as"
            f" {min(missing)}. The source is unchanged: run the command again."
        )


def _pages(found: Iterable[Item]) -> Iterator[list[Item]]:
    each = iter(found)
    while page := list(islice(each, _PAGE)):
        yield page
