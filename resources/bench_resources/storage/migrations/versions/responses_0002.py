"""Add the column ``served``: the model, snapshot and build that answered, until now in the note."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from bench_assets.core.schema.provenance import row_digest
from bench_resources.storage.schema import responses

revision = "responses_0002"
down_revision = "responses_0001"
branch_labels = None

_COLUMNS = (
    *("key", "model", "decoding", "prompt", "sample", "text", "finish_reason", "prompt_tokens"),
    *("completion_tokens", "seconds", "image_tokens", "note", "gate", "digest", "served"),
)
_PAGE = 10_000  # rows
_NOTE = "answered by "


def upgrade() -> None:
    """Add the column, and fill it from notes; damaged rows stay damaged."""
    op.add_column("responses", sa.Column("served", sa.Text))
    connection = op.get_bind()
    after: str | None = ""
    while after is not None:
        after = _fill_page(connection, after)


def _fill_page(connection: sa.Connection, after: str) -> str | None:
    page = sa.select(*(responses.c[name] for name in _COLUMNS)).where(responses.c.key > after)
    noted = page.where(responses.c.note != "").order_by(responses.c.key).limit(_PAGE)
    rows = connection.execute(noted).mappings().all()
    for row in map(dict, rows):
        if _is_named(row) and row["digest"] == row_digest(row):
            changed = responses.update().where(responses.c.key == row["key"])
            connection.execute(changed.values(**_split_note(row)))
    return str(rows[-1]["key"]) if rows else None


def _is_named(row: dict[str, Any]) -> bool:
    return isinstance(row["note"], str) and row["note"].startswith(_NOTE)


def _split_note(row: dict[str, Any]) -> dict[str, Any]:
    """Split a note into the model that answered and the note on images; the changed columns."""
    model_name, _, rest = row["note"].partition("; image ")
    note = f"image {rest}" if rest else ""
    new = row | {"served": model_name.removeprefix(_NOTE), "note": note}
    return {"served": new["served"], "note": note, "digest": row_digest(new)}
