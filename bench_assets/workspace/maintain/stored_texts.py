"""Rewrites all texts that a home stores: in files, tables, archives and databases."""

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa

from bench_assets.bundles.contents import NAME, FileFacts, Manifest
from bench_assets.core.schema.errors import HomeError
from resources.storage.atomic_write import open_atomic
from resources.storage.database import Database, SqliteDatabase
from resources.storage.schema import STORES
from resources.tables.checksums import write_checksummed

Rewrite: TypeAlias = Callable[[Any], Any]
"""Maps a text, or lists and mappings of texts, to its replacement."""

_DATABASES = (".db", ".sqlite")
_ZIP = b"PK\x03\x04"
_IF_DAMAGED = "run `bench home verify`, then this again"
_OURS = {table.name for tables in STORES.values() for table in tables}  # rows with digests


def rewrite_file(file: Path, rewrite: Rewrite) -> int:
    """Rewrite a file of a home; returns the number of changed rows, or 1.

    Raises:
        HomeError: If a database or an archive is damaged, or cannot be written.
        ArrowException: If a table is damaged.
    """
    if file.suffix in _DATABASES:
        return _rewrite_sqlite(file, rewrite)
    if file.name.endswith(("-wal", "-shm")):
        return 0
    with file.open("rb") as opened:
        is_zip = opened.read(len(_ZIP)) == _ZIP
    if is_zip:
        return _rewrite_archive(file, rewrite)
    data = file.read_bytes()
    rewritten, n = rewrite_bytes(file.name, data, rewrite)
    if n:
        with open_atomic(file) as target:
            target.write(rewritten)
    return n


def rewrite_bytes(name: str, data: bytes, rewrite: Rewrite) -> tuple[bytes, int]:
    """Rewrite the content of a file that is neither a database nor an archive."""
    if name.endswith(".parquet"):
        return _rewritten_table(data, rewrite)
    text = data.decode("utf-8", "surrogateescape")
    rewritten = rewrite(text)
    return rewritten.encode("utf-8", "surrogateescape"), int(rewritten != text)


def rewrite_database(database: Database, rewrite: Rewrite) -> int:
    """Rewrite all tables of a database except those of our own stores, in one transaction.

    Returns:
        Number of changed rows.
    """

    def work(connection: sa.Connection) -> int:
        tables = sa.inspect(connection).get_table_names()
        return sum(_rewrite_rows(connection, name, rewrite) for name in {*tables} - _OURS)

    return database.write(work)


def _rewrite_sqlite(file: Path, rewrite: Rewrite) -> int:
    database = SqliteDatabase(file, _IF_DAMAGED)
    try:
        n = rewrite_database(database, rewrite)
    except UnicodeEncodeError as why:
        raise HomeError(f"{file}: damaged (a text is not UTF-8); {_IF_DAMAGED}") from why
    if n:
        database.compact()  # freed pages still hold the old texts
    return n


def _rewrite_rows(connection: sa.Connection, name: str, rewrite: Rewrite) -> int:
    about = sa.inspect(connection)
    columns = [sa.column(one["name"]) for one in about.get_columns(name)]
    keys = about.get_pk_constraint(name)["constrained_columns"]
    where = "ctid::text" if connection.dialect.name == "postgresql" else "rowid"
    place = [sa.column(key) for key in keys] or [sa.literal_column(where)]
    table = sa.table(name, *columns)
    changed = []
    for row in connection.execute(sa.select(*place, *columns).select_from(table)):
        pairs = zip(columns, row[len(place) :], strict=True)
        new = {one.name: (value, _rewritten_value(value, rewrite)) for one, value in pairs}
        if values := {column: after for column, (before, after) in new.items() if after != before}:
            changed.append((row[: len(place)], values))
    for at, values in changed:
        is_it = sa.and_(*(one == value for one, value in zip(place, at, strict=True)))
        connection.execute(sa.update(table).where(is_it).values(values))
    return len(changed)


def _rewritten_value(value: Any, rewrite: Rewrite) -> Any:  # noqa: ANN401 - what a column holds
    if isinstance(value, str):
        return rewrite(value)
    if not isinstance(value, bytes | memoryview):
        return value
    data = bytes(value)
    with suppress(zlib.error):  # as Dagster stores snapshots
        text = zlib.decompress(data)
        rewritten, n = rewrite_bytes("", text, rewrite)
        return zlib.compress(rewritten) if n else value
    rewritten, n = rewrite_bytes("", data, rewrite)
    return rewritten if n else value


def _rewritten_table(data: bytes, rewrite: Rewrite) -> tuple[bytes, int]:
    table = pq.read_table(io.BytesIO(data))
    rows = table.to_pylist()
    rewritten = rewrite(rows)
    if rewritten == rows:
        return data, 0
    about = {k: v for k, v in (table.schema.metadata or {}).items() if k != b"bench_checksum"}
    target = io.BytesIO()
    schema = table.schema.with_metadata(about)
    write_checksummed(pa.Table.from_pylist(rewritten, schema), target)
    return target.getvalue(), sum(a != b for a, b in zip(rows, rewritten, strict=True))


def _rewrite_archive(file: Path, rewrite: Rewrite) -> int:
    """Rewrite the files of an archive; the manifest of a bundle gets their new digests."""
    try:
        with zipfile.ZipFile(file) as archive:
            changed = dict(_changed_files(archive, rewrite))
            if not (n := len(changed)):
                return 0
            if NAME in archive.namelist():
                there = changed.get(NAME) or archive.read(NAME)
                changed[NAME] = _resealed(there, changed)
            with open_atomic(file) as target, zipfile.ZipFile(target, "w") as new:
                for info in archive.infolist():
                    new.writestr(info, changed.get(info.filename) or archive.read(info))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as why:
        raise HomeError(
            f"{file}: a damaged or encrypted archive ({why}). Move it out of the home"
        ) from why
    return n


def _changed_files(archive: zipfile.ZipFile, rewrite: Rewrite) -> Iterator[tuple[str, bytes]]:
    for info in archive.infolist():
        data, n = rewrite_bytes(info.filename, archive.read(info), rewrite)
        if n:
            yield info.filename, data


def _resealed(data: bytes, changed: dict[str, bytes]) -> bytes:
    """Update the digests of changed files in a manifest; other content is returned unchanged."""
    try:
        manifest = Manifest.model_validate_json(data)
    except ValueError:
        return data
    files = manifest.files | {
        name: FileFacts(sha256=sha256(new).hexdigest(), n_bytes=len(new))
        for name, new in changed.items()
        if name in manifest.files
    }
    return manifest.model_copy(update={"files": files}).checksummed().to_bytes()
