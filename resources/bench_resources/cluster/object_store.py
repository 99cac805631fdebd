"""Blobs as objects of S3, Google Cloud Storage or Azure, by obstore."""

import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from bench_assets.core.extras import require_extra
from bench_assets.core.schema.errors import HomeError, SettingsError
from bench_resources.storage.blobs.port import BlobEntry, safe_name

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_LOG = logging.getLogger("bench_assets.blobs")

Result = TypeVar("Result")

PATIENCE = 60.0  # s to retry while a store is unreachable or busy
_RETRY_SECONDS = 0.5  # s between two attempts
_PROBE = ".bench-probe"
_PAGE_SIZE = 1000  # objects of one listing

_TRANSIENT = re.compile(
    r"status code: (?:5\d\d|429|408)|HTTP error|timed out|timeout", re.IGNORECASE
)
_DENIED = re.compile(r"status code: 40[13]|lacked (?:valid|the necessary)")
_NO_BUCKET = re.compile(r"status code: 404|not found")
_NO_KEYS = re.compile(r"169\.254\.169\.254|metadata\.google\.internal")  # a cloud's metadata server
_STATUS = re.compile(r"status code: (\d{3}[A-Za-z ]*)")
_CODE = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")
_CAUSE = re.compile(r'message: "([^"\n]{1,120})"')
_CONFLICT = "status code: 409"


class ObjectBlobs:
    """Objects under an address; operations are retried while the store is unreachable."""

    def __init__(self, store: "ObjectStore", place: str, patience: float = PATIENCE) -> None:
        """Wrap a store of obstore without retries; requests are retried for ``patience`` s.

        ``place`` is its address without credentials, for messages.
        """
        self._store, self._place, self._patience = store, place, patience

    @property
    def place(self) -> str:
        """The address."""
        return self._place

    @property
    def folder(self) -> None:
        """None: objects are not files."""
        return

    def named(self, name: str) -> str:
        """Address of the object."""
        return f"{self._place}/{safe_name(name)}"

    def put(self, name: str, data: bytes) -> None:
        """Write an object, replacing an existing one."""
        self._retry(lambda: self._store.put(safe_name(name), data))

    def put_new(self, name: str, data: bytes) -> bool:
        """Write an object unless there is one, by a conditional put.

        A failed attempt may have written the object after all; a retry compares its content.
        """
        from obstore.exceptions import AlreadyExistsError

        n_attempts = 0

        def create() -> bool:
            nonlocal n_attempts
            n_attempts += 1
            try:
                self._store.put(safe_name(name), data, mode="create")
            except AlreadyExistsError as error:
                if _CONFLICT in str(error) and not self.exists(name):
                    raise _BusyError(str(error)) from None  # an earlier object was being deleted
                return n_attempts > 1 and self.get(name) == data
            return True

        return self._retry(create)

    def get(self, name: str) -> bytes | None:
        """Read an object; None if there is none."""

        def read() -> bytes | None:
            try:
                return bytes(self._store.get(safe_name(name)).bytes())
            except FileNotFoundError:
                return None

        return self._retry(read)

    def exists(self, name: str) -> bool:
        """Whether there is such an object."""

        def is_found() -> bool:
            try:
                self._store.head(safe_name(name))
            except FileNotFoundError:
                return False
            return True

        return self._retry(is_found)

    def list(self, under: str = "") -> Iterator[BlobEntry]:
        """Yield the objects after all of them are listed, in requests of a thousand."""

        def list_all() -> "list[BlobEntry]":
            pages = self._store.list(safe_name(under) if under else None, chunk_size=_PAGE_SIZE)
            return sorted(
                BlobEntry(
                    name=metadata["path"],
                    size=metadata["size"],
                    version=metadata["e_tag"] or str(metadata["last_modified"]),
                    at=metadata["last_modified"].timestamp(),
                )
                for page in pages
                for metadata in page
            )

        yield from self._retry(list_all)

    def folders(self, under: str = "") -> Sequence[str]:
        """Sorted names of the folders directly below ``under``."""
        prefix = f"{safe_name(under)}/" if under else None
        listing = self._retry(lambda: self._store.list_with_delimiter(prefix))
        return sorted(path.rstrip("/").rsplit("/", 1)[-1] for path in listing["common_prefixes"])

    def delete(self, name: str) -> bool:
        """Delete an object; concurrent deletes may both return True."""
        if not self.exists(name):
            return False

        def delete_if_present() -> None:
            with suppress(FileNotFoundError):
                self._store.delete(name)

        self._retry(delete_if_present)
        return True

    def _retry(self, work: Callable[[], Result]) -> Result:
        """Run a request, and repeat it for some time while the store is unreachable or busy."""
        from obstore.exceptions import BaseError

        deadline = time.monotonic() + self._patience
        has_warned = False
        while True:
            try:
                return work()
            except (BaseError, _BusyError, OSError) as error:
                failure = _classify_error(error)
                message = f"{self._place}: {failure.summary}"
                if not failure.is_transient or time.monotonic() > deadline:
                    raise failure.error_type(message) from None
                if not has_warned:
                    _LOG.warning("%s; trying for %.0f s", message, self._patience)
                    has_warned = True
                time.sleep(_RETRY_SECONDS)


