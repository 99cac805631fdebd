"""The report's folder, replaced atomically; its data are scripts.

A page opened from disk can load nothing else than scripts.

Data files are named by the digest of their content, and ``data/files.js``, which lists them, is
replaced last: an interrupted build leaves the report unchanged.
"""

import re
import shutil
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass
from hashlib import sha256
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import orjson

from bench_assets.core.schema.provenance import text_digest
from bench_assets.report.site.images import Images, ReportImage
from bench_assets.report.site.scripts import bundled_script
from bench_resources.images.store import ImageStore
from bench_resources.storage.atomic_write import describe_write_errors, open_atomic
from bench_resources.tables.locations import WHOLE_TABLE
from bench_resources.tables.parquet import TableFiles

_NAME = re.compile(r"[a-z0-9-]+")
_JSON_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def data_script(name: str, value: object) -> bytes:
    r"""Serialise a value as a script: ``Bench.put("name", ...)``.

    Rows may be dataclasses, columns of numbers arrays. NaN and infinity become null. Texts are
    escaped so that they cannot end a script element.

    >>> data_script("a-b", ["</script>", float("nan")])
    b'Bench.put("a-b",["\\u003c/script>",null]);\n'
    """
    assert _NAME.fullmatch(name), name
    try:
        json_text = orjson.dumps(value, option=_JSON_OPTIONS)
    except TypeError:  # a lone surrogate, such as from a folder name that is not UTF-8
        json_text = orjson.dumps(_with_valid_text(value), option=_JSON_OPTIONS)
    return b'Bench.put("%s",%s);\n' % (name.encode(), json_text.replace(b"<", b"\\u003c"))


def _with_valid_text(value: Any) -> Any:  # noqa: ANN401
    """Replace invalid characters in all texts of a value."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_with_valid_text(name): _with_valid_text(text) for name, text in value.items()}
    if isinstance(value, list | tuple):
        return [_with_valid_text(text) for text in value]
    if is_dataclass(value) and not isinstance(value, type):
        return _with_valid_text(asdict(value))
    return value


_UNFIT = re.compile(r"[^a-z0-9]+")
_LETTERS = 40  # characters of a name that are kept
_SLUG_DIGITS = 8  # hexadecimal digits of a digest


def slug(name: str) -> str:
    """Convert a name to a file name that is safe on any system: readable, with a digest at the end.

    Slugs are short, lower-case, without dots and slashes, and never reserved names.

    >>> slug("journeybench/mcot")
    'journeybench-mcot-fa606a1c'
    """
    readable = _UNFIT.sub("-", name.lower())[:_LETTERS].strip("-")
    digest = text_digest(name)[:_SLUG_DIGITS]
    return f"{readable}-{digest}" if readable else digest


class Stamps:
    """Versions of an asset's tables, read once on demand."""

    def __init__(self) -> None:
        self._versions: dict[tuple[str, str], dict[str, str]] = {}

    def of(self, tables: TableFiles, key: Sequence[str], partition: str = "") -> str:
        """Version of a table, which changes when it is written; "" if there is no table."""
        location = (tables.folder, tables.below(key))
        if location not in self._versions:
            self._versions[location] = tables.versions(key)
        return self._versions[location].get(partition or WHOLE_TABLE, "")


def combined_digest(*parts: str) -> str:
    """Combine digests of inputs into one."""
    return sha256("\n".join(parts).encode()).hexdigest()


STAMPS_FILE = ".stamps.json"
STATIC = Path(__file__).parents[1] / "static"
_DIGITS = 10  # hexadecimal digits of a digest


@dataclass(frozen=True, slots=True)
class _Stamp:
    made_of: str  # digest of the inputs
    digest: str  # of the data
    images: list[str]  # digests of the images that it shows


