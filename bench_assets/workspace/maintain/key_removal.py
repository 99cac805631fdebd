"""``bench home remove-keys``: takes keys out of what older versions stored in a home."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa

from bench_assets.core.schema.errors import HomeError, TableError
from bench_assets.core.schema.provenance import row_digest, row_key
from bench_assets.core.text.redaction import Secrets, is_strong, replace_keys
from resources.config.addresses import template_of_value
from resources.config.bench_toml import Settings
from resources.config.environment import MODELS_FILE, keep_key, known_secrets
from resources.config.models_toml import read_sections, save_models
from resources.config.stores import existing_response_store
from resources.response_cache.rows import is_damaged
from resources.response_cache.sessions import insert
from resources.response_cache.store import ResponseStore
from resources.storage.atomic_write import open_atomic
from resources.storage.schema import among, responses
from resources.tables.checksums import write_checksummed

_SERVER = re.compile(r"server:(https?://[^|]+)")
_KEPT = ("bench.toml", "images", "sources")
_DATABASES = (".db", ".sqlite")
Clean: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanedFile:
    """A file that contained keys."""

    file: str
    n: int  # rows, or 1


def remove_keys(settings: Settings) -> Iterator[CleanedFile]:
    """Replace keys in the response store, tables, databases and other files of a home.

    Keys that stood in addresses of models become the names of variables, as where they are read.
    bench.toml, images and sources stay as they are.

    Raises:
        HomeError: If a file cannot be written.
    """
    home, store = settings.home, existing_response_store(settings)
    clean = _cleaner(home, store)
    if changed := save_models(home, template_of_value(read_sections(home))):
        yield CleanedFile(file=MODELS_FILE, n=len(changed))
    if store and (n := _clean_responses(store, clean)):
        yield CleanedFile(file=store.place, n=n)
    for file in sorted(home.rglob("*")):
        where = file.relative_to(home)
        if where.parts[0] in _KEPT or not file.is_file() or file == settings.responses_file:
            continue
        try:
            n = _clean_file(file, clean)
        except (sqlite3.Error, pa.ArrowException, TableError) as why:
            raise HomeError(f"{file}: {why}. Run `bench home verify`, then this again") from why
        if n:
            yield CleanedFile(file=str(where), n=n)


def _cleaner(home: Path, store: ResponseStore | None) -> Clean:
    names: dict[str, str] = {}  # key in an address -> what stands in its place
    for address in _addresses(home, store):
        replace_keys(address, lambda key: names.setdefault(key, f"{{{keep_key(key, key)}}}"))
    names = {key: name for key, name in names.items() if is_strong(key)}
    secrets, given = known_secrets(home), Secrets(names)

    def clean(value: Any) -> Any:  # noqa: ANN401 - whatever a file has
        if isinstance(value, str):
            for key, name in names.items():
                value = value.replace(key, name)
            return given.redacted(secrets.redacted(value))
        if isinstance(value, dict):
            return {name: clean(one) for name, one in value.items()}
        return type(value)(map(clean, value)) if isinstance(value, list | tuple) else value

    return clean


def _addresses(home: Path, store: ResponseStore | None) -> set[str]:
    """Every address that identities and sections of models contain."""
    found = {row["model"] for row in (store.rows() if store else ()) if row["model"]}
    urls = {url for identity in found for url in _SERVER.findall(identity)}
    bases = [section.get("base_url", ()) for section in read_sections(home).values()]
    return urls | {url for one in bases for url in ([one] if isinstance(one, str) else one)}


def _clean_responses(store: ResponseStore, clean: Clean) -> int:
    """Clean every intact row; its key follows its identity, so that nothing is requested again."""
    old, new = [], []
    for row in store.rows():
        cleaned = clean(row)
        if cleaned == row or is_damaged(row):
            continue
        if row["key"] == row_key(row):
            cleaned["key"] = row_key(cleaned)
        old.append(row["key"])
        new.append({**cleaned, "digest": row_digest(cleaned)})

    def replace_rows(connection: sa.Connection) -> None:  # in one transaction: none is lost
        connection.execute(responses.delete().where(among(connection, responses.c.key, old)))
        insert(connection, new, {})

    store.database.write(replace_rows)
    return len(new)


def _clean_file(file: Path, clean: Clean) -> int:
    if file.suffix == ".parquet":
        return _clean_table(file, clean)
    if file.suffix in _DATABASES:
        return _clean_database(file, clean)
    if file.name.endswith(("-wal", "-shm")):
        return 0
    text = file.read_bytes().decode("utf-8", "surrogateescape")
    if (cleaned := clean(text)) == text:
        return 0
    with open_atomic(file) as written:
        written.write(cleaned.encode("utf-8", "surrogateescape"))
    return 1


def _clean_table(file: Path, clean: Clean) -> int:
    table = pq.read_table(file)
    rows = table.to_pylist()
    cleaned = clean(rows)
    if cleaned == rows:
        return 0
    about = {k: v for k, v in (table.schema.metadata or {}).items() if k != b"bench_checksum"}
    schema = table.schema.with_metadata(about)
    with open_atomic(file) as written:
        write_checksummed(pa.Table.from_pylist(cleaned, schema), written)
    return sum(one != other for one, other in zip(rows, cleaned, strict=True))


def _clean_database(file: Path, clean: Clean) -> int:
    n = 0
    with closing(sqlite3.connect(file)) as db:
        found = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").fetchall()
        for table in [name for name, made in found if "WITHOUT ROWID" not in made.upper()]:
            rows = db.execute(f'SELECT rowid AS _row, * FROM "{table}"')
            columns = ", ".join(f'"{column[0]}" = ?' for column in rows.description[1:])
            change = f'UPDATE "{table}" SET {columns} WHERE rowid = ?'
            for row_id, *values in rows.fetchall():
                if (cleaned := clean(values)) != values:
                    db.execute(change, [*cleaned, row_id])
                    n += 1
        db.commit()
        if n:
            db.execute("VACUUM")  # pages of what was there are free, and hold it
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return n