class _BusyError(Exception):
    """Another operation on the same object is in progress."""


class _DeniedError(HomeError):
    """The credentials do not permit the operation."""


class _Failure(NamedTuple):
    """A failed request, without the full text of its error."""

    summary: str
    is_transient: bool = False  # another attempt may succeed
    error_type: type[HomeError] = HomeError  # to raise


def _classify_error(error: Exception) -> _Failure:
    text, _, details = str(error).partition("\n")
    matches = [pattern.search(text) for pattern in (_STATUS, _CODE)]
    status = "; ".join(match[1].strip() for match in matches if match)
    if _NO_KEYS.search(text):
        return _Failure(
            "no credentials in the environment (such as AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)"
        )
    if isinstance(error, _BusyError):
        return _Failure("busy with the same object", is_transient=True)
    if _TRANSIENT.search(text):
        causes = _CAUSE.findall(details) or ["no answer"]
        return _Failure(f"cannot be reached ({status or causes[-1]})", is_transient=True)
    if _DENIED.search(text):
        summary = (
            f"access denied ({status}). Set other credentials in the environment, or grant these"
            " read and write access"
        )
        return _Failure(summary, error_type=_DeniedError)
    if _NO_BUCKET.search(text):
        return _Failure(f"there is no such bucket ({status})")
    return _Failure(f"refused ({status or type(error).__name__})")


def open_object_blobs(objects: str, endpoint: str, folder: str, place: str) -> ObjectBlobs:
    """Open a folder of an object store, see ``storage.blobs.files.open_blobs``.

    Raises:
        SettingsError: If obstore is not installed, or the address is invalid.
        HomeError: If the store cannot be reached or has no conditional puts.
    """
    _require_conditional_puts(objects, endpoint, place)
    return _open(f"{objects.rstrip('/')}/{folder}", endpoint, f"{place.rstrip('/')}/{folder}")


@cache
def _require_conditional_puts(objects: str, endpoint: str, place: str) -> None:
    """Verify, once per process, that the store refuses to create an object twice.

    Otherwise, of concurrent writers all would succeed. Without permission to write, nothing is
    verified.
    """
    blobs = _open(objects.rstrip("/"), endpoint, place)
    try:
        is_overwritten = blobs.put_new(_PROBE, b"first") and blobs.put_new(_PROBE, b"second")
    except _DeniedError:
        return
    if is_overwritten:
        raise HomeError(
            f"{place}: the store overwrites an existing object in spite of a conditional put"
            " (If-None-Match). Concurrent writes would be lost. Use another store"
        )


@cache
def _open(address: str, endpoint: str, place: str) -> ObjectBlobs:
    """Open an object store, with credentials from the environment."""
    require_extra("[storage] objects", "obstore")
    from obstore.exceptions import BaseError
    from obstore.store import from_url

    options = {"endpoint": endpoint} if endpoint else {}
    try:
        store = from_url(
            address,
            **options,
            client_options={
                "allow_http": endpoint.startswith("http:"),
                "connect_timeout": "5s",
                "timeout": "60s",
            },
            retry_config={"max_retries": 0},  # ``ObjectBlobs`` retries, and logs it
        )
    except BaseError as error:
        cause = str(error).split("\n")[0].replace(address, place)
        raise SettingsError(f"[storage] objects, {place}: {cause}") from None
    return ObjectBlobs(store, place)
