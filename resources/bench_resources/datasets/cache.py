"""Downloaded releases in the home, each in its own folder and complete."""

import fcntl
import json
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha256
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

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


class ReleaseCache:
    """The folder ``sources`` of a home: one folder per suite and address."""

    def __init__(self, home: Path, patience: DownloadRetryPolicy | None = None) -> None:
        self._folder = home / "sources"
        self._patience = patience or DownloadRetryPolicy()

    def all(self) -> list[tuple[str, CachedRelease, Path]]:
        """All complete downloads, with suite and folder."""
        records = sorted(self._folder.glob(f"*/*/{_RECORD}"))
        return [
            (record.parts[-3], _read_record(record), record.with_name("files"))
            for record in records
        ]

    def find_damage(self, folder: Path) -> list[str]:
        """Compare the files of a release with its record, except archives deleted after unpacking.

        Raises:
            SourceError: If its record cannot be read.
        """
        wrong = []
        for name, digest in _read_record(folder.with_name(_RECORD)).files.items():
            try:
                with (folder / name).open("rb") as file:
                    if file_digest(file, "sha256").hexdigest() != digest:
                        wrong.append(f"{name}: differs from the file that was downloaded")
            except OSError as error:
                if not is_archive(name):
                    wrong.append(f"{name}: {error.strerror}")
        return wrong

    def fetch(self, suite: str, release: Release, watched: DownloadLog) -> Path:
        """Download a release into the home unless it is there; returns its folder.

        One process downloads, others wait for it. The download of a killed process is resumed.

        Raises:
            SourceError: If it cannot be fetched completely, or differs from the pinned content.
            HomeError: If its folder cannot be written.
        """
        place = self._place(suite, release)
        with _lock_folder(place):
            if not (place / _RECORD).exists():
                self._fetch(place, release, watched)
        folder = place / "files" / release.below
        if not folder.is_dir():
            raise SourceError(f"{release}: has no folder {release.below}: {folder}")
        return folder

    def _fetch(self, place: Path, release: Release, watched: DownloadLog) -> None:
        arrived, files = place / "arrived", place / "files"
        if files.exists():
            files.replace(arrived)  # a process was killed before it wrote the record
        commit, remote = _contents(release)
        total = sum(file.size or 0 for file in remote)
        _require_space(place, total)
        watched.begin(str(release), total)
        digests = event_loop.run(_download_files(remote, arrived, self._patience, watched))
        archives = [_target_path(arrived, file) for file in remote if is_archive(file.path)]
        for archive in archives:
            unpack(archive)
        arrived.replace(files)
        size = sum((files / path).stat().st_size for path in digests)
        record = CachedRelease(address=str(release), commit=commit, n_bytes=size, files=digests)
        unfinished = place / f".{_RECORD}"
        unfinished.write_text(json.dumps(asdict(record), indent=1), encoding="utf-8")
        unfinished.replace(place / _RECORD)
        for archive in archives:
            (files / archive.relative_to(arrived)).unlink()

    def _place(self, suite: str, release: Release) -> Path:
        return self._folder / suite / sha256(str(release).encode()).hexdigest()[:12]


def _read_record(record: Path) -> CachedRelease:
    try:
        return CachedRelease(**json.loads(record.read_text(encoding="utf-8")))
    except (ValueError, TypeError, RecursionError) as error:
        raise SourceError(f"{record}: not written by bench. Delete it to download again") from error


def _contents(release: Release) -> tuple[str, Sequence[RemoteFile]]:
    if isinstance(release, HubRelease):
        return hub_files(release)
    name = PurePosixPath(unquote(urlsplit(fill_keys(release.url)).path)).name or "release"
    return "", [RemoteFile(path=name, url=release.url, sha256=release.sha256)]


async def _download_files(
    remote: Sequence[RemoteFile],
    folder: Path,
    patience: DownloadRetryPolicy,
    watched: DownloadLog,
) -> dict[str, str]:
    import aiohttp

    # Stored bytes are counted, so the transfer must not be decompressed.
    async with aiohttp.ClientSession(
        headers={"User-Agent": _AGENT, "Accept-Encoding": "identity"},
        timeout=aiohttp.ClientTimeout(total=None, sock_read=patience.timeout),
        auto_decompress=False,
    ) as session:
        downloads = FileDownloader(session, patience, watched.add)
        return {
            file.path: await downloads.fetch(file, _target_path(folder, file)) for file in remote
        }


def _target_path(folder: Path, file: RemoteFile) -> Path:
    path = PurePosixPath(file.path)
    if path.is_absolute() or ".." in path.parts:
        raise SourceError(f"{file.url}: {file.path!r} is outside the folder")
    return folder / path


def _require_space(place: Path, total: int) -> None:
    free = shutil.disk_usage(place).free
    if total + _SPARE > free:
        raise SourceError(
            f"{place}: not enough space: the download has {total / 1e9:.1f} GB,"
            f" {free / 1e9:.1f} GB are free"
        )


@contextmanager
def _lock_folder(place: Path) -> Generator[None]:
    with describe_write_errors(place):
        place.mkdir(parents=True, exist_ok=True)
        lock = (place / ".lock").open("w")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
