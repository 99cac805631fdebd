"""The first page of a bundle: what number it is of, what it took, and a digest of every file."""

import json
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, entry_points, requires, version
from platform import python_version
from re import match
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from bench_assets.core.schema.errors import SourceError

NAME = "manifest.json"
OURS = "bench-assets"

_SUITES = "bench_assets.suites"  # the group of entry points, see ``catalog``


class _ManifestText(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FileFacts(_ManifestText):
    """One file of the bundle."""

    sha256: str
    n_bytes: int


class Manifest(_ManifestText):
    """What a bundle says of itself."""

    bundle: Literal[1] = 1
    """Of its form."""
    digest: str = ""
    """Of all that is said here, and so of all that lies in the bundle."""
    task: str
    title: str
    version: int
    extensions: tuple[str, ...]
    condition: str
    model: str
    edition: str
    reading: str
    signature: str
    setup: str
    package: str
    """Distribution and version that bring the suite; "" of one that bench.toml describes."""
    benchmark: dict[str, Any] | None
    """What bench.toml says of such a one, without its places."""
    release: str
    licence: str
    passed_on: bool
    """Whether the licence lets its questions and images be passed on; else keep the bundle."""
    versions: dict[str, str]
    images: dict[str, str]
    """Digest -> the file in the bundle; "" where it was left out."""
    not_there: dict[str, int]
    """How many prompts are known by their digests alone."""
    files: dict[str, FileFacts]

    def checksummed(self) -> "Manifest":
        """The same with its digest."""
        digest = sha256(_written(self.model_copy(update={"digest": ""}))).hexdigest()
        return self.model_copy(update={"digest": digest})

    def to_bytes(self) -> bytes:
        """Write it: the same manifest is the same bytes."""
        return _written(self)


def read_manifest(data: bytes, where: str) -> Manifest:
    """Read a manifest.

    Raises:
        SourceError: If it is none, of a newer form, or not as it was written.
    """
    try:
        found = Manifest.model_validate_json(data)
    except (ValidationError, RecursionError) as why:
        first = why.errors()[0] if isinstance(why, ValidationError) else {"loc": (), "msg": "deep"}
        place = ".".join(map(str, first["loc"]))
        raise SourceError(f"{where}: no manifest: {place}: {first['msg']!s:.200}") from why
    if found.to_bytes() != data or found.checksummed().digest != found.digest:
        raise SourceError(f"{where}: not what its digest says: it was changed")
    return found


def versions_here() -> dict[str, str]:
    """Versions of Python, of this program and of all that it needs, as they are installed."""
    needed = [line for line in requires(OURS) or () if "extra ==" not in line]
    names = [found[0] for line in needed if (found := match(r"[\w.-]+", line))]
    return {"python": python_version()} | {
        name: there for name in sorted([OURS, *names]) if (there := _version(name))
    }


def package_of(suite: str) -> str:
    """The distribution that brings a suite, with its version; "" if none does."""
    found = [one.dist for one in entry_points(group=_SUITES, name=suite) if one.dist]
    return f"{found[0].name} {found[0].version}" if found else ""


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _written(manifest: Manifest) -> bytes:
    said = manifest.model_dump(mode="json")
    return json.dumps(said, indent=1, sort_keys=True).encode() + b"\n"
