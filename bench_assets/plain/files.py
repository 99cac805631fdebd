"""Reads rows of questions, whatever they lie in; with each comes where it stands.

A file is JSON lines, JSON, CSV, TSV, Parquet or Arrow. A folder is what ``datasets`` wrote with
``save_to_disk``, or holds such files, as those that its ``load_dataset`` reads: the splits are told
apart by folder and name (``data/test-00000-of-00002.parquet``).
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench_assets.core.errors import SourceError
from bench_assets.core.json_entries import parse_json
from bench_assets.plain.rows import READERS, Row

_IN_FOLDERS = [suffix for suffix in READERS if suffix != ".json"]
"""Files that hold rows wherever they lie; a folder's JSON files mostly say something about them."""
_SHARD = re.compile(r"(?:^|-)\d+(?:-of-\d+)?$")


def read_rows(path: Path, split: str = "") -> Iterator[Row]:
    """Read all rows, in the order of the files.

    Raises:
        SourceError: If a file cannot be read, or a folder does not say which split is meant.
    """
    for file in data_files(path, split):
        yield from READERS[file.suffix.lower()](file)


def data_files(path: Path, split: str = "") -> list[Path]:
    """List the files that hold the rows.

    Args:
        path: A file, or a folder of one of the two layouts.
        split: Which part of the folder; may be "" where there is but one.

    Raises:
        SourceError: If there is none, or no such split, or several and none is named.
    """
    if not path.is_dir():
        if path.suffix.lower() not in READERS:
            raise SourceError(f"{path}: not one of {', '.join(READERS)}, and no folder")
        return [path]
    splits = _saved(path) or _by_split(path)
    if not splits:
        raise SourceError(f"{path}: holds no {', '.join(_IN_FOLDERS)} file")
    names = [name for name in splits if split in (name, name.rpartition("/")[2])]
    if split == "":
        names = list(splits)
    if len(names) != 1:
        said = f"{split!r} is {'several' if names else 'none'}" if split else "name one"
        raise SourceError(f"{path}: has the splits {', '.join(splits)}; {said} of them (split)")
    return splits[names[0]]


def _saved(folder: Path) -> dict[str, list[Path]]:
    """The splits of what ``save_to_disk`` wrote: a data set, or several under their names."""
    if (folder / "dataset_dict.json").is_file():
        names = _listed(folder / "dataset_dict.json", "splits")
        return {str(name): _saved_files(folder / str(name)) for name in names}
    return {"all": _saved_files(folder)} if (folder / "state.json").is_file() else {}


def _saved_files(folder: Path) -> list[Path]:
    state = _json(folder / "state.json")
    if state.get("_indices_data_files"):
        raise SourceError(f"{folder}: a selection of rows; save it after flatten_indices()")
    named = _listed(folder / "state.json", "_data_files")
    files = [one.get("filename") if isinstance(one, dict) else None for one in named]
    if wrong := [one for one in files if not _names_a_file(one)]:
        raise SourceError(f"{folder / 'state.json'}: _data_files names no file: {wrong[0]!r:.60}")
    return [folder / str(file) for file in files]


def _names_a_file(one: object) -> bool:
    """Whether it is the name of a file beside, which can be read."""
    if not isinstance(one, str) or "\0" in one or Path(one).name != one:
        return False
    return Path(one).suffix.lower() in READERS


def _listed(file: Path, name: str) -> list[object]:
    listed = _json(file).get(name, [])
    if not isinstance(listed, list):
        raise SourceError(f"{file}: {name} is {listed!r:.60}, expected a list")
    return listed


def _by_split(folder: Path) -> dict[str, list[Path]]:
    splits: dict[str, list[Path]] = {}
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        if file.suffix.lower() in _IN_FOLDERS and not any(part[0] == "." for part in inside.parts):
            stem = _SHARD.sub("", file.stem)
            parts = [part for part in inside.parts[:-1] if part != "data"]
            splits.setdefault("/".join([*parts, *([stem] if stem else [])]), []).append(file)
    return splits


def _json(file: Path) -> dict[str, Any]:
    try:
        read = parse_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, SourceError) as why:
        raise SourceError(f"{file}: cannot be read as JSON: {why}") from why
    if not isinstance(read, dict):
        raise SourceError(f"{file}: expected an object, found {read!r:.60}")
    return read
