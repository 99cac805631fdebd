"""Stores the images of rows, each once, and resolves references to images of other rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.schema.rows import StoredImage
from bench_assets.file_benchmarks.columns import cells_of, text_of
from bench_assets.file_benchmarks.images import (
    Folder,
    Image,
    RowReference,
    first_missing_position,
    has_image,
    images_of,
)
from bench_assets.file_benchmarks.row_files import Row
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings

StoreImage: TypeAlias = Callable[[Image, str], StoredImage]

_OPTIONAL = 'If that is meant, set images = "optional"'
_ROTATED_ORIENTATIONS = range(5, 9)  # EXIF orientations that exchange width and height


class ShownImage(NamedTuple):
    """An image of a question, with its size as shown."""

    sha256: str
    width: int  # px
    height: int  # px


class RowImages:
    """The images of the rows of a file."""

    def __init__(
        self,
        store: StoreImage,
        folder: Path,
        benchmark: FileBenchmarkSettings,
        read_rows: Callable[[], Iterator[Row]],
    ) -> None:
        """Start without images.

        Args:
            store: Puts an image into the image store, under a name.
            folder: Root folder of paths.
            benchmark: Settings of the file.
            read_rows: Reads the file again; called only if a row refers to the image of another.
        """
        self.stored: list[StoredImage] = []
        self._folder = Folder(folder)
        self._root = folder.resolve()
        self._store, self._benchmark, self._read_rows = store, benchmark, read_rows
        self._by_path: dict[str, ShownImage] = {}
        self._by_digest: dict[str, ShownImage] = {}
        self._by_row: dict[str, ShownImage] | None = None

    def store_row(self, cells: Mapping[str, object], where: str) -> list[ShownImage]:
        """Store the images of a row.

        Raises:
            SourceError: If a cell is not an image, or an image is missing; says why.
            ImageError: If an image does not decode.
        """
        image_cells = cells_of(dict(cells), self._benchmark, "images")
        images = images_of(image_cells, self._folder)
        if self._benchmark.images != "optional":
            self._require_image(image_cells)
        return [
            self._image_of_row(image)
            if isinstance(image, RowReference)
            else self._store_once(image, f"{where}, image {number}")
            for number, image in enumerate(images, 1)
        ]

    def _require_image(self, cells: Sequence[object]) -> None:
        """Refuse an empty image in a list, and a row without images beside rows that have some."""
        if position := first_missing_position(cells):
            raise SourceError(f"image {position} of the list is empty. {_OPTIONAL}")
        if not has_image(cells) and self._is_illustrated:
            raise SourceError(f"no image, although other rows have one. {_OPTIONAL}")

    @cached_property
    def _is_illustrated(self) -> bool:
        """Whether any row has an image; reads the file up to the first of them."""
        rows = (cells_of(row.cells, self._benchmark, "images") for row in self._read_rows())
        return any(map(has_image, rows))

    def _store_once(self, image: Image, where: str) -> ShownImage:
        """Store an image; a file that several rows name is read once."""
        if not isinstance(image, Path):
            return self._store_image(image, where)
        name = image.relative_to(self._root).as_posix()
        if name not in self._by_path:
            self._by_path[name] = self._store_image(image, name)
        return self._by_path[name]

    def _store_image(self, image: Image, name: str) -> ShownImage:
        stored = self._store(image, name)
        if stored.sha256 not in self._by_digest:
            width, height = stored.width, stored.height
            if stored.orientation in _ROTATED_ORIENTATIONS:
                width, height = height, width
            shown = ShownImage(sha256=stored.sha256, width=width, height=height)
            self._by_digest[stored.sha256] = shown
            self.stored.append(stored)
        return self._by_digest[stored.sha256]

    def _image_of_row(self, reference: RowReference) -> ShownImage:
        if self._by_row is None:
            self._by_row = self._read_images_by_row()
        if reference.row_id not in self._by_row:
            raise reference.missing_error
        return self._by_row[reference.row_id]

    def _read_images_by_row(self) -> dict[str, ShownImage]:
        """Store the images of rows that hold exactly one; returns them by row id."""
        by_row: dict[str, ShownImage] = {}
        for row in self._read_rows():
            try:
                images = images_of(cells_of(row.cells, self._benchmark, "images"), self._folder)
                if len(images) == 1 and not isinstance(images[0], RowReference):
                    row_id = text_of(row.cells, self._benchmark, "id")
                    image = self._store_once(images[0], f"{row.where}, image 1")
                    by_row.setdefault(row_id, image)
            except (SourceError, ImageError):
                continue  # becomes a rejection when the questions are built
        return by_row
