"""Images of the report, as thumbnail and original, and the licences that forbid sharing them."""

import io
import logging
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from bench_assets.asset_factory.evaluation_tables import questions_key
from bench_assets.catalog import Catalog
from bench_assets.core.images.decoding import decode, is_plain
from bench_assets.core.schema.errors import ImageError, TableError
from bench_assets.core.schema.rows import Question
from bench_resources.images.store import ImageStore
from bench_resources.storage.atomic_write import describe_write_errors, open_atomic
from bench_resources.tables.parquet import TableFiles, read_columns

SMALL = 320  # px, longest side of an image's small copy
_JPEG_START = b"\xff\xd8"
_THREADS = 4  # images copied at once
_log = logging.getLogger("bench_assets.report")


class ReportImage(NamedTuple):
    """Path of an image in the report, relative to its page."""

    full: str  # "images/ab/ab12....png"
    small: str  # "images/ab/ab12...-small.webp": at most SMALL px


class Images:
    """The folder ``images`` of a report."""

    def __init__(self, folder: Path, image_store: ImageStore) -> None:
        self._folder = folder
        self._image_store = image_store
        self._copies: dict[str, ReportImage | None] = {}
        self.problems: dict[str, str] = {}
        """Errors of images that could not be copied, by digest."""

    def copy(self, digests: Iterable[str]) -> dict[str, ReportImage | None]:
        """Copy images into the report; a damaged image is logged, and its result is None."""
        unique = list(dict.fromkeys(digests))
        new = [digest for digest in unique if digest not in self._copies]
        with ThreadPoolExecutor(_THREADS) as threads:
            self._copies.update(zip(new, threads.map(self._copy, new), strict=True))
        return {digest: self._copies[digest] for digest in unique}

    def keep(self, digests: Iterable[str]) -> bool:
        """Keep an earlier report's copies; if one is missing, keep none, and return False."""
        copies = {digest: self._existing_copy(digest) for digest in digests}
        if not all(copies.values()):
            return False
        self._copies.update(copies)
        return True

    def delete_unused(self) -> None:
        """Delete images that were neither copied nor kept."""
        used_paths = {path for image in self._copies.values() if image for path in image}
        for file in (self._folder / "images").glob("*/*"):
            if file.relative_to(self._folder).as_posix() not in used_paths:
                file.unlink()

    def _copy(self, digest: str) -> ReportImage | None:
        """Copy an image and write its thumbnail; None, and a problem, if it is unusable."""
        try:
            if existing := self._existing_copy(digest):
                return existing
            data = self._image_store.read(digest)
            decoded = decode(data, self._image_store.max_pixels).image
            plain = is_plain(data, self._image_store.max_pixels, in_browser=True)
        except ImageError as error:
            _log.warning("%s", error)
            self.problems[digest] = str(error)
            return None
        is_jpeg = plain and data.startswith(_JPEG_START)
        image = _report_image(digest, "jpg" if is_jpeg else "png")
        if plain:
            self._link(digest, image.full, data)
        else:  # browsers cannot show it, or not as models saw it
            self._save(decoded, image.full, "PNG")
        small = decoded.copy()
        small.thumbnail((SMALL, SMALL), Image.Resampling.BILINEAR, reducing_gap=2.0)
        self._save(small, image.small, "WEBP")  # last, so that its presence implies the other one's
        return image

    def _existing_copy(self, digest: str) -> ReportImage | None:
        """The image in the report; None if it or its thumbnail is missing."""
        for suffix in ("jpg", "png"):
            image = _report_image(digest, suffix)
            if (self._folder / image.full).exists():
                return image if (self._folder / image.small).exists() else None
        return None

    def _link(self, digest: str, name: str, data: bytes) -> None:
        """Link to the image in the store, or copy it."""
        path = self._folder / name
        with describe_write_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            try:
                os.link(self._image_store.place.address(digest), path)
            except OSError:  # another disk, no support for links, or an object store
                with open_atomic(path, sync=False) as file:
                    file.write(data)

    def _save(self, image: Image.Image, name: str, image_format: str) -> None:
        options = {"quality": 75, "method": 0} if image_format == "WEBP" else {}
        buffer = io.BytesIO()
        image.save(buffer, image_format, **options)
        with open_atomic(self._folder / name, sync=False) as file:
            file.write(buffer.getbuffer())


def _report_image(digest: str, suffix: str) -> ReportImage:
    if not (len(digest) == 64 and all(digit in "0123456789abcdef" for digit in digest)):
        raise ImageError(f"not a digest of an image: {digest!r}")
    stem = f"images/{digest[:2]}/{digest}"
    return ReportImage(f"{stem}.{suffix}", f"{stem}-small.webp")


def restricted_suites(tables: TableFiles, catalog: Catalog) -> list[str]:
    """Suites in the report whose licence forbids sharing their data.

    These are suites that have to be downloaded by hand (``Suite.by_hand``), if their questions were
    built from such files; the synthetic mini editions may be shared.
    """
    return [
        suite.name
        for suite in catalog.suites
        if suite.by_hand
        and any(_is_released(tables, questions_key(task, "main")) for task in suite.tasks)
    ]


def _is_released(tables: TableFiles, key: list[str]) -> bool:
    try:
        editions = read_columns(tables, key, Question, names=("edition",))["edition"]
    except TableError:  # no table, or an unreadable one, which is not shown
        return False
    return any(edition != "mini" for edition in editions)
