"""Stores the images of rows, each once, and resolves references to images of other rows."""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.schema.rows import StoredImage
from bench_assets.core.tables.large_tables import RowCollector, TextIndex
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


class _ImageIndex:
    """Images by name; takes 48 bytes per image, however long the names are."""

    def __init__(self) -> None:
        """Start empty."""
        self._names, self._digests, self._sizes = TextIndex(), bytearray(), array("I")

    def find(self, name: str) -> ShownImage | None:
        """The image of a name; None if unknown."""
        if (n := self._names.find(name)) is None:
            return None
        width, height = self._sizes[2 * n : 2 * n + 2]
        return ShownImage(self._digests[32 * n : 32 * (n + 1)].hex(), width, height)

    def add(self, name: str, image: ShownImage) -> bool:
        """Add an image unless the name is known; returns whether it was added."""
        if self._names.find(name) is not None:
            return False
        self._names.number(name)
        self._digests += bytes.fromhex(image.sha256)
        self._sizes.extend((image.width, image.height))
        return True


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
        self.stored = RowCollector(StoredImage)
        self._folder = Folder(folder)
        self._root = folder.resolve()
        self._store, self._benchmark, self._rows = store, benchmark, rows
        self._files, self._digests = _ImageIndex(), _ImageIndex()
        self._of_rows: _ImageIndex | None = None

    def of(self, cells: Mapping[str, object], where: str) -> list[ShownImage]:
        """Store the images of a row.

        Raises:
            SourceError: If a cell is not an image; says why.
            ImageError: If an image does not decode.
        """
        named = cells_of(dict(cells), self._benchmark, "images")
        found = images_of(named, self._folder)
        if self._benchmark.images != "optional":
            self._require_image(named)
        return [
            self._image_of_row(one)
            if isinstance(one, RowReference)
            else self._kept(one, where, nth)
            for nth, one in enumerate(found, 1)
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
        if (known := self._files.find(name)) is None:
            known = self._put(image, name)
            self._files.add(name, known)
        return known

    def _put(self, image: Image, name: str) -> ShownImage:
        stored = self._store(image, name)
        turned = stored.orientation in _ROTATED_ORIENTATIONS
        size = (stored.height, stored.width) if turned else (stored.width, stored.height)
        shown_image = ShownImage(stored.sha256, *size)
        if self._digests.add(stored.sha256, shown_image):
            self.stored.append(stored)
        return shown_image

    def _image_of_row(self, reference: RowReference) -> ShownImage:
        if self._of_rows is None:
            self._of_rows = self._read_all()
        if (found := self._of_rows.find(reference.row)) is None:
            raise reference.missing
        return found

    def _read_all(self) -> _ImageIndex:
        """Images by row id, of all rows that hold exactly one."""
        index = _ImageIndex()
        for row in self._rows():
            try:
                found = images_of(cells_of(row.cells, self._benchmark, "images"), self._folder)
                if len(found) == 1 and not isinstance(found[0], RowReference):
                    name = text_of(row.cells, self._benchmark, "id")
                    index.add(name, self._kept(found[0], row.where, 1))
            except (SourceError, ImageError):
                continue  # becomes a rejection when the questions are built
        return index
