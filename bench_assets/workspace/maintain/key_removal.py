"""``bench home remove-keys``: removes API keys that older versions stored in a home."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from bench_assets.core.schema.errors import HomeError, TableError
from bench_assets.core.schema.provenance import row_digest, row_key
from bench_assets.core.text.redaction import Secrets, is_strong, replace_keys
from bench_assets.workspace.maintain.stored_texts import (
    Rewrite,
    rewrite_bytes,
    rewrite_database,
    rewrite_file,
)
from resources.config.addresses import template_of_value
from resources.config.bench_toml import Settings
from resources.config.environment import MODELS_FILE, keep_key, known_secrets
from resources.config.models_toml import read_sections, save_models
from resources.config.stores import existing_response_store, open_database, open_home_blobs
from resources.response_cache.rows import is_damaged
from resources.response_cache.sessions import insert
from resources.response_cache.store import ResponseStore
from resources.storage.schema import among, responses

_SERVER = re.compile(r"server:(https?://[^|]+)")
_KEPT = ("bench.toml", "images", "sources")
_SHARED = ("tables", "export")  # parts of the object store that contain texts


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanedFile:
    """A file that contained keys."""

    file: str
    n: int  # rows, or 1


def remove_keys(settings: Settings) -> Iterator[CleanedFile]:
    """Replace keys in the response cache, tables, databases, archives and other files of a home.

    Shared stores are cleaned as well. Keys in addresses of models become names of variables.
    bench.toml, images and sources are not changed.

    Raises:
        HomeError: If something cannot be read or written.
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
            n = rewrite_file(file, clean)
        except (pa.ArrowException, TableError) as why:
            raise HomeError(f"{file}: {why}. Run `bench home verify`, then this again") from why
        if n:
            yield CleanedFile(file=str(where), n=n)
    yield from _clean_shared(settings, clean)


def _clean_shared(settings: Settings, clean: Rewrite) -> Iterator[CleanedFile]:
    """Clean the records of Dagster in a database, and tables in an object store."""
    if settings.storage.variable:
        database = open_database(settings)
        if n := rewrite_database(database, clean):
            yield CleanedFile(file=database.place, n=n)
    for below in _SHARED if settings.storage.objects else ():
        blobs = open_home_blobs(settings, below)
        for entry in blobs.list():
            if (data := blobs.get(entry.name)) is None:
                continue
            try:
                data, n = rewrite_bytes(entry.name, data, clean)
            except (pa.ArrowException, TableError) as why:
                raise HomeError(
                    f"{blobs.named(entry.name)}: {why}. Run `bench home verify`, then this again"
                ) from why
            if n:
                blobs.put(entry.name, data)
                yield CleanedFile(file=blobs.named(entry.name), n=n)


def _cleaner(home: Path, store: ResponseStore | None) -> Rewrite:
    names: dict[str, str] = {}  # key in an address -> its replacement
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
    """All addresses in the identities of cached models and in models.toml."""
    found = {row["model"] for row in (store.rows() if store else ()) if row["model"]}
    urls = {url for identity in found for url in _SERVER.findall(identity)}
    return urls | {str(one.get("base_url", "")) for one in read_sections(home).values()}


def _clean_responses(store: ResponseStore, clean: Rewrite) -> int:
    """Clean every intact row, and recompute its cache key, so that it is still found."""
    old, new = [], []
    for row in store.rows():
        cleaned = clean(row)
        if cleaned == row or is_damaged(row):
            continue
        if row["key"] == row_key(row):
            cleaned["key"] = row_key(cleaned)
        old.append(row["key"])
        new.append({**cleaned, "digest": row_digest(cleaned)})

    def replace_rows(connection: sa.Connection) -> None:  # in one transaction: no row is lost
        connection.execute(responses.delete().where(among(connection, responses.c.key, old)))
        insert(connection, new, {})

    store.database.write(replace_rows)
    return len(new)
