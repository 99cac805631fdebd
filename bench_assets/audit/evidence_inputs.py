"""Inputs of the audit: cached image hashes, and the models' training data.

Training data is given as folders of images, lists of digests, or files of texts.
"""

import json
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from bench_assets.audit.framework.evidence import TrainingEntry
from bench_assets.core.images.decoding import decode
from bench_assets.core.images.level_range import level_range
from bench_assets.core.images.near_duplicates import image_hash
from bench_assets.core.schema.errors import HomeError, ImageError, SettingsError, SourceError
from bench_resources.config.bench_toml import Settings
from bench_resources.images.store import ImageStore
from bench_resources.storage.atomic_write import open_atomic
from bench_resources.storage.file_digests import iter_texts

HASHES_FILE = "looks.json"
"""File of cached image hashes, beside the folder of images."""

_THREADS = 4  # images decoded at once
_SHA256_LENGTH = 64  # hexadecimal digits of a SHA-256 digest
_HASH_LENGTH = 16  # hexadecimal digits of an image hash


class ImageFeatures(NamedTuple):
    """Perceptual hash of an image, and the range of its levels, of 255."""

    hash: str  # 16 hexadecimal digits
    range: int


def image_features(store: ImageStore, images: Iterable[str]) -> dict[str, ImageFeatures]:
    """Hashes and ranges by SHA-256, of images that decode; cached in a file beside the store."""
    file = Path(store.folder).with_name(HASHES_FILE)
    cached = _read_cache(file)
    distinct = list(dict.fromkeys(images))
    existing = store.place.sizes(distinct)
    available = [image for image in distinct if image in existing]
    missing = [image for image in available if image not in cached]
    with ThreadPoolExecutor(_THREADS) as threads:
        computed = list(threads.map(partial(_compute_features, store), missing))
    new = {image: row for image, row in zip(missing, computed, strict=True) if row}
    if new:
        cached |= new
        # The audit does not depend on the cache, so that a full disk does not stop it.
        with suppress(HomeError), open_atomic(file, sync=False) as stream:
            stream.write(json.dumps(cached).encode())
    return {image: cached[image] for image in available if image in cached}


def _compute_features(store: ImageStore, image: str) -> ImageFeatures | None:
    """Features of an image; None if it is missing or does not decode."""
    try:
        decoded = store.open(image)
    except ImageError:
        return None
    return ImageFeatures(image_hash(decoded), level_range(decoded))


def _read_cache(file: Path) -> dict[str, ImageFeatures]:
    """Read the cached features; {} if the file is missing or damaged."""
    try:
        return {
            image: ImageFeatures(hash_digits, int(levels))
            for image, (hash_digits, levels) in json.loads(file.read_bytes()).items()
        }
    except (OSError, ValueError, RecursionError, TypeError, AttributeError):
        return {}


_IMAGE_SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif"}
_TEXT_SUFFIXES = {".jsonl", ".json", ".txt", ".md"}
_DIGEST = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{16})\b", re.IGNORECASE)


class _ImageFile(NamedTuple):
    digest: TrainingEntry
    image_hash: TrainingEntry | None  # None: the file does not decode


@dataclass(frozen=True)
class TrainingFiles:
    """Training files; images and listed digests are read once, texts at each call."""

    files: Sequence[Path]

    def images(self) -> Iterator[TrainingEntry]:
        """Iterate over SHA-256 of images, listed ones and those of files."""
        yield from (entry for entry in self._listed if len(entry.content) == _SHA256_LENGTH)
        yield from (file.digest for file in self._image_files)

    def image_hashes(self) -> Iterator[TrainingEntry]:
        """Iterate over image hashes, listed ones and those of files."""
        yield from (entry for entry in self._listed if len(entry.content) == _HASH_LENGTH)
        yield from (file.image_hash for file in self._image_files if file.image_hash)

    def texts(self) -> Iterator[TrainingEntry]:
        """Iterate over texts: lines of text files, strings in JSON and JSON lines."""
        for file in self.files:
            if file.suffix.lower() in _TEXT_SUFFIXES:
                yield from _texts_in_file(file)

    @cached_property
    def _image_files(self) -> list[_ImageFile]:
        return [_hash_image(file) for file in self.files if file.suffix.lower() in _IMAGE_SUFFIXES]

    @cached_property
    def _listed(self) -> list[TrainingEntry]:
        """SHA-256 and image hashes in the lines of all files but images."""
        return [
            TrainingEntry(f"{file.name}, line {number}", digest.lower())
            for file in self.files
            if file.suffix.lower() not in _IMAGE_SUFFIXES
            for number, line in _lines(file)
            for digest in _DIGEST.findall(line)
        ]


def open_training_data(settings: Settings) -> TrainingFiles | None:
    """Find the files of the training data in bench.toml, or of a command; None without any.

    Raises:
        SettingsError: If one of its files or folders does not exist.
    """
    if not settings.training:
        return None
    for path in settings.training:
        if not path.exists():
            raise SettingsError(f"{settings.file}, [audit], training: {path} does not exist")
    return TrainingFiles([file for path in settings.training for file in _files_below(path)])


def _files_below(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def _hash_image(file: Path) -> _ImageFile:
    with _locate_errors(file):
        data = file.read_bytes()
    digest = TrainingEntry(str(file), sha256(data).hexdigest())
    try:
        decoded = decode(data).image
    except ImageError:
        return _ImageFile(digest, image_hash=None)
    return _ImageFile(digest, TrainingEntry(str(file), image_hash(decoded)))


def _texts_in_file(file: Path) -> Iterator[TrainingEntry]:
    if file.suffix.lower() == ".json":
        yield from _texts_in_json(file.name, "".join(line for _, line in _lines(file)))
        return
    for number, line in _lines(file):
        name = f"{file.name}, line {number}"
        if file.suffix.lower() == ".jsonl":
            yield from _texts_in_json(name, line)
        else:
            yield TrainingEntry(name, line)


def _texts_in_json(name: str, content: str) -> Iterator[TrainingEntry]:
    """Texts in a JSON value; content that is no JSON is one text."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = content
    yield from (TrainingEntry(name, text) for text in iter_texts(value))


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Lines of a file with their numbers, from 1."""
    with _locate_errors(file), file.open(encoding="utf-8-sig", errors="replace") as lines:
        yield from enumerate(lines, 1)


@contextmanager
def _locate_errors(file: Path) -> Generator[None]:
    """Name the file in the error if it cannot be read, for example because it was removed."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"{file}: cannot be read: {error.strerror}") from error
