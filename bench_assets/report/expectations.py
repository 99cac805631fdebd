"""What Great Expectations found of the tables, on a page of its own: ``expectations``."""

from dataclasses import asdict
from typing import Any

from bench_assets.catalog import Catalog
from bench_assets.core.errors import TableError
from bench_assets.core.expected import Validated
from bench_assets.report.site import Site
from resources.home.tables import TableFiles

_TABLE = ("expectations",)


class Expectations:
    """The data named ``expectations``: an entry a table, each with its expectations."""

    def write(self, site: Site, tables: TableFiles, _: Catalog) -> None:
        """Put what was found when the table was last made; why not, if it never was."""
        site.put("expectations", _found(tables))


def _found(tables: TableFiles) -> dict[str, Any]:
    try:
        rows = tables.read(_TABLE, Validated)
    except TableError:
        return {"tables": [], "missing": "bench expectations"}
    by_table: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_table.setdefault(row.table, []).append(asdict(row))
    found = [
        {
            "table": name,
            "rows": every[0]["rows"],
            "failed": sum(not one["passed"] for one in every),
            "expectations": every,
        }
        for name, every in by_table.items()
    ]
    return {"tables": sorted(found, key=lambda one: -one["failed"]), "missing": ""}
