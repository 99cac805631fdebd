"""Where tables lie: a folder of each asset, below that of its suite, below the source's place."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, unquote

import dagster as dg
from pydantic import Field

PLACES = ".of"
"""Below it lie the tables of named sources, see ``resources.sources.places``."""

_WHOLE = "all"  # the file of a table without partitions


class TablePlaces(dg.ConfigurableResource[Any]):
    """The folder all tables lie in, and where in it those of each suite do."""

    folder: str
    places: dict[str, str] = Field(default_factory=dict)
    """Suite -> where below the folder its tables are; "" for suites that are not named."""

    def root(self, suite: str) -> Path:
        """The folder that a suite's folders of tables are in."""
        return Path(self.folder, self.places.get(suite, ""))

    def elsewhere(self, suite: str) -> list[Self]:
        """The tables of the same suite that were made of other sources."""
        folder = Path(self.folder)
        found = [*folder.glob(suite), *folder.glob(f"{PLACES}/*/{suite}")]
        return [
            type(self)(folder=self.folder, places={suite: str(root.relative_to(folder))})
            for root in sorted({path.parent for path in found} - {self.root(suite)})
        ]

    def holding(self, path: Path) -> tuple[Self, tuple[str, ...]]:
        """The tables that a file below the folder belongs to, and the key of its asset."""
        parts = path.parent.relative_to(self.folder).parts
        place, key = (parts[:2], parts[2:]) if parts[0] == PLACES else ((), parts)
        return type(self)(folder=self.folder, places={key[0]: "/".join(place)}), key

    def path(self, key: Sequence[str], partition: str = "") -> Path:
        """Where one partition of an asset's table is, or would be."""
        return self.folder_of(key) / f"{quote(partition, safe='@+=') or _WHOLE}.parquet"

    def folder_of(self, key: Sequence[str]) -> Path:
        """Where all partitions of an asset's table are."""
        return self.root(key[0]).joinpath(*key)

    def exists(self, key: Sequence[str], partition: str = "") -> bool:
        """Whether the table was ever written."""
        return self.path(key, partition).exists()

    def partitions(self, key: Sequence[str]) -> list[str]:
        """Partitions that have a table, sorted."""
        found = self.folder_of(key).glob("*.parquet")
        return sorted(unquote(path.stem) for path in found if path.exists())  # no link to nowhere
