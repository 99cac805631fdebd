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

SMALL = 320  # px, the longest side
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
        self._images = image_store
        self._brought: dict[str, ReportImage | None] = {}
        self.problems: dict[str, str] = {}
        """Errors of images that could not be copied, by digest."""

    def bring(self, digests: Iterable[str]) -> dict[str, ReportImage | None]:
        """Copy images into the report; a damaged image is logged, and its result is None."""
        wanted = list(dict.fromkeys(digests))
        new = [digest for digest in wanted if digest not in self._brought]
        with ThreadPoolExecutor(_THREADS) as threads:
            self._brought.update(zip(new, threads.map(self._bring, new), strict=True))
        return {digest: self._brought[digest] for digest in wanted}

    def keep(self, digests: Iterable[str]) -> bool:
        """Keep images that an earlier report copied; False, and keeps none, if one is missing."""
        copies = {digest: self._copy_of(digest) for digest in digests}
        if not all(copies.values()):
            return False
        self._brought.update(copies)
        return True

    def delete_unused(self) -> None:
        """Delete unused images."""
        wanted = {name for names in self._brought.values() if names for name in names}
        for file in (self._folder / "images").glob("*/*"):
            if file.relative_to(self._folder).as_posix() not in wanted:
                file.unlink()

    def _bring(self, digest: str) -> ReportImage | None:
        try:
            if existing := self._copy_of(digest):
                return existing
            data = self._images.read(digest)
            decoded = decode(data, self._images.max_pixels).image
            plain = is_plain(data, self._images.max_pixels, in_browser=True)
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

    def _copy_of(self, digest: str) -> ReportImage | None:
        for suffix in ("jpg", "png"):
            image = _report_image(digest, suffix)
            if (self._folder / image.full).exists():
                return image if (self._folder / image.small).exists() else None
        return None

    def _link(self, digest: str, name: str, data: bytes) -> None:
        path = self._folder / name
        with describe_write_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            try:
                os.link(self._images.place.address(digest), path)
            except OSError:  # another disk, no support for links, or an object store
                with open_atomic(path, sync=False) as file:
                    file.write(data)

    def _save(self, image: Image.Image, name: str, kind: str) -> None:
        written = io.BytesIO()
        image.save(written, kind, **({"quality": 75, "method": 0} if kind == "WEBP" else {}))
        with open_atomic(self._folder / name, sync=False) as file:
            file.write(written.getbuffer())


def _report_image(digest: str, suffix: str) -> ReportImage:
    if not (len(digest) == 64 and all(sign in "0123456789abcdef" for sign in digest)):
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