class Site:
    """A report being built, which replaces the present one."""

    def __init__(self, folder: Path, image_store: ImageStore) -> None:
        self.folder = folder
        self._images = Images(folder, image_store)
        self.stamps = Stamps()
        self._home_path = _encoded_path(
            image_store.objects or str(Path(image_store.folder).parent.absolute())
        )
        self._previous_stamps = _read_stamps(folder / STAMPS_FILE)
        self._previous_names = sorted(self._previous_stamps)
        self._new_stamps: dict[str, _Stamp] = {}
        self.tabs: list[str] = []
        """Pages with data, besides the leaderboard and the tasks."""

    def has(self, name: str, made_of: str) -> bool:
        """Whether data are up to date; if so, keep them."""
        stamp = self._previous_stamps.get(name)
        if stamp is None or stamp.made_of != made_of or not self._path(name, stamp).exists():
            return False
        if not self._images.keep(stamp.images):
            return False
        self._new_stamps[name] = stamp
        return True

    def names(self, prefix: str) -> list[str]:
        """Names of existing data with a prefix."""
        first = bisect_left(self._previous_names, prefix)
        following = islice(self._previous_names, first, None)
        return list(takewhile(lambda name: name.startswith(prefix), following))

    def put(self, name: str, value: object, made_of: str = "", images: Iterable[str] = ()) -> None:
        """Write data that the page loads by ``await Bench.data(name)``.

        Args:
            name: Lower-case letters, digits and "-": see ``slug``.
            value: A JSON value, also with dataclasses.
            made_of: Digest of its inputs; "": unknown, always rebuild.
            images: Digests of the images that it shows, which are copied.

        Raises:
            HomeError: If it cannot be written.
        """
        if made_of and self.has(name, made_of):
            return
        script = data_script(name, value)
        if self._home_path:  # messages about damaged files contain paths
            script = script.replace(self._home_path, b"")
        stamp = _Stamp(
            made_of=made_of, digest=sha256(script).hexdigest()[:_DIGITS], images=sorted(set(images))
        )
        self._images.copy(stamp.images)
        path = self._path(name, stamp)
        if not path.exists():
            with open_atomic(path, sync=False) as file:
                file.write(script)
        self._new_stamps[name] = stamp

    def images(self, digests: Iterable[str]) -> dict[str, ReportImage | None]:
        """Copy images into the report; by digest, None if missing or damaged in the store."""
        return self._images.copy(digests)

    def missing_reason(self, digest: str) -> str:
        """Reason why an image is missing; shown in its place."""
        return self._images.problems.get(digest, "")

    def finish(self) -> None:
        """Publish the written data as the report, and delete unused files.

        Raises:
            HomeError: If it cannot be written.
        """
        if self.tabs:
            self.put("tabs", self.tabs)
        with describe_write_errors(self.folder):
            _copy_static(self.folder)
            stamps = {"made_by": _code_digest(), "stamps": self._new_stamps}
            _write(self.folder / STAMPS_FILE, orjson.dumps(stamps))
            names = {name: stamp.digest for name, stamp in sorted(self._new_stamps.items())}
            _write(self.folder / "data" / "files.js", data_script("files", names))
            used_files = {self._path(name, stamp).name for name, stamp in self._new_stamps.items()}
            for file in (self.folder / "data").iterdir():
                if file.name not in used_files | {"files.js"}:
                    file.unlink()
            self._images.delete_unused()

    def _path(self, name: str, stamp: _Stamp) -> Path:
        return self.folder / "data" / f"{name}.{stamp.digest}.js"


def _encoded_path(path: str) -> bytes:
    """Encode the home's path as data scripts do, to remove it; b"" if it is not to be removed.

    Reports are shared, and must not reveal paths of this machine.
    """
    if path.count("/") < 2:  # the path of a folder such as "/data" may be part of a question
        return b""
    try:
        return orjson.dumps(f"{path}/")[1:-1].replace(b"<", b"\\u003c")
    except TypeError:  # a lone surrogate, which no script contains
        return b""


def _read_stamps(file: Path) -> dict[str, _Stamp]:
    """Read the stamps of the present data; empty if unreadable, or of another code version."""
    with suppress(OSError, ValueError, TypeError, AttributeError, KeyError):
        stored = orjson.loads(file.read_bytes())
        if stored["made_by"] == _code_digest():
            return {name: _Stamp(**stamp) for name, stamp in stored["stamps"].items()}
    return {}


def _code_digest() -> str:
    digest = sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _copy_static(folder: Path) -> None:
    """Copy the page, its styles and libraries, and its modules as one script; delete others."""
    modules = STATIC / "app"
    files = {Path("app", "report.js"): bundled_script(modules, "main.js")} | {
        path.relative_to(STATIC): path.read_bytes()
        for path in STATIC.rglob("*")
        if path.is_file() and not path.is_relative_to(modules)
    }
    for name, data in sorted(files.items()):
        target = folder / name
        if not target.is_file() or target.read_bytes() != data:
            _write(target, data)
    for subfolder in ("app", "style", "vendor"):
        for file in (folder / subfolder).iterdir():
            if file.relative_to(folder) in files:
                continue
            if file.is_dir():
                shutil.rmtree(file)
            else:
                file.unlink()


def _write(path: Path, data: bytes) -> None:
    with open_atomic(path, sync=False) as file:
        file.write(data)
