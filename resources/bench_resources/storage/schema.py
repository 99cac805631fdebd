"""Tables of all stores, in one schema for SQLite and PostgreSQL.

A database of an older version is migrated by the alembic revisions in ``migrations``:
``bench home migrate-schema``. A SQLite file holds one store; a PostgreSQL database holds all
stores, each with its own branch of revisions.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from bench_assets.core.schema.errors import StoreVersionError

State: TypeAlias = Literal["missing", "older", "current", "newer"]

_VERSIONS = "bench_revisions"
_TIME_FORMAT = "%Y-%m-%d %H:%M:%S"  # as CURRENT_TIMESTAMP of SQLite writes it, in UTC


class AnyText(sa.types.TypeDecorator[str]):  # type: ignore[misc] # not followed: too large
    """Text with any characters: PostgreSQL's own text cannot hold U+0000."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        """Bytes in PostgreSQL."""
        return postgresql.BYTEA() if dialect.name == "postgresql" else sa.Text()

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> Any:  # noqa: ANN401
        """Encode for PostgreSQL."""
        if dialect.name != "postgresql" or value is None:
            return value
        return value.encode("utf-8", "surrogatepass")

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:  # noqa: ANN401
        """Decode PostgreSQL's bytes; SQLite's values, possibly damaged, are returned unchanged."""
        if dialect.name != "postgresql" or value is None:
            return value
        return bytes(value).decode("utf-8", "surrogatepass")


class UtcTime(sa.types.TypeDecorator[datetime]):  # type: ignore[misc] # as above
    """A moment in UTC; text to the second in SQLite."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        """A timestamp in PostgreSQL."""
        return sa.DateTime(timezone=True) if dialect.name == "postgresql" else sa.Text()

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> Any:  # noqa: ANN401
        """Encode as a timestamp or text."""
        if dialect.name == "postgresql" or value is None:
            return value
        return value.astimezone(UTC).strftime(_TIME_FORMAT)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> datetime:  # noqa: ANN401
        """Parse the time; a damaged one is now, so that every other counts as older."""
        if isinstance(value, datetime):
            return value
        with suppress(ValueError):
            return datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
        return datetime.now(UTC)


_SCHEMA = sa.MetaData()
_Key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

responses = sa.Table(
    "responses",
    _SCHEMA,
    sa.Column("key", _Key, primary_key=True),
    sa.Column("model", sa.Text),
    sa.Column("decoding", sa.Text),
    sa.Column("prompt", _Key),
    sa.Column("sample", sa.BigInteger),
    sa.Column("text", AnyText),
    sa.Column("finish_reason", AnyText),
    sa.Column("prompt_tokens", sa.BigInteger),
    sa.Column("completion_tokens", sa.BigInteger),
    sa.Column("seconds", sa.Double),
    sa.Column("asked_at", UtcTime, server_default=sa.func.current_timestamp()),
    sa.Column("image_tokens", sa.Text),
    sa.Column("note", AnyText),
    sa.Column("gate", sa.Text),
    sa.Column("digest", _Key),
    sa.Column("served", sa.Text),
    sa.Index("responses_by_model", "model", "decoding"),
    sqlite_with_rowid=False,
)
prompts = sa.Table(
    "prompts",
    _SCHEMA,
    sa.Column("sha256", _Key, primary_key=True),
    sa.Column("turns", sa.Text),
    sqlite_with_rowid=False,
)
leases = sa.Table(
    "leases",
    _SCHEMA,
    sa.Column("key", _Key, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("until", sa.Double, nullable=False),  # s since 1970, by the database's clock
    sqlite_with_rowid=False,
)

STORES = {"responses": (responses, prompts), "leases": (leases,)}
REVISIONS = {"responses": 2, "leases": 1}
"""Number of the latest revision of each store in ``migrations/versions``."""


def create_statements(store: str, dialect: sa.Dialect) -> list[str]:
    """SQL that creates the tables of a store and records their revision."""
    statements = [f"CREATE TABLE IF NOT EXISTS {_VERSIONS} (version_num VARCHAR(32) PRIMARY KEY)"]
    for table in STORES[store]:
        statements.append(str(CreateTable(table).compile(dialect=dialect)))
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        statements += [str(CreateIndex(index).compile(dialect=dialect)) for index in indexes]
    current = f"{store}_{REVISIONS[store]:04}"  # as alembic's revisions are named
    return [*statements, f"INSERT INTO {_VERSIONS} VALUES ('{current}')"]


def schema_state(connection: sa.Connection, store: str) -> State:
    """Whether the tables of a store exist, and are of this version."""
    existing = set(sa.inspect(connection).get_table_names())
    number = _revision(connection, store, existing)
    if number is None:
        return "missing"
    if number == REVISIONS[store]:
        return "current"
    return "newer" if number > REVISIONS[store] else "older"


def _revision(connection: sa.Connection, store: str, tables: set[str]) -> int | None:
    """Number of a store's revision; None if none is recorded."""
    if _VERSIONS not in tables:
        return None
    revisions = connection.exec_driver_sql(f"SELECT version_num FROM {_VERSIONS}").scalars()
    for revision in revisions:
        revision_store, _, number = str(revision).rpartition("_")
        if revision_store == store:
            return int(number)
    return None


