"""Inputs of the audit: cached image hashes, and the models' training data.

Training data is given as folders of images, lists of digests, or files of texts.
"""

import json
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from bench_assets.audit.framework.evidence import TrainingMatch
from bench_assets.core.images.decoding import decode, read_header
from bench_assets.core.images.level_range import level_range
from bench_assets.core.images.near_duplicates import image_hash
from bench_assets.core.schema.errors import HomeError, ImageError, SettingsError, SourceError
from bench_assets.core.schema.rows import StoredImage
from bench_resources.config.bench_toml import Settings
from bench_resources.images.store import ImageStore
from bench_resources.storage.atomic_write import open_atomic
from bench_resources.storage.file_digests import iter_texts

HASHES_FILE = "looks.json"
"""File of cached image hashes, beside the folder of images."""

_THREADS = 4  # images decoded at once


class ImageFeatures(NamedTuple):
    """Perceptual hash of an image, and the range of its levels."""

    hash: str  # 16 hexadecimal digits
    range: int


def image_features(store: ImageStore, images: Iterable[str]) -> dict[str, ImageFeatures]:
    """Hashes and ranges by SHA-256, for images that decode; cached in the home."""
    file = Path(store.folder).with_name(HASHES_FILE)
    known = _read(file)
    distinct = list(dict.fromkeys(images))
    existing = store.place.sizes(distinct)
    wanted = [image for image in distinct if image in existing]
    missing = [image for image in wanted if image not in known]
    with ThreadPoolExecutor(_THREADS) as threads:
        computed = zip(
            missing,
            threads.map(lambda image: _compute_features(store, image), missing),
            strict=True,
        )
        new = {image: features for image, features in computed if features}
    if new:
        known |= new
        with suppress(HomeError), open_atomic(file, sync=False) as written:  # a full disk, say
            written.write(json.dumps(known).encode())
    return {image: known[image] for image in wanted if image in known}


def files_of(store: ImageStore, images: Iterable[str]) -> dict[str, StoredImage]:
    """Types and sizes of image files by SHA-256; file names are unknown here."""
    files = {}
    for image in images:
        with suppress(ImageError):
            data = store.read(image)
            header = read_header(data, store.max_pixels)
            files[image] = StoredImage(
                name="",
                sha256=image,
                format=header.format,
                width=header.width,
                height=header.height,
                n_bytes=len(data),
                orientation=header.orientation,
            )
    return files


def _compute_features(store: ImageStore, image: str) -> ImageFeatures | None:
    try:
        decoded = store.open(image)
    except ImageError:
        return None
    return ImageFeatures(image_hash(decoded), level_range(decoded))


def _read(file: Path) -> dict[str, ImageFeatures]:
    """Read the stored hashes; {} if the file is missing or damaged."""
    try:
        return {
            image: ImageFeatures(look, int(spread))
            for image, (look, spread) in json.loads(file.read_bytes()).items()
        }
    except (OSError, ValueError, RecursionError, TypeError, AttributeError):
        return {}


_IMAGES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif"}
_TEXTS = {".jsonl", ".json", ".txt", ".md"}
_DIGEST = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{16})\b", re.IGNORECASE)


@dataclass(frozen=True)
class TrainingFiles:
    """Training files: images are hashed once, texts are read each time."""

    files: Sequence[Path]

    def images(self) -> Iterator[TrainingMatch]:
        """Digests of images."""
        yield from (listed for listed in self._listed if len(listed.content) == 64)
        yield from (digest for digest, _ in self._images)

    def image_hashes(self) -> Iterator[TrainingMatch]:
        """Image hashes."""
        yield from (listed for listed in self._listed if len(listed.content) == 16)
        yield from (look for _, look in self._images if look.content)

    def texts(self) -> Iterator[TrainingMatch]:
        """Iterate over texts: every line of a text file, every string in a line of JSON."""
        for file in self.files:
            if file.suffix.lower() in _TEXTS:
                yield from _texts(file)

    @cached_property
    def _images(self) -> list[tuple[TrainingMatch, TrainingMatch]]:
        return [_digest_image(file) for file in self.files if file.suffix.lower() in _IMAGES]

    @cached_property
    def _listed(self) -> list[TrainingMatch]:
        """Digests listed in text files."""
        return [
            TrainingMatch(f"{file.name}, line {number}", digest.lower())
            for file in self.files
            if file.suffix.lower() not in _IMAGES
            for number, line in _lines(file)
            for digest in _DIGEST.findall(line)
        ]


def open_training_data(settings: Settings) -> TrainingFiles | None:
    """Find the training data that bench.toml or a command names; None without a name.

    Raises:
        SettingsError: If it does not exist.
    """
    if not settings.training:
        return None
    if absent := [path for path in settings.training if not path.exists()]:
        raise SettingsError(f"{settings.file}, [audit], training: {absent[0]} does not exist")
    every = [file for path in settings.training for file in _files_below(path)]
    return TrainingFiles(every)


def _files_below(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def _digest_image(file: Path) -> tuple[TrainingMatch, TrainingMatch]:
    """Digest and hashes of an image; no hashes if it does not decode."""
    with _locate_errors(file):
        data = file.read_bytes()
    try:
        look = image_hash(decode(data).image)
    except ImageError:
        look = ""
    return TrainingMatch(str(file), sha256(data).hexdigest()), TrainingMatch(str(file), look)


def _texts(file: Path) -> Iterator[TrainingMatch]:
    if file.suffix.lower() == ".json":
        yield from _texts_of(file.name, "".join(line for _, line in _lines(file)))
        return
    for number, line in _lines(file):
        name = f"{file.name}, line {number}"
        if file.suffix.lower() == ".jsonl":
            yield from _texts_of(name, line)
        else:
            yield TrainingMatch(name, line)


def _texts_of(name: str, written: str) -> Iterator[TrainingMatch]:
    """Texts in a JSON value; any other content is one text."""
    try:
        texts = json.loads(written)
    except (ValueError, RecursionError):
        texts = written
    yield from (TrainingMatch(name, text) for text in iter_texts(texts))


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    with _locate_errors(file), file.open(encoding="utf-8-sig", errors="replace") as lines:
        yield from enumerate(lines, 1)


@contextmanager
def _locate_errors(file: Path) -> Generator[None]:
    """Name a file of training data that cannot be read, such as one that was removed since."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"{file}: cannot be read: {error.strerror}") from error
