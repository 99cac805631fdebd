"""Where a release lies: a repository of a hub at one revision, or one file under https."""

import re
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.text.redaction import without_named
from resources.config.secrets import without_shapes

_HUB = re.compile(r"hf:(?P<repository>[\w.-]+/[\w.-]+)(@(?P<revision>[\w./-]+))?")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"\b[0-9a-f]{40}\b")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class HubRelease:
    """A data set of a hub."""

    repository: str  # "BLINK-Benchmark/BLINK"
    revision: str  # a commit; or a branch or tag, which is pinned when it is fetched
    below: str = ""  # folder of the release that is the source

    def __str__(self) -> str:
        """As bench.toml has it."""
        return f"hf:{self.repository}@{self.revision}" + _fragment(below=self.below)


@dataclass(frozen=True, slots=True)
class WebRelease:
    """A file, mostly an archive, pinned by its digest or by a commit in its address."""

    url: str
    sha256: str = ""  # "" if the address names a commit, which pins it as well
    below: str = ""  # folder of the archive that is the source

    def __str__(self) -> str:
        """As bench.toml has it."""
        return self.url + _fragment(sha256=self.sha256, below=self.below)


Release: TypeAlias = HubRelease | WebRelease


def is_address(text: str) -> bool:
    """Whether a source is an address, and no folder.

    >>> is_address("hf:a/b@main"), is_address("https://x.org/a.zip"), is_address("data/codis")
    (True, True, False)
    """
    return text.startswith(("hf:", "http://", "https://"))


def read_address(text: str) -> Release:
    """Read an address as bench.toml has it.

    Raises:
        SettingsError: If it is none, lacks its digest, or would be fetched without encryption.

    >>> read_address("hf:BLINK-Benchmark/BLINK@6c1a").revision
    '6c1a'
    """
    place, _, fragment = text.partition("#")
    said = dict(parse_qsl(fragment, keep_blank_values=True))
    sha256, below = said.pop("sha256", ""), said.pop("below", "").strip("/")
    well = not said and ".." not in below.split("/") and (not sha256 or _DIGEST.fullmatch(sha256))
    if well and not sha256 and (hub := _HUB.fullmatch(place)):
        return HubRelease(hub["repository"], hub["revision"] or "main", below)
    parts = urlsplit(place)
    encrypted = parts.scheme == "https" or parts.hostname in _LOOPBACK
    if well and parts.hostname and encrypted and (sha256 or _COMMIT.search(parts.path)):
        return WebRelease(place, sha256, below)
    shown = without_shapes(without_named(text))
    raise SettingsError(
        f'{shown!r} is no address of a release: "hf:owner/name@revision", or '
        '"https://host/file.zip#sha256=" and 64 hexadecimal digits; a folder in it is "below=data"'
    )


def _fragment(**said: str) -> str:
    given = "&".join(f"{name}={value}" for name, value in said.items() if value)
    return f"#{given}" if given else ""