def version_error(place: object, store: str, state: State) -> StoreVersionError:
    """Build the error for a database of another version, with the remedy."""
    problem = f"its {store} have the schema of an older version. Run `bench home migrate-schema`."
    if state == "newer":
        problem = (
            f"its {store} were written by a newer version of bench-assets. Update bench-assets."
        )
    return StoreVersionError(f"{place}: {problem}")


def migrate(connection: sa.Connection, store: str) -> None:
    """Migrate the tables of a store, in the connection's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes.update(connection=connection, version_table=_VERSIONS)
    command.upgrade(config, f"{store}@head")


def column_in(connection: sa.Connection, column: Any, keys: Sequence[str]) -> Any:  # noqa: ANN401
    """SQL condition that a column is one of many texts, passed as one parameter."""
    if connection.dialect.name == "postgresql":
        return column == sa.any_(sa.cast(list(keys), postgresql.ARRAY(sa.Text)))
    values = sa.func.json_each(json.dumps(keys)).table_valued("value")
    return column.in_(sa.select(values.c.value))


def upsert(
    connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]], conflict: str
) -> None:
    """Insert rows; in PostgreSQL in one statement, by arrays.

    Args:
        connection: In a transaction.
        table: The table.
        rows: Values by column, all of the same columns. Sort them by key: two transactions that
            write the same rows in different orders may deadlock.
        conflict: SQL for rows whose key exists, such as ``DO NOTHING``.
    """
    if not rows:
        return
    statement, converters = _insertion(table, tuple(rows[0]), connection.dialect)
    values = [
        [row[name] if convert is None else convert(row[name]) for name, convert in converters]
        for row in rows
    ]
    sql = f"{statement} {conflict}"
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(sql, tuple(map(list, zip(*values, strict=True))))
    else:
        connection.exec_driver_sql(sql, list(map(tuple, values)))


@cache
def _insertion(
    table: sa.Table, names: tuple[str, ...], dialect: sa.Dialect
) -> tuple[str, list[tuple[str, Any]]]:
    """The statement up to ``ON CONFLICT (key)``; a value converter, or None, for each column."""
    types = {name: table.c[name].type.dialect_impl(dialect) for name in names}
    converters = [
        (name, column_type.bind_processor(dialect)) for name, column_type in types.items()
    ]
    if dialect.name == "postgresql":
        arrays = (
            f"%b::{column_type.compile(dialect).partition(' COLLATE')[0]}[]"
            for column_type in types.values()
        )
        rows_clause = f"SELECT * FROM unnest({', '.join(arrays)})"
    else:
        rows_clause = f"VALUES ({', '.join('?' * len(names))})"
    key = ", ".join(column.name for column in table.primary_key)
    columns = ", ".join(names)
    return f"INSERT INTO {table.name} ({columns}) {rows_clause} ON CONFLICT ({key})", converters
