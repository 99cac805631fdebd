"""Downloaded releases in the home, each in its own folder and complete."""

import fcntl
import json
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha256
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from pydantic import TypeAdapter, ValidationError

from bench_assets.core.schema.errors import SourceError
from bench_resources.config.addresses import fill_keys
from bench_resources.datasets.archives import is_archive, unpack
from bench_resources.datasets.download import (
    DownloadLog,
    DownloadRetryPolicy,
    FileDownloader,
    RemoteFile,
)
from bench_resources.datasets.hub import HubRelease, Release, hub_files
from bench_resources.http import event_loop
from bench_resources.storage.atomic_write import describe_write_errors

_RECORD = "fetched.json"
_SPARE = 1 << 30  # bytes of the disk that are left free
_AGENT = "bench-assets (fetches a published benchmark once)"


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedRelease:
    """Record of a downloaded release."""

    address: str
    commit: str  # of a hub data set; "" for a file
    n_bytes: int  # downloaded size
    files: dict[str, str]  # path -> SHA-256 of the downloaded file


_RECORD_TYPE = TypeAdapter(CachedRelease)


class CachedDownload(NamedTuple):
    """A complete download of a suite's source."""

    suite: str
    release: CachedRelease
    folder: Path  # of its files


class ReleaseCache:
    """The folder ``sources`` of a home: one folder per suite and address."""

    def __init__(self, home: Path, policy: DownloadRetryPolicy | None = None) -> None:
        self._folder = home / "sources"
        self._policy = policy or DownloadRetryPolicy()

    def all(self) -> list[CachedDownload]:
        """All complete downloads, sorted by suite.

        Raises:
            SourceError: If a record cannot be read.
        """
        return [
            CachedDownload(
                suite=record.parent.parent.name,
                release=_read_record(record),
                folder=record.with_name("files"),
            )
            for record in sorted(self._folder.glob(f"*/*/{_RECORD}"))
        ]

    def find_damage(self, folder: Path) -> list[str]:
        """Compare the files of a release with its record, except archives deleted after unpacking.

        Raises:
            SourceError: If its record cannot be read.
        """
        damage = []
        for name, digest in _read_record(folder.with_name(_RECORD)).files.items():
            try:
                with (folder / name).open("rb") as file:
                    if file_digest(file, "sha256").hexdigest() != digest:
                        damage.append(f"{name}: differs from the file that was downloaded")
            except OSError as error:
                if not is_archive(name):
                    damage.append(f"{name}: {error.strerror}")
        return damage

    def fetch(self, suite: str, release: Release, log: DownloadLog) -> Path:
        """Download a release into the home unless it is there; returns the folder of the source.

        One process downloads, others wait for it. The download of a killed process is resumed.

        Raises:
            SourceError: If it cannot be fetched completely, differs from the pinned content, or has
                no such folder.
            HomeError: If its folder cannot be written.
        """
        digest = sha256(str(release).encode()).hexdigest()
        release_folder = self._folder / suite / digest[:12]
        with _lock_folder(release_folder):
            if not (release_folder / _RECORD).exists():
                with describe_write_errors(release_folder):
                    self._download(release_folder, release, log)
        folder = release_folder / "files" / release.below
        if not folder.is_dir():
            raise SourceError(f"{release}: has no folder {release.below}: {folder}")
        return folder

    def _download(self, folder: Path, release: Release, log: DownloadLog) -> None:
        arrived, files = folder / "arrived", folder / "files"
        if files.exists():
            files.replace(arrived)  # a process was killed before it wrote the record
        commit, remote_files = _commit_and_files(release)
        total = sum(file.size or 0 for file in remote_files)
        _require_space(folder, total)
        log.begin(str(release), total)
        digests = event_loop.run(_download_files(remote_files, arrived, self._policy, log))
        archives = [_target_path(arrived, file) for file in remote_files if is_archive(file.path)]
        for archive in archives:
            unpack(archive)
        arrived.replace(files)
        size = sum((files / path).stat().st_size for path in digests)
        record = CachedRelease(address=str(release), commit=commit, n_bytes=size, files=digests)
        unfinished = folder / f".{_RECORD}"
        unfinished.write_text(json.dumps(asdict(record), indent=1), encoding="utf-8")
        unfinished.replace(folder / _RECORD)
        for archive in archives:
            (files / archive.relative_to(arrived)).unlink()


def _read_record(record: Path) -> CachedRelease:
    try:
        return _RECORD_TYPE.validate_json(record.read_bytes())
    except ValidationError as error:
        raise SourceError(f"{record}: not written by bench. Delete it to download again") from error


def _commit_and_files(release: Release) -> tuple[str, Sequence[RemoteFile]]:
    if isinstance(release, HubRelease):
        return hub_files(release)
    name = PurePosixPath(unquote(urlsplit(fill_keys(release.url)).path)).name or "release"
    return "", [RemoteFile(path=name, url=release.url, sha256=release.sha256)]


async def _download_files(
    files: Sequence[RemoteFile], folder: Path, policy: DownloadRetryPolicy, log: DownloadLog
) -> dict[str, str]:
    """Download files into a folder; returns the SHA-256 of each by its path."""
    import aiohttp

    # Stored bytes are counted, so the transfer must not be decompressed.
    async with aiohttp.ClientSession(
        headers={"User-Agent": _AGENT, "Accept-Encoding": "identity"},
        timeout=aiohttp.ClientTimeout(total=None, sock_read=policy.timeout),
        auto_decompress=False,
    ) as session:
        downloader = FileDownloader(session=session, policy=policy, progress=log.add)
        return {
            file.path: await downloader.fetch(file, _target_path(folder, file)) for file in files
        }


def _target_path(folder: Path, file: RemoteFile) -> Path:
    path = PurePosixPath(file.path)
    if path.is_absolute() or ".." in path.parts:
        raise SourceError(f"{file.url}: {file.path!r} is outside the folder")
    return folder / path


def _require_space(folder: Path, total: int) -> None:
    free = shutil.disk_usage(folder).free
    if total + _SPARE > free:
        raise SourceError(
            f"{folder}: not enough space: the download has {total / 1e9:.1f} GB,"
            f" {free / 1e9:.1f} GB are free"
        )


@contextmanager
def _lock_folder(folder: Path) -> Generator[None]:
    with describe_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
