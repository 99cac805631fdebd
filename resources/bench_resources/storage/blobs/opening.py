"""Opens the blob store of a home."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from bench_assets.features import hook_of
from bench_resources.storage.blobs.files import FileBlobs
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
    blobs: Blobs = hook_of("object store", "[storage] objects")(objects, endpoint, below, place)
    return blobs


def shared_folder(objects: str) -> Path | None:
    """Folder of an address ``file:///...``; None for an object store."""
    address = urlsplit(objects)
    return Path(unquote(address.path)) if address.scheme == "file" else None
