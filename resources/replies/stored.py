"""How a row of the reply store is read: whatever stands there, no other row suffers from it."""

from collections.abc import Mapping
from typing import Any

from bench_assets.core.certain import certain
from bench_assets.core.chat import Reply


def stored_reply(row: Mapping[str, Any]) -> Reply:
    """Make a reply of a row; it has an ``error`` if none stands there."""
    try:
        of_each = tuple(map(int, row["image_tokens"].split()))
    except (AttributeError, ValueError):
        of_each = ()
    return certain(
        Reply(
            text=row["text"],
            finish_reason=row["finish_reason"] or "",
            prompt_tokens=row["prompt_tokens"],
            completion_tokens=row["completion_tokens"],
            image_tokens=of_each,
            seconds=row["seconds"],
            note=row["note"] or "",
        )
    )
