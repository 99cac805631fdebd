"""What a data set of a hub holds at one commit: every file with its size and digest."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from bench_assets.core.schema.errors import SourceError
from resources.checkpoints.hub_revisions import hub_errors
from resources.checkpoints.identity import first_line
from resources.datasets.download import RemoteFile
from resources.datasets.release_address import HubRelease

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

_COMMIT = re.compile(r"[0-9a-f]{40}")
_NOT_DATA = frozenset({".gitattributes"})


class HubFiles(NamedTuple):
    """A release, pinned."""

    commit: str
    files: Sequence[RemoteFile]


def pinned(release: HubRelease) -> HubRelease:
    """Name the commit that a branch or a tag is at; asks the hub, unless it is one already.

    Raises:
        SourceError: As ``hub_files``.
    """
    if _COMMIT.fullmatch(release.revision):
        return release
    return replace(release, revision=hub_files(release).commit)


def hub_files(release: HubRelease) -> HubFiles:
    """Ask the hub what a release holds; ``HF_ENDPOINT`` and the user's own token are heeded.

    Raises:
        SourceError: If the hub cannot be reached, or does not show the data set to us.
    """
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    api = HfApi()
    page = f"{api.endpoint}/datasets/{release.repository}"
    try:
        info = api.dataset_info(release.repository, revision=release.revision, files_metadata=True)
    except GatedRepoError as why:
        raise SourceError(
            f"{release}: its owners want you to accept their terms at {page}, and a token "
            "(hf auth login, or HF_TOKEN)"
        ) from why
    except RepositoryNotFoundError as why:
        raise SourceError(f"{release}: {page} is not there, or not for everybody") from why
    except hub_errors() as why:
        raise SourceError(
            f"{release}: {api.endpoint} cannot be asked ({first_line(why)}); what was fetched "
            "elsewhere can be named as a folder in [sources] of bench.toml, or by --source"
        ) from why
    commit, token = info.sha or release.revision, get_token()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    for one in info.siblings or ():
        if problem := _problem(one):
            raise SourceError(f"{release}: the hub lists {one.rfilename!r}: {problem}")
    listed = [one for one in info.siblings or () if one.rfilename not in _NOT_DATA]
    return HubFiles(commit, [_remote(f"{page}/resolve/{commit}", one, headers) for one in listed])


def _problem(one: "RepoSibling") -> str:
    """What is wrong with an entry; the hub's library takes whatever the hub says."""
    if not isinstance(one.rfilename, str):
        return "no name of a file"
    if not (one.size is None or (type(one.size) is int and one.size >= 0)):
        return f"{one.size!r} is no size in bytes"
    digests = [one.blob_id, one.lfs and one.lfs.sha256]
    odd = [digest for digest in digests if not isinstance(digest, str | None)]
    return f"{odd[0]!r} is no digest" if odd else ""


def _remote(below: str, one: "RepoSibling", headers: Mapping[str, str]) -> RemoteFile:
    return RemoteFile(
        path=one.rfilename,
        url=f"{below}/{quote(one.rfilename)}",
        size=one.size,
        sha256=one.lfs.sha256 if one.lfs else "",
        git_blob="" if one.lfs else one.blob_id or "",
        headers=headers,
    )
