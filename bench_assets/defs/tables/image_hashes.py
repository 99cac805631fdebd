"""How the images of a home look, remembered: to decode thousands of them takes minutes."""

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from bench_assets.core.images.decoding import header_of
from bench_assets.core.images.near_duplicates import image_hash
from bench_assets.core.schema.errors import HomeError, ImageError
from bench_assets.core.schema.rows import StoredImage
from resources.images.store import ImageStore
from resources.storage.atomic_write import written_aside

FILE = "looks.json"
"""Beside the folder of images."""

_THREADS = 4  # images that are decoded at once


def looks_of(store: ImageStore, images: Iterable[str]) -> Mapping[str, str]:
    """SHA-256 -> how an image looks, of those that decode; each is decoded once in a home."""
    file = Path(store.folder).with_name(FILE)
    known = _read(file)
    shown = list(dict.fromkeys(images))
    there = store.place.sizes(shown)
    wanted = [image for image in shown if image in there]
    missing = [image for image in wanted if image not in known]
    with ThreadPoolExecutor(_THREADS) as threads:
        found = zip(missing, threads.map(lambda image: _look(store, image), missing), strict=True)
        new = {image: look for image, look in found if look}
    if new:
        known |= new
        with suppress(HomeError), written_aside(file, sync=False) as written:  # a full disk, say
            written.write(json.dumps(known).encode())
    return {image: known[image] for image in wanted if image in known}


def files_of(store: ImageStore, images: Iterable[str]) -> dict[str, StoredImage]:
    """SHA-256 -> what the file of an image is; its name is not known here."""
    found = {}
    for image in images:
        with suppress(ImageError):
            data = store.read(image)
            seen = header_of(data, store.max_pixels)
            found[image] = StoredImage(
                name="",
                sha256=image,
                format=seen.format,
                width=seen.width,
                height=seen.height,
                n_bytes=len(data),
            )
    return found


def _look(store: ImageStore, image: str) -> str:
    try:
        return image_hash(store.open(image))
    except ImageError:
        return ""


def _read(file: Path) -> dict[str, str]:
    """What was remembered; nothing where the file is not there, or damaged."""
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return (
        {str(image): str(look) for image, look in found.items()} if isinstance(found, dict) else {}
    )
