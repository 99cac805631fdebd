"""Acquisition: puts what a gallery finds into a folder, ready for annotators (section 3.1)."""

import json
import random
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from bench_assets.core.tables.arrow import to_json
from bench_assets.suites.journeybench.raw_material import GalleryImage
from resources.http.allowed_hosts import HostPolicy
from resources.images.download import ImageDownloadLimits, download_images
from resources.images.gallery import GalleryHit, HttpGallery


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquiredImage:
    """An image that a gallery found, and what became of it."""

    image: str  # its file name in images/
    query: str  # the first that found it
    prompt: str
    url: str
    error: str  # why it is not there; "" if it is


def acquire(
    gallery: HttpGallery, queries: Iterable[str], folder: Path, polite: ImageDownloadLimits
) -> list[AcquiredImage]:
    """Search for every query, fetch each image once, and write ``gallery.jsonl`` beside them.

    What was fetched before is not fetched again. The folder becomes a source of the built route
    when annotators have put their votes and captions into it.

    Args:
        gallery: Where to search.
        queries: Topic words with attribute words.
        folder: Gets ``gallery.jsonl`` and ``images/``.
        polite: Limits of the downloads.
    """
    found: dict[str, GalleryHit] = {}
    for query in queries:
        for image in gallery.search(query):
            found.setdefault(image.image_id, image)
    urls = [image.url for image in found.values()]
    hosts = HostPolicy.typed_by_user(gallery.address)
    arrived = download_images(urls, folder / "fetched", polite, random.Random(0), hosts=hosts)
    fetched = {row.url: row for row in arrived}
    (folder / "images").mkdir(parents=True, exist_ok=True)
    rows = []
    for image in found.values():
        row, name = fetched[image.url], f"{quote(image.image_id, safe='')}.png"
        if not row.error:
            shutil.copyfile(folder / "fetched" / row.file, folder / "images" / name)
        rows.append(
            AcquiredImage(
                image=name,
                query=image.query,
                prompt=image.prompt,
                url=image.url,
                error=row.error,
            )
        )
    _write_gallery(folder / "gallery.jsonl", rows)
    return rows


def _write_gallery(file: Path, rows: Iterable[AcquiredImage]) -> None:
    lines = [
        json.dumps(
            to_json(GalleryImage(image=row.image, query=row.query, prompt=row.prompt)),
            ensure_ascii=False,
        )
        for row in rows
        if not row.error
    ]
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    unfinished.replace(file)
