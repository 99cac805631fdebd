"""Files of a source folder: listing, pinning by digest, and confinement to the folder."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import file_digest
from itertools import accumulate, islice
from pathlib import Path, PurePath
from stat import S_ISLNK
from unicodedata import normalize

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import SourceFile


def files_below(folder: Path) -> list[Path]:
    """List all files below a folder, sorted by path, without hidden files and folders."""
    files = (path for path in folder.rglob("*") if path.is_file())
    visible = (path for path in files if not _is_hidden(path.relative_to(folder)))
    return sorted(visible, key=Path.as_posix)


def existing_path(path: Path) -> Path:
    """Find the spelling, in NFC or NFD, under which a file exists; archives of macOS have NFD.

    Parts that exist in no spelling stay as they are.
    """
    if str(path).isascii() or path.exists():
        return path
    existing = Path()
    for part in path.parts:
        spellings = (part, normalize("NFC", part), normalize("NFD", part))
        candidates = [existing / spelling for spelling in spellings]
        existing = next(filter(Path.exists, candidates), candidates[0])
    return existing


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def pin(files: Iterable[Path], folder: Path) -> list[SourceFile]:
    """Pin files by their content, sorted by their path from the folder."""
    return sorted((pin_file(file, folder) for file in files), key=lambda file: file.path)


def pin_file(file: Path, folder: Path) -> SourceFile:
    """Pin a file by its content, under its path from the folder."""
    with file.open("rb") as data:
        sha256 = file_digest(data, "sha256").hexdigest()
    path = file.relative_to(folder).as_posix()
    return SourceFile(path=path, sha256=sha256, n_bytes=file.stat().st_size)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder, leaving unchanged ones alone.

    Tables of a mini edition thus stay fresh when it is generated again.
    """
    for name, data in files.items():
        file = folder / name
        if not (file.is_file() and file.read_bytes() == data):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)


def format_json(value: object) -> bytes:
    """Format JSON for people: one value per line, without escapes."""
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def image_files(folder: Path) -> dict[str, Path]:
    """List the files of a folder of images by relative path (NFC), sorted, without hidden ones.

    Raises:
        SourceError: If a file is a link that leaves the folder.
    """
    names = [file.relative_to(folder).as_posix() for file in files_below(folder)]
    return {normalize("NFC", name): resolve_inside(folder, name, str(folder)) for name in names}


def resolve_inside(folder: Path, name: str, where: str) -> Path:
    """The path of an image, which need not exist, after a check that it is inside the folder.

    Raises:
        SourceError: If it is outside of the folder; begins with ``where``.
    """
    path = folder / name
    try:
        is_inside = _is_plain_path(folder, name) or path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError) as error:  # too long, a NUL, a loop of links
        raise SourceError(f"{where}: image {name!r:.80} is not a file name: {error}") from error
    if not is_inside:
        raise SourceError(f"{where}: image {name!r} is outside the folder {folder}. Copy it there")
    return path


def _is_plain_path(folder: Path, name: str) -> bool:
    """Whether a path below a folder has no link and no ``..``; cheaper than resolving it."""
    parts = PurePath(name).parts
    if ".." in parts or PurePath(name).is_absolute():
        return False
    steps = islice(accumulate(parts, Path.joinpath, initial=folder), 1, None)
    with suppress(FileNotFoundError):  # a missing file is not a link
        return not any(S_ISLNK(step.lstat().st_mode) for step in steps)
    return True
