"""Values and rows of the response cache: a damaged row never affects another."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from bench_assets.core.schema.chat import Response, validate_response
from bench_assets.core.schema.provenance import row_digest, text_digest


def is_damaged(row: Mapping[str, Any]) -> bool:
    """Whether a row differs from what was written."""
    return bool(row["digest"] != row_digest(row))


def response_from_row(row: Mapping[str, Any]) -> Response:
    """Parse a row; the response has an ``error`` if the row is damaged or holds no response."""
    if is_damaged(row):
        return Response(error="damaged")
    try:
        image_tokens = tuple(map(int, row["image_tokens"].split()))
    except (AttributeError, ValueError):
        image_tokens = ()
    return validate_response(
        Response(
            text=row["text"],
            finish_reason=row["finish_reason"] or "",
            prompt_tokens=row["prompt_tokens"],
            completion_tokens=row["completion_tokens"],
            image_tokens=image_tokens,
            seconds=row["seconds"],
            note=row["note"] or "",
            served=row["served"] or "",
        )
    )


def count_states(
    responses: Iterable[Mapping[str, Any]], prompts: Iterable[tuple[str, object]]
) -> Counter[str]:
    """Count "whole" and "damaged" responses, and "damaged prompts"."""
    states = Counter("damaged" if is_damaged(row) else "whole" for row in responses)
    states["damaged prompts"] = sum(not matches_digest(*prompt) for prompt in prompts)
    return states


def matches_digest(sha256: str, turns: object) -> bool:
    """Whether the turns of a prompt match the digest under which they are stored."""
    text = str(turns)
    if text_digest(text) == sha256:
        return True
    try:  # a lone surrogate is stored escaped, but the digest is of the unescaped text
        parsed = json.loads(text)
        unescaped = json.dumps(parsed, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return False
    return text_digest(unescaped) == sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Prompt and completion tokens of a model, counted or expected."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseAverages:
    """Means over a model's cached responses; None without any."""

    seconds: float | None = None
    tokens: float | None = None


Row: TypeAlias = Mapping[str, Any]
"""A stored response, by the columns of ``bench_resources.storage.schema.responses``."""
