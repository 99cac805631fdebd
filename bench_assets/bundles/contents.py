"""Contents of a bundle: tables, prompts, images, and the manifest with all digests.

Tables are JSON lines in canonical form: the same rows give the same bytes.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, entry_points, requires, version
from math import nan
from pathlib import Path
from platform import python_version
from typing import Any, Literal, TypeVar, get_type_hints

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, ValidationError

from bench_assets.bundles.archive import Archive, ArchiveFile, pack
from bench_assets.core.schema.errors import SourceError, TableError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.tables.arrow import arrow_schema, to_json, to_rows
from bench_resources.images.store import MAX_BYTES

MANIFEST_NAME = "manifest.json"
PROGRAM_NAME = "bench-assets"

_SUITES = "bench_assets.suites"  # the group of entry points, see ``catalog``


class _ManifestText(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FileFacts(_ManifestText):
    """Size and checksum of a file."""

    sha256: str
    n_bytes: int


class Manifest(_ManifestText):
    """Manifest of a bundle."""

    bundle: Literal[1] = 1
    """Version of the format."""
    digest: str = ""
    """SHA-256 of the manifest without this field, and thereby of the whole bundle."""
    task: str
    title: str
    version: int
    extensions: tuple[str, ...]
    condition: str
    model: str
    edition: str
    scorer: str
    signature: str
    setup: str
    package: str
    """Distribution and version that provide the suite; "" for a file benchmark."""
    benchmark: dict[str, Any] | None
    """Settings of a file benchmark in bench.toml, without its paths and splits."""
    release: str
    licence: str
    passed_on: bool
    """Whether the licence permits to redistribute the questions and images."""
    versions: dict[str, str]
    images: dict[str, str]
    """Digest -> file in the bundle; "" if it was left out."""
    not_there: dict[str, int]
    """Number of prompts that only have a digest, by table."""
    files: dict[str, FileFacts]

    def checksummed(self) -> "Manifest":
        """Copy with its digest filled in."""
        unsigned = self.model_copy(update={"digest": ""})
        digest = sha256(unsigned.to_bytes()).hexdigest()
        return self.model_copy(update={"digest": digest})

    def to_bytes(self) -> bytes:
        """Serialise deterministically."""
        values = self.model_dump(mode="json")
        return json.dumps(values, indent=1, sort_keys=True).encode() + b"\n"


def read_manifest(data: bytes, where: str) -> Manifest:
    """Read a manifest.

    Raises:
        SourceError: If it is not a manifest, of a newer format, or damaged.
    """
    try:
        manifest = Manifest.model_validate_json(data)
    except RecursionError as error:
        raise SourceError(f"{where}: not a manifest: nested too deeply") from error
    except ValidationError as error:
        first = error.errors()[0]
        problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']:.200}"
        raise SourceError(f"{where}: not a manifest: {problem}") from error
    if manifest.to_bytes() != data or manifest.checksummed().digest != manifest.digest:
        raise SourceError(f"{where}: checksum mismatch: the file was changed")
    return manifest


def installed_versions() -> dict[str, str]:
    """Installed versions of Python, this program and its required dependencies."""
    needed = [line for line in requires(PROGRAM_NAME) or () if "extra ==" not in line]
    names = [name for line in needed for name in re.findall(r"\A[\w.-]+", line)]
    versions = {"python": python_version()}
    for name in sorted([PROGRAM_NAME, *names]):
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def suite_distribution(suite: str) -> str:
    """Distribution of a suite, with its version; "" if none."""
    distributions = [point.dist for point in entry_points(group=_SUITES, name=suite) if point.dist]
    return f"{distributions[0].name} {distributions[0].version}" if distributions else ""


Row = TypeVar("Row")


def to_lines(rows: Sequence[Any]) -> bytes:
    """Serialise rows as JSON lines, fields in the order of their type; NaN becomes null.

    Raises:
        TableError: If a number is infinite, which JSON cannot represent.
    """
    return b"".join(_json_line(_row_values(row)) for row in rows)


def from_lines(data: bytes, row_type: type[Row], where: str) -> list[Row]:
    """Parse lines of ``to_lines``; a field with a default may be absent from all lines.

    Raises:
        SourceError: If a line is not in canonical form, such as duplicate, unknown or mistyped
            fields, blanks, or a truncated line; names the line.
    """
    lines = data.splitlines(keepends=True)
    if not lines:
        return []
    values_of_rows, names = [], list[str]()
    for number, line in enumerate(lines, 1):
        values = _parse_line(line, f"{where}, line {number}")
        names = names or list(values)
        if list(values) != names or _json_line(values) != line:
            raise SourceError(f"{where}, line {number}: not written by bench bundle pack")
        values_of_rows.append(values)
    _require_fields(names, row_type, f"{where}, line 1")
    number_fields = _number_fields(row_type) & set(names)
    for values in values_of_rows:
        values.update({name: nan for name in number_fields if values[name] is None})
    rows = _parse_rows(values_of_rows, row_type, where, names)
    for number, (row, line) in enumerate(zip(rows, lines, strict=True), 1):
        values = _row_values(row)
        if _json_line({name: values[name] for name in names}) != line:
            raise SourceError(f"{where}, line {number}: a value is not of its field's type")
    return rows


def _row_values(row: object) -> dict[str, Any]:
    """The fields of a row as JSON values, the keys of mappings in order."""
    return {
        name: dict(sorted(value.items())) if isinstance(value, dict) else value
        for name, value in to_json(row).items()
    }


def _json_line(values: dict[str, Any]) -> bytes:
    try:
        return json.dumps(values, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    except ValueError as error:
        raise TableError(f"a number cannot be written as JSON: {values!r:.200}") from error


def _parse_line(line: bytes, where: str) -> dict[str, Any]:
    try:
        values = json.loads(line, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:  # not UTF-8 or JSON, or too many digits
        raise SourceError(f"{where}: not JSON, or cut short: {error!s:.200}") from error
    if not isinstance(values, dict):
        raise SourceError(f"{where}: expected an object, found {values!r:.60}")
    return values


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name}: not JSON")


def _parse_rows(
    values_of_rows: Sequence[dict[str, Any]], row_type: type[Row], where: str, names: Sequence[str]
) -> list[Row]:
    """Convert JSON values of the named fields to rows; changes mappings to pairs in place."""
    columns = pa.schema([column for column in arrow_schema(row_type) if column.name in names])
    map_columns = [column.name for column in columns if pa.types.is_map(column.type)]
    for values in values_of_rows:
        values.update({name: _map_pairs(values[name]) for name in map_columns})
    try:
        return to_rows(pa.Table.from_pylist(list(values_of_rows), schema=columns), row_type)
    except (pa.ArrowException, TypeError, ValueError, TableError) as error:
        raise SourceError(f"{where}: not a table of {row_type.__name__}: {error!s:.200}") from error


def _map_pairs(value: object) -> object:
    """An object as the list of pairs that Arrow expects in a map column."""
    return sorted(value.items()) if isinstance(value, dict) else value


def _require_fields(names: Sequence[str], row_type: type[Any], where: str) -> None:
    row_fields = {field.name: field for field in fields(row_type)}
    if unknown := [name for name in names if name not in row_fields]:
        raise SourceError(f"{where}: unknown field {unknown[0]!r}: written by a newer version?")
    for name, row_field in row_fields.items():
        has_default = (row_field.default, row_field.default_factory) != (MISSING, MISSING)
        if name not in names and not has_default:
            raise SourceError(f"{where}: no field {name!r}")


def _number_fields(row_type: type[Any]) -> set[str]:
    """Fields that are always numbers, so that null means NaN."""
    return {name for name, hint in get_type_hints(row_type).items() if hint is float}


MAX_FILE_BYTES = 2**30  # bytes of a table's file, at most

IMAGES = "images/"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptText:
    """A prompt, by its digest."""

    sha256: str
    turns: str  # JSON, as ``Prompt.to_json`` writes it


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The tables of one evaluation."""

    questions: Sequence[Question]
    prompts: Sequence[PromptText]
    predictions: Sequence[Prediction]
    judge_prompts: Sequence[PromptText]
    judgements: Sequence[Judgement]
    scores: Sequence[Score]
    metrics: Sequence[Metric]
    images: Mapping[str, int] = field(default_factory=dict)
    """Digest -> size in bytes, of the images that are packed."""

    @property
    def image_digests(self) -> list[str]:
        """Digests of all images of the questions, sorted."""
        return sorted({digest for question in self.questions for digest in question.images})


