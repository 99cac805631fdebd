"""Where a home's images are: in a folder of its own, or where its bench.toml says homes share."""

from resources.config.bench_toml import Settings
from resources.images.locations import KIND
from resources.images.store import ImageStore
from resources.storage.blobs.opening import shared_folder

_GIGABYTE = 10**9


def open_image_store(settings: Settings) -> ImageStore:
    """The images of a home; nothing is opened yet."""
    storage = settings.storage
    if not storage.objects:
        return ImageStore(folder=str(settings.home / KIND))
    if folder := shared_folder(storage.objects):
        return ImageStore(folder=str(folder / KIND))
    return ImageStore(
        folder=str(settings.resolve(storage.cache) / KIND),
        objects=storage.objects,
        endpoint=storage.endpoint,
        fetched_bytes=int(storage.cache_gigabytes * _GIGABYTE),
    )
