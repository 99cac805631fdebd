"""Tells tables apart without reading them: they are written anew, never changed."""

from collections.abc import Sequence
from hashlib import sha256

from resources.home.table_places import WHOLE
from resources.home.tables import TableFiles


class Stamps:
    """Versions of tables, as they were when one of the same asset was first asked for."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], dict[str, str]] = {}

    def of(self, tables: TableFiles, key: Sequence[str], partition: str = "") -> str:
        """What is another when a table was written again; "" if there is none."""
        place = (tables.folder, tables.below(key))
        if place not in self._known:
            self._known[place] = tables.versions(key)
        return self._known[place].get(partition or WHOLE, "")


def made_of(*parts: str) -> str:
    """One digest of all that something is made of."""
    return sha256("\n".join(parts).encode()).hexdigest()
