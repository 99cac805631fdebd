"""The image store: every image once, with unchanged bytes, under their digest."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg
from PIL import Image

from bench_assets.core.images.decoding import MAX_PIXELS, decode
from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import Rejection, StoredImage
from bench_resources.config.bench_toml import Settings
from bench_resources.images.locations import KIND, ImageFolder, ImageLocation, ObjectImages
from bench_resources.storage.blobs.files import shared_folder

MAX_BYTES = 64 * 2**20  # bytes of an image

_log = logging.getLogger("bench_assets.images")
_THREADS = 8  # images decoded at once; each takes memory for all its pixels


class ImageImport(NamedTuple):
    """The stored images, and the rejected ones with reasons."""

    images: list[StoredImage]
    rejections: list[Rejection]


class ImageStore(dg.ConfigurableResource[Any]):
    """Images named by the SHA-256 of their bytes: files of a folder, or objects.

    ``put`` accepts only images that decode and are within the limits; ``read`` verifies the digest.
    """

    folder: str
    """Folder of the files; with ``objects``, of the local cache."""
    objects: str = ""
    """Address of the shared object store, as in [storage]; "": files of the folder."""
    endpoint: str = ""
    max_pixels: int = MAX_PIXELS
    max_bytes: int = MAX_BYTES

    def put_files(self, files: Mapping[str, Path], entry: str = "images/") -> ImageImport:
        """Store images by name, in parallel; an invalid one becomes a rejection below ``entry``."""

        def put_or_reject(name: str) -> StoredImage | Rejection:
            try:
                return self.put_file(files[name], name)
            except ImageError as error:
                reason = str(error).removeprefix(f"{files[name]}: ")
                return Rejection(entry=f"{entry}{name}", reason=reason)

        with ThreadPoolExecutor(_THREADS) as threads:
            results = list(threads.map(put_or_reject, files))
        return ImageImport(
            [result for result in results if isinstance(result, StoredImage)],
            [result for result in results if isinstance(result, Rejection)],
        )

    def put_file(self, path: Path, name: str = "") -> StoredImage:
        """Store an image file under a name, by default its own.

        Raises:
            ImageError: As ``put``; also if the file cannot be read.
        """
        try:
            if path.exists() and not path.is_file():
                raise ImageError(f"{path}: a folder or a device, not a file")
            size = path.stat().st_size
            if size > self.max_bytes:
                raise ImageError(f"{path}: {size} bytes, more than the {self.max_bytes} allowed")
            data = path.read_bytes()
        except OSError as error:
            raise ImageError(f"{path}: cannot be read: {error.strerror}") from error
        try:
            return self.put(data, name or path.name)
        except ImageError as error:
            raise ImageError(f"{path}: {error}") from error

    def put(self, data: bytes, name: str) -> StoredImage:
        """Store an image, bytes unchanged.

        Raises:
            ImageError: If it does not decode, or has more pixels or bytes than allowed.
        """
        image = inspect_image(data, name, self.max_pixels, self.max_bytes)
        self.place.write(image.sha256, data)
        return image

    def inspect_stored(self, digests: Iterable[str]) -> list[StoredImage]:
        """Size, format and orientation of stored images; logs missing and damaged ones instead."""
        images = []
        for digest in digests:
            try:
                data = self.read(digest)
                images.append(inspect_image(data, digest, self.max_pixels, self.max_bytes))
            except ImageError as error:
                _log.warning("%s", error)
        return images

    def read(self, digest: str) -> bytes:
        """Read the original bytes of an image.

        Raises:
            ImageError: If the store has no such image, or it is damaged.
        """
        return self.place.read(digest)

    def open(self, digest: str) -> Image.Image:
        """Decode an image of the store as every model sees it (``core.images``).

        Raises:
            ImageError: If the store has no such image, or it does not decode any more.
        """
        data = self.read(digest)
        try:
            return decode(data, self.max_pixels).image
        except ImageError as error:
            raise ImageError(f"image {digest} in {self.place.name}: {error}") from error

    def open_if_whole(self, digest: str) -> Image.Image | None:
        """Decode an image as ``open`` does; None if that fails, with a warning in the log."""
        try:
            return self.open(digest)
        except ImageError as error:
            _log.warning("%s", error)
            return None

    @property
    def place(self) -> ImageLocation:
        """Location of the images, for other processes: stores do not pickle."""
        if not self.objects:
            return ImageFolder(self.folder)
        return ObjectImages(objects=self.objects, endpoint=self.endpoint, fetched=self.folder)


def inspect_image(data: bytes, name: str, max_pixels: int, max_bytes: int) -> StoredImage:
    """Decode an image before it is stored, and return its size, format and orientation.

    Raises:
        ImageError: If it does not decode, or has more pixels or bytes than allowed.
    """
    if len(data) > max_bytes:
        raise ImageError(f"{len(data)} bytes, more than the {max_bytes} allowed")
    digest = sha256(data).hexdigest()
    decoded = decode(data, max_pixels)
    return StoredImage(
        name=name,
        sha256=digest,
        format=decoded.format,
        width=decoded.width,
        height=decoded.height,
        n_bytes=len(data),
        orientation=decoded.orientation,
    )


def damaged_images(place: ImageLocation, digests: Sequence[str]) -> dict[str, str]:
    """Read images in parallel; returns the error of each missing or damaged one, by digest."""

    def read_error(digest: str) -> str:
        try:
            place.read(digest, bypass_cache=True)
        except ImageError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(_THREADS) as threads:
        errors = zip(digests, threads.map(read_error, digests), strict=True)
        return {digest: error for digest, error in errors if error}


def open_image_store(settings: Settings) -> ImageStore:
    """Open the image store of a home, without a request to a shared one."""
    storage = settings.storage
    if not storage.objects:
        return ImageStore(folder=str(settings.home / KIND))
    if folder := shared_folder(storage.objects):
        return ImageStore(folder=str(folder / KIND))
    return ImageStore(
        folder=str(settings.resolve(storage.cache) / KIND),
        objects=storage.objects,
        endpoint=storage.endpoint,
    )
