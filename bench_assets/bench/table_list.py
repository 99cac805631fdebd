"""``bench tables``: which tables there are, and which of them were made."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from bench_assets.bench.workbench import Workbench
from bench_assets.core.errors import UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTable:
    """A table of the graph."""

    name: str
    stage: str
    per: str  # "model" or "encoder" for a table of each; "" for one of all
    made: int  # of how many models there is one; of a table of all, 0 or 1
    about: str  # what one row is


def list_tables(bench: Workbench, below: str = "") -> list[ListedTable]:
    """List the tables, by name.

    Args:
        bench: The home folder.
        below: A suite, task or other folder of tables; "": all.

    Raises:
        UnknownNameError: If there are no tables below.
    """
    every = list(_every(bench))
    found = [one for one in every if not below or f"{one.name}/".startswith(f"{below}/")]
    if not found:
        folders = {one.name[:end] for one in every for end in _ends(one.name)}
        raise UnknownNameError("tables below a folder", below, folders, all_by="bench tables")
    return found


def _every(bench: Workbench) -> Iterator[ListedTable]:
    graph, made = bench.definitions.resolve_asset_graph(), _made(bench)
    for key in sorted(graph.get_all_asset_keys()):
        node = graph.get(key)
        yield ListedTable(
            name=key.to_user_string(),
            stage=node.tags.get("bench/stage", ""),
            per=node.tags.get("bench/per", "model" if node.is_partitioned else ""),
            made=made[bench.tables.below(key.path)],
            about=" ".join((node.description or "").split()),
        )


def _made(bench: Workbench) -> Counter[str]:
    """How many parts each table has, by where they are; told by one look."""
    names = (one.name for one in bench.tables.blobs.list())
    return Counter(name.rpartition("/")[0] for name in names if name.endswith(".parquet"))


def _ends(name: str) -> Iterator[int]:
    """Where the folders that a table lies in end in its name."""
    return (at for at, letter in enumerate(name) if letter == "/")
