"""Merging of response caches."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TypeVar

from bench_assets.core.schema.errors import HomeError
from resources.response_cache.port import ResponseStore, Row
from resources.response_cache.sqlite_file import digest_of, is_damaged, is_prompt, stored_response

_AT_ONCE = 1000  # rows
_DIGEST = frozenset("0123456789abcdef")

One = TypeVar("One")


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """What became of the responses of a store."""

    source: str
    target: str
    responses: int  # whole ones, all of which are in the target now
    prompts: int
    left_out: int  # damaged ones and what is no response: the source keeps them


def merge_into(
    target: ResponseStore, source: ResponseStore, watch: Callable[[int], object] = lambda n: None
) -> MergeResult:
    """Take every whole response over, and look that it is there and whole.

    The source stays as it is.

    Of two responses to one request the older one stays. Ended half way, it may be begun again.

    Args:
        target: Where they are to be.
        source: Where they are.
        watch: Is told how many responses have been moved so far.

    Raises:
        HomeError: If one cannot be read or written, or was not there after it was written.
    """
    n_prompts = n_responses = n_left_out = 0
    for prompts in _in_parts(one for one in source.prompts() if is_prompt(*one)):
        target.merge([], dict(prompts))
        n_prompts += len(prompts)
    for rows in _in_parts(source.rows()):
        whole = [row for row in map(_whole, rows) if row]
        target.merge(whole, {})
        _require_all(target, whole)
        n_responses += len(whole)
        n_left_out += len(rows) - len(whole)
        watch(n_responses)
    return MergeResult(
        source=source.place,
        target=target.place,
        responses=n_responses,
        prompts=n_prompts,
        left_out=n_left_out,
    )


def _require_all(target: ResponseStore, rows: list[Row]) -> None:
    """Look that responses are in a store, as their digests say."""
    keys = [str(row["key"]) for row in rows]
    if missing := set(keys) - target.find(keys).keys():
        raise HomeError(
            f"{target.place}: {len(missing)} responses are not there that were just written, "
            f"such as"
            f" {min(missing)}; nothing was deleted: try again"
        )


def _whole(row: Mapping[str, Any]) -> Row | None:
    """A row as it is written today, with the moment it was asked; None if it is no response."""
    response = stored_response(row)
    named = (str(row["key"]), str(row["prompt"]))
    if is_damaged(row) or response.error or not all(map(_is_digest, named)):
        return None
    columns = ("key", "model", "decoding", "prompt", "sample", "gate")
    whole = {
        **{name: row.get(name) for name in columns},
        "gate": row.get("gate") or "",
        "text": response.text,
        "finish_reason": response.finish_reason,
        "prompt_tokens": response.prompt_tokens,
        "completion_tokens": response.completion_tokens,
        "image_tokens": " ".join(map(str, response.image_tokens)),
        "seconds": response.seconds,
        "note": response.note,
    }
    return {**whole, "digest": digest_of(whole), "asked_at": _moment(row["asked_at"])}


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= _DIGEST


def _moment(asked_at: object) -> datetime:
    """When a response came; now, where that is not known, so that any other counts as older."""
    if isinstance(asked_at, datetime):
        return asked_at
    try:
        return datetime.fromisoformat(str(asked_at)).replace(tzinfo=UTC)
    except ValueError:
        return datetime.now(UTC)


def _in_parts(found: Iterable[One]) -> Iterator[list[One]]:
    each = iter(found)
    while part := list(islice(each, _AT_ONCE)):
        yield part
