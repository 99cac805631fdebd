"""Where a home's pictures are: in a folder of its own, or where its bench.toml says homes share."""

from resources.blobs.opening import shared_folder
from resources.pictures.images import ImageStore
from resources.pictures.places import KIND
from resources.settings.bench_toml import Settings

_GIGABYTE = 10**9


def images_of(settings: Settings) -> ImageStore:
    """The pictures of a home; nothing is opened yet."""
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
