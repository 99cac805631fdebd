"""Opens the blob store of a home."""

from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bench_assets.core.extras import require_extra
from bench_assets.core.schema.errors import SettingsError
from bench_resources.storage.blobs.files import FileBlobs
from bench_resources.storage.blobs.objects import ObjectBlobs
from bench_resources.storage.blobs.port import Blobs


def open_blobs(
    home: Path, below: str, objects: str = "", endpoint: str = "", place: str = ""
) -> Blobs:
    """Open one kind of a home's blobs.

    Args:
        home: The home folder.
        below: Kind: "tables", "images" or "export"; a folder of the home or of the shared store.
        objects: ``[storage] objects``; "": nothing is shared.
        endpoint: ``[storage] endpoint``.
        place: ``objects`` without keys, for messages.

    Raises:
        SettingsError: If obstore is not installed, or the address is invalid.
        HomeError: If the store cannot be reached or has no conditional puts.
    """
    if folder := shared_folder(objects) if objects else home:
        return FileBlobs(folder / below)
    place = place or objects
    _require_conditional_puts(objects, endpoint, place)
    return _open_objects(f"{objects.rstrip('/')}/{below}", endpoint, f"{place.rstrip('/')}/{below}")


def shared_folder(objects: str) -> Path | None:
    """Folder of an address ``file:///...``; None for an object store."""
    address = urlsplit(objects)
    return Path(unquote(address.path)) if address.scheme == "file" else None


@cache
def _require_conditional_puts(objects: str, endpoint: str, place: str) -> None:
    """Verify once per process."""
    _open_objects(objects.rstrip("/"), endpoint, place).require_conditional_puts()


@cache
def _open_objects(address: str, endpoint: str, place: str) -> ObjectBlobs:
    """Open an object store, with credentials from the environment."""
    require_extra("[storage] objects", "obstore")
    from obstore.exceptions import BaseError
    from obstore.store import from_url

    where = {"endpoint": endpoint} if endpoint else {}
    try:
        store = from_url(
            address,
            **where,
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
