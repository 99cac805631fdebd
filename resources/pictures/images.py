"""The image store: every picture once, under the digest of its bytes, exactly as it came."""

import io
import tempfile
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg
from PIL import Image, UnidentifiedImageError

from bench_assets.core.errors import ImageError
from bench_assets.core.rows import Rejection, StoredImage

MAX_PIXELS = 100_000_000
MAX_BYTES = 64 * 2**20
_THREADS = 8  # pictures that are decoded at once; each may take as much memory as it has pixels


class StoredFiles(NamedTuple):
    """The pictures that are stored now, and why the others are not."""

    images: list[StoredImage]
    rejections: list[Rejection]


class ImageStore(dg.ConfigurableResource[Any]):
    """A folder of pictures named by the SHA-256 of their bytes.

    Pictures are checked once, on the way in: they decode, and are no larger than the limits.
    """

    folder: str
    max_pixels: int = MAX_PIXELS
    max_bytes: int = MAX_BYTES

    def put_files(self, files: Mapping[str, Path], entry: str = "images/") -> StoredFiles:
        """Store picture files by name, several at a time; those that are none do not end the rest.

        Args:
            files: By the name that the source knows the picture by.
            entry: What stands before the name in a rejection.
        """

        def stored(name: str) -> StoredImage | Rejection:
            try:
                return self.put_file(files[name], name)
            except ImageError as why:
                reason = str(why).removeprefix(f"{files[name]}: ")
                return Rejection(entry=f"{entry}{name}", reason=reason)

        with ThreadPoolExecutor(_THREADS) as threads:
            results = list(threads.map(stored, files))
        return StoredFiles(
            [result for result in results if isinstance(result, StoredImage)],
            [result for result in results if isinstance(result, Rejection)],
        )

    def put_file(self, path: Path, name: str = "") -> StoredImage:
        """Store a picture file.

        Raises:
            ImageError: As ``put``; also if there is no such file.
        """
        try:
            if (size := path.stat().st_size) > self.max_bytes:
                raise ImageError(f"{path}: {size} bytes, more than the {self.max_bytes} allowed")
            data = path.read_bytes()
        except OSError as why:
            raise ImageError(f"{path}: cannot be read: {why.strerror}") from why
        try:
            return self.put(data, name or path.name)
        except ImageError as why:
            raise ImageError(f"{path}: {why}") from why

    def put(self, data: bytes, name: str) -> StoredImage:
        """Store a picture, bytes unchanged.

        Raises:
            ImageError: If it does not decode, or has more pixels or bytes than allowed.
        """
        if len(data) > self.max_bytes:
            raise ImageError(f"{len(data)} bytes, more than the {self.max_bytes} allowed")
        digest = sha256(data).hexdigest()
        image_format, width, height = self._decode(data)
        path = self.path(digest)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as unfinished:
                unfinished.write(data)
            Path(unfinished.name).replace(path)
        return StoredImage(
            name=name,
            sha256=digest,
            format=image_format,
            width=width,
            height=height,
            n_bytes=len(data),
        )

    def read(self, digest: str) -> bytes:
        """Read the original bytes of a picture.

        Raises:
            ImageError: If the store has no such picture.
        """
        return read_picture(self.folder, digest)

    def open(self, digest: str) -> Image.Image:
        """Decode a picture of the store as RGB.

        Raises:
            ImageError: If the store has no such picture, or it does not decode any more.
        """
        data = self.read(digest)
        try:
            with Image.open(io.BytesIO(data)) as image:
                return image.convert("RGB")
        except (OSError, ValueError) as why:
            raise ImageError(f"picture {digest} in {self.folder} does not decode: {why}") from why

    def path(self, digest: str) -> Path:
        """Where a picture lies; it may not be there yet."""
        return _path(self.folder, digest)

    def _decode(self, data: bytes) -> tuple[str, int, int]:
        try:
            with warnings.catch_warnings():
                # Ours is the limit, below; Pillow's own warns about what is allowed here.
                warnings.simplefilter("ignore", Image.DecompressionBombWarning)
                with Image.open(io.BytesIO(data)) as image:
                    width, height = image.size
                    if width * height > self.max_pixels:
                        raise ImageError(
                            f"{width} x {height} px, more than the {self.max_pixels} px allowed"
                        )
                    image.load()
                    return str(image.format), width, height
        except Image.DecompressionBombError as why:
            raise ImageError(f"more than the {self.max_pixels} px allowed") from why
        except UnidentifiedImageError as why:
            raise ImageError("not a picture in any known format") from why
        except (OSError, ValueError, SyntaxError) as why:
            raise ImageError(f"does not decode: {why}") from why


def read_picture(folder: str, digest: str) -> bytes:
    """Read a picture as ``ImageStore.read`` does, for other processes: stores do not pickle.

    Raises:
        ImageError: If there is no such picture.
    """
    try:
        return _path(folder, digest).read_bytes()
    except FileNotFoundError as why:
        raise ImageError(f"no picture {digest} in {folder}") from why


def _path(folder: str, digest: str) -> Path:
    return Path(folder, digest[:2], digest)
