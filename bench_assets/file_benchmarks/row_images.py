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
    has_image,
    images_of,
    missing_in_list,
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
        rows: Callable[[], Iterator[Row]],
    ) -> None:
        """Start without images.

        Args:
            store: Puts an image into the image store, under a name.
            folder: Root folder of paths.
            benchmark: Settings of the file.
            rows: Reads the file again; called only if a row refers to the image of another.
        """
        self.stored: list[StoredImage] = []
        self._folder = Folder(folder)
        self._root = folder.resolve()
        self._store, self._benchmark, self._rows = store, benchmark, rows
        self._by_path: dict[str, ShownImage] = {}
        self._by_digest: dict[str, ShownImage] = {}
        self._by_row: dict[str, ShownImage] | None = None

    def of(self, cells: Mapping[str, object], where: str) -> list[ShownImage]:
        """Store the images of a row.

        Raises:
            SourceError: If a cell is not an image; says why.
            ImageError: If an image does not decode.
        """
        image_cells = cells_of(dict(cells), self._benchmark, "images")
        references = images_of(image_cells, self._folder)
        if self._benchmark.images != "optional":
            self._require_image(image_cells)
        return [
            self._image_of_row(reference)
            if isinstance(reference, RowReference)
            else self._kept(reference, where, nth)
            for nth, reference in enumerate(references, 1)
        ]

    def _require_image(self, cells: Sequence[object]) -> None:
        """Refuse a row without an image of its own beside rows that have one.

        Raises:
            SourceError: If it is such a row, or a list of images has an empty item.
        """
        if number := missing_in_list(cells):
            raise SourceError(f"image {number} of the list is empty. {_OPTIONAL}")
        if not has_image(cells) and self._is_illustrated:
            raise SourceError(f"no image, although other rows have one. {_OPTIONAL}")

    @cached_property
    def _is_illustrated(self) -> bool:
        """Whether any row has an image; reads the file up to the first of them."""
        rows = (cells_of(row.cells, self._benchmark, "images") for row in self._rows())
        return any(map(has_image, rows))

    def _kept(self, image: Image, where: str, nth: int) -> ShownImage:
        if not isinstance(image, Path):
            return self._put(image, f"{where}, image {nth}")
        name = image.relative_to(self._root).as_posix()
        if name not in self._by_path:
            self._by_path[name] = self._put(image, name)
        return self._by_path[name]

    def _put(self, image: Image, name: str) -> ShownImage:
        stored = self._store(image, name)
        if stored.sha256 not in self._by_digest:
            turned = stored.orientation in _ROTATED_ORIENTATIONS
            size = (stored.height, stored.width) if turned else (stored.width, stored.height)
            self._by_digest[stored.sha256] = ShownImage(stored.sha256, *size)
            self.stored.append(stored)
        return self._by_digest[stored.sha256]

    def _image_of_row(self, reference: RowReference) -> ShownImage:
        if self._by_row is None:
            self._by_row = self._read_all()
        if (image := self._by_row.get(reference.row)) is None:
            raise reference.missing
        return image

    def _read_all(self) -> dict[str, ShownImage]:
        """Images by row id, of all rows that hold exactly one."""
        by_row: dict[str, ShownImage] = {}
        for row in self._rows():
            try:
                references = images_of(cells_of(row.cells, self._benchmark, "images"), self._folder)
                if len(references) == 1 and not isinstance(references[0], RowReference):
                    name = text_of(row.cells, self._benchmark, "id")
                    by_row.setdefault(name, self._kept(references[0], row.where, 1))
            except (SourceError, ImageError):
                continue  # becomes a rejection when the questions are built
        return by_row
