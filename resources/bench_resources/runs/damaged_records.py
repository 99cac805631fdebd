"""Dagster's records that cannot be read, as one message."""

from collections.abc import Iterator
from contextlib import contextmanager

from bench_assets.core.schema.errors import HomeError


@contextmanager
def damaged_records_reporting(folder: object) -> Iterator[None]:
    """Report a query that fails; nothing but queries of Dagster's storage may stand inside.

    A flipped bit may raise anything: sqlite3's errors, those of JSON, a key that is missing.

    Raises:
        HomeError: For any exception.
    """
    try:
        yield
    except Exception as error:
        reason = f"{type(error).__name__}: {error!s:.200}"
        raise HomeError(
            f"{folder}: Dagster's records cannot be read ({reason})."
            " `bench home verify` names damaged files. Responses are kept"
        ) from error