TABLES: Mapping[str, type[Any]] = {
    "questions": Question,
    "prompts": PromptText,
    "predictions": Prediction,
    "judge_prompts": PromptText,
    "judgements": Judgement,
    "scores": Score,
    "metrics": Metric,
}


def table_file(table: str) -> str:
    """File name of a table."""
    return f"{table}.jsonl"


def image_file(digest: str) -> str:
    """File name of an image."""
    return f"{IMAGES}{digest}"


def write_contents(
    contents: Contents, draft: Manifest, target: Path, read_image: Callable[[str], bytes]
) -> Manifest:
    """Write a bundle; returns its manifest, with all digests.

    Raises:
        TableError: If the bundle would be too large.
        HomeError: If it cannot be written.
        ImageError: If an image is damaged.
    """
    tables = {table_file(name): to_lines(getattr(contents, name)) for name in TABLES}
    facts = {
        name: FileFacts(sha256=sha256(data).hexdigest(), n_bytes=len(data))
        for name, data in tables.items()
    }
    facts |= {
        image_file(digest): FileFacts(sha256=digest, n_bytes=n_bytes)
        for digest, n_bytes in contents.images.items()
    }
    images = {
        digest: image_file(digest) if digest in contents.images else ""
        for digest in contents.image_digests
    }
    manifest = draft.model_copy(update={"files": facts, "images": images}).checksummed()
    pack(_archive_files(contents, tables, manifest, read_image), target)
    return manifest


def read_contents(archive: Archive, manifest: Manifest) -> Contents:
    """Read the tables of a bundle, and verify every other file.

    Raises:
        SourceError: If a file does not match its digest, or is not a table; names file and entry.
    """
    tables: dict[str, Any] = {}
    for table, row_type in TABLES.items():
        file = table_file(table)
        data = archive.require(file, manifest.files[file].sha256, MAX_FILE_BYTES)
        tables[table] = from_lines(data, row_type, f"{archive.path}, {file}")
    for digest, file in manifest.images.items():
        if file:  # its key is the expected digest, whatever ``files`` says
            archive.require(file, digest, MAX_BYTES)
    return Contents(**tables)


def _archive_files(
    contents: Contents,
    tables: Mapping[str, bytes],
    manifest: Manifest,
    read_image: Callable[[str], bytes],
) -> Iterator[ArchiveFile]:
    yield ArchiveFile(MANIFEST_NAME, manifest.to_bytes)
    for name, data in tables.items():
        yield ArchiveFile(name, partial(bytes, data))
    for digest in contents.images:
        yield ArchiveFile(image_file(digest), partial(read_image, digest))
