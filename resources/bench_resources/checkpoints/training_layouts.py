"""Layouts of training frameworks, and one sentence on each.

A layout is recognized by its signs: patterns of file names in a folder or, with ``/``, in its
subfolders. No file is opened.
"""

import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLayout:
    """A layout that is no checkpoint yet."""

    name: str
    signs: re.Pattern[str]  # matches one of its files
    about: str  # one sentence; format string of {folder} and {sign}, the matching file
    parts: str = ""  # pattern of subfolders without models
    unless: str = "(?!)"  # pattern of converted weights, with which the layout does not apply


@dataclass(frozen=True, slots=True, kw_only=True)
class UnconvertedFolder:
    """A folder that is no checkpoint yet."""

    message: str  # the folder, its layout, and what to do
    parts: str  # pattern of subfolders without models


@cache
def _layouts() -> tuple[TrainingLayout, ...]:
    """The layouts of ``training_layouts.toml``, in the order in which they are tried."""
    content = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    layouts = []
    for layout in content["layouts"]:
        signs = "|".join(layout.pop("signs"))
        for name, pattern in content["patterns"].items():
            signs = signs.replace(f"<{name}>", pattern)
        layouts.append(TrainingLayout(signs=re.compile(signs), **layout))
    return tuple(layouts)


_DEEPEST = 2  # levels of subfolders that are listed: iter_0000500/mp_rank_00/
_MOST_NAMES = 50_000  # names that are listed, upper levels first: a folder may hold a data set


def layout_of(folder: Path) -> UnconvertedFolder | None:
    """Recognize the layout of a folder without a model; None if there is none to convert.

    Raises:
        OSError: If the folder cannot be read.
    """
    listed = islice(_walk_names(folder), _MOST_NAMES)
    names = sorted(listed, key=lambda name: (name.count("/"), name))
    for layout in _layouts():
        if sign := next(filter(layout.signs.fullmatch, names), ""):
            if any(map(re.compile(layout.unless).fullmatch, names)):
                return None
            about = layout.about.format(folder=folder, sign=sign)
            message = f"{folder}: {layout.name}; {about}"
            return UnconvertedFolder(message=message, parts=layout.parts)
    return None


def _walk_names(folder: Path) -> Iterator[str]:
    """File names relative to the folder, level by level."""
    level = [""]
    for _ in range(_DEEPEST + 1):
        subfolders: list[str] = []
        for prefix in level:
            for entry in _scan(folder / prefix):
                if not _is_folder(entry):
                    yield f"{prefix}{entry.name}"
                elif entry.name[0] != "." and not entry.is_symlink():
                    subfolders.append(f"{prefix}{entry.name}/")
        level = subfolders


def _scan(folder: Path) -> Iterator["os.DirEntry[str]"]:
    with os.scandir(folder) as entries:  # needs no stat per file
        yield from entries


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads back to itself
        return False
