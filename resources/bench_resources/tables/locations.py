"""Locations of tables: a folder per asset, below the folder of its suite and source."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Self
from urllib.parse import quote, unquote

import dagster as dg
from pydantic import Field

from bench_assets.core.schema.errors import HomeError, TableError
from bench_resources.config.stores import open_shared_blobs
from bench_resources.storage.blobs.port import Blobs

SOURCES_FOLDER = ".of"
"""Folder of the tables of configured sources, see ``bench_resources.datasets.source_files``."""

WHOLE_TABLE = "all"  # the file of a table without partitions
_PARQUET = ".parquet"


class TableLocations(dg.ConfigurableResource[Any]):
    """The root folder of tables, and the folder of each suite in it."""

    folder: str
    """Folder of the tables in the home; a shared store has a folder of the same name."""
    places: dict[str, str] = Field(default_factory=dict)
    """Suite -> prefix of its tables below the folder; "" for suites that are not listed."""
    objects: str = ""
    """Address of the store in which homes share tables, see ``[storage]``; "": not shared."""
    endpoint: str = ""

    @property
    def blobs(self) -> Blobs:
        """Files or objects of the tables.

        Raises:
            HomeError: If the configured store cannot be used.
        """
        return open_shared_blobs(self.home, Path(self.folder).name, self.objects, self.endpoint)

    @property
    def export(self) -> Blobs:
        """Blobs for exports, beside the tables."""
        return open_shared_blobs(self.home, "export", self.objects, self.endpoint)

    @property
    def home(self) -> Path:
        """The home folder of these tables."""
        return Path(self.folder).parent

    def root(self, suite: str) -> str:
        """Prefix of a suite's tables; "" without one."""
        return self.places.get(suite, "")

    def elsewhere(self, suite: str) -> list[Self]:
        """Tables of the same suite from other sources, sorted by their location."""
        blobs = self.blobs
        roots = [f"{SOURCES_FOLDER}/{source_name}" for source_name in blobs.folders(SOURCES_FOLDER)]
        roots_with_suite = {root for root in ["", *roots] if suite in blobs.folders(root)}
        return [
            self._with_places({suite: root})
            for root in sorted(roots_with_suite - {self.root(suite)})
        ]

    def locate_file(self, name: str) -> tuple[Self, tuple[str, ...], str]:
        """Find the tables, asset key and partition of a file; the inverse of ``name``."""
        path = PurePosixPath(name)
        parts = path.parent.parts
        n_root_parts = 2 if parts[0] == SOURCES_FOLDER else 0
        root, key = "/".join(parts[:n_root_parts]), parts[n_root_parts:]
        model = "" if path.stem == WHOLE_TABLE else unquote(path.stem)
        return self._with_places({key[0]: root}), key, model

    def name(self, key: Sequence[str], partition: str = "") -> str:
        """Name of the table of one partition of an asset."""
        return f"{self.below(key)}/{file_name(partition)}"

    def below(self, key: Sequence[str]) -> str:
        """Prefix of the names of all partitions of an asset."""
        root = self.root(key[0])
        return "/".join((root, *key) if root else key)

    def place(self, key: Sequence[str], partition: str = "") -> str:
        """Location for messages: a path or the address of an object."""
        return self.blobs.named(self.name(key, partition))

    def path(self, key: Sequence[str], partition: str = "") -> Path:
        """Path of a table's file.

        Raises:
            TableError: If it is an object of a store.
        """
        if (folder := self.blobs.folder) is None:
            raise TableError(f"{self.place(key, partition)}: an object of a store, not a file")
        return folder / self.name(key, partition)

    def exists(self, key: Sequence[str], partition: str = "") -> bool:
        """Whether the table exists, or its folder is unreadable; reading it gives the reason."""
        try:
            return self.blobs.exists(self.name(key, partition))
        except HomeError:
            if self.blobs.folder is None:
                raise
            return True

    def partitions(self, key: Sequence[str]) -> list[str]:
        """Partitions that have a table, sorted; raises as ``versions``."""
        return sorted(self.versions(key))

    def known(self, key: Sequence[str]) -> list[str]:
        """As ``partitions``, but none of an unreadable folder, which others report."""
        try:
            return self.partitions(key)
        except TableError:
            return []

    def versions(self, key: Sequence[str]) -> dict[str, str]:
        """Versions of an asset's tables by partition, from one listing.

        Raises:
            TableError: If the folder is unreadable.
        """
        blobs, prefix = self.blobs, self.below(key)
        if blobs.folder is not None:
            by_name = _list_folder(blobs.folder / prefix)
        else:
            listed = blobs.list(prefix)
            by_name = {blob.name.removeprefix(f"{prefix}/"): blob.version for blob in listed}
        return {
            unquote(name.removesuffix(_PARQUET)): version
            for name, version in by_name.items()
            if "/" not in name and name.endswith(_PARQUET)
        }

    def unpartitioned_keys(self, suite: str) -> Iterator[tuple[str, ...]]:
        """Sorted keys of a suite's tables without partitions."""
        root = self.root(suite)
        for blob in self.blobs.list(self.below([suite])):
            path = PurePosixPath(blob.name)
            if path.name == f"{WHOLE_TABLE}{_PARQUET}":
                yield path.parent.relative_to(root).parts

    def _with_places(self, places: dict[str, str]) -> Self:
        return type(self)(
            folder=self.folder, places=places, objects=self.objects, endpoint=self.endpoint
        )


def file_name(partition: str = "") -> str:
    """File name of a partition."""
    return f"{quote(partition, safe='@+=') or WHOLE_TABLE}{_PARQUET}"


def _list_folder(folder: Path) -> dict[str, str]:
    """Versions of the files and folders in a folder by name, without broken links."""
    by_name = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if status := _stat(entry):
                    by_name[entry.name] = f"{status.st_mtime_ns} {status.st_size}"
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise TableError(f"{folder}: cannot be read: {error.strerror}") from error
    return by_name


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat()
    except PermissionError:  # of the folder: it has names, but may not be entered
        raise
    except OSError:  # it was deleted meanwhile, or is a link to nowhere
        return None
