"""The first rows of a table, as the UI shows them."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from bench_assets.core.tables import to_json

_PREVIEW_ROWS = 8
_PREVIEW_CHARACTERS = 160


def preview(rows: Sequence[Any], n: int = _PREVIEW_ROWS) -> dict[str, dg.MetadataValue]:
    """Show the first rows, long texts cut, as a table of the UI; nothing if there are none."""
    if not rows:
        return {}
    records = [
        dg.TableRecord({name: _shown(value) for name, value in to_json(row).items()})
        for row in rows[:n]
    ]
    return {"preview": dg.MetadataValue.table(records)}


def _shown(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= _PREVIEW_CHARACTERS else text[: _PREVIEW_CHARACTERS - 1] + "…"
