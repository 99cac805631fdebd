"""Addresses of releases (a hub data set at one revision, or a file over HTTPS), and hub files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, quote, urlsplit

from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_resources.checkpoints.hub_access import first_line, hub_errors, limit_hub_waits
from bench_resources.config.addresses import template_of
from bench_resources.datasets.download import RemoteFile

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

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
        """Format the address as in bench.toml."""
        return f"hf:{self.repository}@{self.revision}" + _fragment(below=self.below)


@dataclass(frozen=True, slots=True)
class WebRelease:
    """A file, usually an archive, pinned by its digest or by a commit in its address."""

    url: str
    sha256: str = ""  # "" if the address names a commit, which pins it as well
    below: str = ""  # folder of the archive that is the source

    def __str__(self) -> str:
        """Format the address as in bench.toml."""
        return self.url + _fragment(sha256=self.sha256, below=self.below)


Release: TypeAlias = HubRelease | WebRelease


def parse_release_address(text: str) -> Release:
    """Parse the address of a release in bench.toml.

    Raises:
        SettingsError: If it is invalid, lacks its digest, or is neither HTTPS nor loopback.

    >>> parse_release_address("hf:BLINK-Benchmark/BLINK@6c1a").revision
    '6c1a'
    """
    location, _, fragment = text.partition("#")
    options = dict(parse_qsl(fragment, keep_blank_values=True))
    sha256, below = options.pop("sha256", ""), options.pop("below", "").strip("/")
    is_valid = (
        not options and ".." not in below.split("/") and (not sha256 or _DIGEST.fullmatch(sha256))
    )
    hub = _HUB.fullmatch(location)
    if is_valid and hub and not sha256:
        return HubRelease(
            repository=hub["repository"], revision=hub["revision"] or "main", below=below
        )
    try:
        parts = urlsplit(location)
    except ValueError:  # of an invalid IPv6 address
        parts, is_valid = urlsplit(""), False
    is_secure = parts.scheme == "https" or parts.hostname in _LOOPBACK
    if is_valid and parts.netloc and is_secure and (sha256 or _COMMIT.search(parts.path)):
        return WebRelease(url=location, sha256=sha256, below=below)
    raise SettingsError(
        f'{template_of(text)!r} is not an address of a release (expected "hf:owner/name@revision",'
        ' or "https://host/file.zip#sha256=" and 64 hexadecimal digits, then "&below=data" for a'
        " folder in it)"
    )


def _fragment(**options: str) -> str:
    """The options of an address that are set, as its fragment with "#"."""
    text = "&".join(f"{name}={value}" for name, value in options.items() if value)
    return f"#{text}" if text else ""


_NOT_DATA = frozenset({".gitattributes"})


class HubFiles(NamedTuple):
    """The commit and files of a release."""

    commit: str
    files: Sequence[RemoteFile]


def pin_release(release: HubRelease) -> HubRelease:
    """Resolve a branch or tag to its commit, as ``hub_files``; a commit needs no request."""
    if _COMMIT.fullmatch(release.revision):
        return release
    return replace(release, revision=hub_files(release).commit)


def hub_files(release: HubRelease) -> HubFiles:
    """List a release's files on the hub, with ``HF_ENDPOINT`` and the user's token.

    Raises:
        SourceError: If the hub cannot be reached, lacks the data set or revision, or denies access.
    """
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.errors import (
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    limit_hub_waits()
    api = HfApi()
    endpoint = template_of(api.endpoint)
    page = f"{endpoint}/datasets/{release.repository}"
    try:
        dataset = api.dataset_info(
            release.repository, revision=release.revision, files_metadata=True
        )
    except GatedRepoError as error:
        raise SourceError(
            f"{release}: gated. Accept its terms at {page}, and set a token (hf auth login, or "
            "HF_TOKEN)"
        ) from error
    except RepositoryNotFoundError as error:
        raise SourceError(f"{release}: {page} does not exist, or is private") from error
    except RevisionNotFoundError as error:
        raise SourceError(f"{release}: {page} has no such revision. Correct it") from error
    except hub_errors() as error:
        raise SourceError(
            f"{release}: {endpoint} cannot be reached ({first_line(error)})."
            " To use a copy, name its folder in [sources] of bench.toml, or with --source"
        ) from error
    commit = dataset.sha or release.revision
    token = get_token()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    files = [file for file in dataset.siblings or () if file.rfilename not in _NOT_DATA]
    base_url = f"{endpoint}/datasets/{release.repository}/resolve/{commit}"
    return HubFiles(commit, [_remote_file(base_url, file, headers) for file in files])


def _remote_file(base_url: str, file: "RepoSibling", headers: Mapping[str, str]) -> RemoteFile:
    return RemoteFile(
        path=file.rfilename,
        url=f"{base_url}/{quote(file.rfilename)}",
        size=file.size,
        sha256=file.lfs.sha256 if file.lfs else "",
        git_blob="" if file.lfs else file.blob_id or "",
        headers=headers,
    )
