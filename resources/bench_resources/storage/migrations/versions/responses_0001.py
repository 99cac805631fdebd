"""Responses of version 0.1 get the schema that SQLite and PostgreSQL share."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "responses_0001"
down_revision = None
branch_labels = ("responses",)

_PAGE = 10_000  # rows
_FROM_JSON = ("text", "finish_reason", "image_tokens", "note")


def upgrade() -> None:
    """Add the index in SQLite; turn digests and JSON into text in PostgreSQL."""
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        _move_postgres(connection)
    op.create_index("responses_by_model", "responses", ["model", "decoding"])
    if connection.dialect.name == "sqlite":
        op.execute("PRAGMA user_version = 0")


def _move_postgres(connection: sa.Connection) -> None:
    op.execute("DROP INDEX bench_responses_asked_as")
    op.rename_table("bench_responses", "responses")
    op.rename_table("bench_prompts", "prompts")
    for table, column in (
        *(("responses", name) for name in ("key", "prompt", "digest")),
        ("prompts", "sha256"),
    ):
        op.execute(
            f'ALTER TABLE {table} ALTER {column} TYPE text COLLATE "C"'
            f" USING encode({column}, 'hex')"
        )
    for name in _FROM_JSON:
        kind = "text" if name == "image_tokens" else "bytea"
        op.execute(f"ALTER TABLE responses ADD COLUMN {name} {kind}")
    after: str | None = ""
    while after is not None:
        after = _fill_page(connection, after)
    op.execute("ALTER TABLE responses DROP COLUMN said")


def _fill_page(connection: sa.Connection, after: str) -> str | None:
    """Split the JSON of a page of rows into columns; PostgreSQL cannot parse U+0000 in JSON."""
    rows = connection.exec_driver_sql(
        "SELECT key, said::text FROM responses WHERE key > %s ORDER BY key LIMIT %s", (after, _PAGE)
    ).all()
    if not rows:
        return None
    parsed = [_parse_json(text) for _, text in rows]
    columns: list[list[Any]] = [[one.get(name) for one in parsed] for name in _FROM_JSON]
    for column, name in zip(columns, _FROM_JSON, strict=True):
        if name != "image_tokens":
            column[:] = [
                value.encode("utf-8", "surrogatepass") if isinstance(value, str) else None
                for value in column
            ]
    connection.exec_driver_sql(
        "UPDATE responses SET text = new.text, finish_reason = new.finish_reason,"
        " image_tokens = new.image_tokens, note = new.note"
        " FROM unnest(%b::text[], %b::bytea[], %b::bytea[], %b::text[], %b::bytea[])"
        " AS new (key, text, finish_reason, image_tokens, note) WHERE responses.key = new.key",
        ([key for key, _ in rows], *columns),
    )
    return str(rows[-1][0])


def _parse_json(text: str) -> dict[str, Any]:
    value = json.loads(text)
    return value if isinstance(value, dict) else {}
