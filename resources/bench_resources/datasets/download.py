"""Resumable downloads of pinned files, with progress in the log."""

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bench_assets.core.schema.errors import SourceError
from bench_resources.config.addresses import fill_keys
from bench_resources.http.backoff import wait_of
from bench_resources.http.proxies import proxy_of
from bench_resources.storage.atomic_write import describe_write_errors

if TYPE_CHECKING:
    import aiohttp

ByteCallback: TypeAlias = Callable[[int, int], None]
"""Gets the number of bytes that are there now (negative: discarded), and of those transferred."""

_RETRIED_STATUSES = {408, 416, 425, 429, 500, 502, 503, 504}  # a later attempt may succeed
_CHUNK = 1 << 20  # bytes that are read at once
_MOST = 64 << 30  # bytes of a file of unknown size, at most


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadRetryPolicy:
    """Attempts per file, and waits between them."""

    tries: int = 6  # consecutive attempts without new bytes
    pause: float = 1.0  # s before the second attempt; doubled for each further one
    longest_pause: float = 120.0  # s; if the server asks for more, the download fails
    timeout: float = 60.0  # s without a byte
    slowest: int = 1024  # bytes per second, checked after ``timeout``


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """A file to download, with its expected size and digest."""

    path: str  # in its release
    url: str
    size: int | None = None  # bytes, if known
    sha256: str = ""
    git_blob: str = ""  # SHA-1 of the git blob, if the hub has no SHA-256
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _DownloadFailure:
    """Reason why an attempt was incomplete."""

    reason: str = "the connection was closed before the end"
    retry: bool = True  # another attempt may help
    wait: float = 0.0  # s that the server asks to wait
    made_progress: bool = False  # bytes arrived


@dataclass(frozen=True, slots=True)
class FileDownloader:
    """Fetches files over one session."""

    session: "aiohttp.ClientSession"
    policy: DownloadRetryPolicy
    progress: ByteCallback

    async def fetch(self, file: RemoteFile, target: Path) -> str:
        """Download a file to ``target`` unless it is there; returns its SHA-256.

        Another file in its place is replaced. Incomplete data stay in ``<target>.part``; a later
        call resumes there.

        Raises:
            SourceError: If it cannot be fetched, or its size or digest is wrong.
            HomeError: If it cannot be written, for example on a full disk.
        """
        if target.exists():
            digest, fault = _digest_and_mismatch(file, target)
            if not fault:
                self.progress(target.stat().st_size, 0)
                return digest
            target.unlink()
        part = target.with_name(f"{target.name}.part")
        target.parent.mkdir(parents=True, exist_ok=True)
        is_resumed = part.exists()
        if is_resumed:
            self.progress(part.stat().st_size, 0)
        digest, fault = await self._receive_all(file, part)
        if fault and is_resumed:  # the part of an earlier run may be of another file
            self._discard(part)
            digest, fault = await self._receive_all(file, part)
        if fault:
            self._discard(part)
            raise SourceError(f"{file.url}: {fault}")
        part.replace(target)
        return digest

    async def _receive_all(self, file: RemoteFile, part: Path) -> tuple[str, str]:
        """Download the missing part; returns the file's SHA-256, and its mismatch ("" if none)."""
        n_attempts, policy = 0, self.policy
        while failure := await self._attempt(file, part):
            n_attempts = 1 if failure.made_progress else n_attempts + 1
            wait = max(failure.wait, policy.pause * 2.0 ** (n_attempts - 1))
            if not failure.retry or n_attempts >= policy.tries or wait > policy.longest_pause:
                note = "; the partial file is kept, and resumed later" if part.exists() else ""
                raise SourceError(f"{file.url}: {failure.reason}{note}")
            await asyncio.sleep(wait)
        return _digest_and_mismatch(file, part)

    async def _attempt(self, file: RemoteFile, part: Path) -> _DownloadFailure | None:
        """Request the missing part; None if all of it arrived."""
        from aiohttp import ClientError, InvalidURL

        received = _size(part)
        if received and received == file.size:
            return None
        range_header = {"Range": f"bytes={received}-"} if received else {}
        headers = {**file.headers, **range_header}
        try:
            url = fill_keys(file.url)
            async with self.session.get(url, headers=headers, proxy=proxy_of(url)) as response:
                if received and response.status in (200, 416):  # the server does not resume
                    self._discard(part)
                failure = await self._receive(response, file, part)
        except InvalidURL:
            return _DownloadFailure("not a URL that begins with http:// or https://", retry=False)
        except (ClientError, TimeoutError) as error:
            return _DownloadFailure(
                f"{type(error).__name__}: {error}", made_progress=_size(part) > received
            )
        if failure:
            return failure
        if file.size is not None and _size(part) < file.size:
            return _DownloadFailure(made_progress=_size(part) > received)
        return None

    async def _receive(
        self, response: "aiohttp.ClientResponse", file: RemoteFile, part: Path
    ) -> _DownloadFailure | None:
        """Append the response to ``part``; None if it ended, even if incomplete."""
        if response.status not in (200, 206):
            retry = response.status in _RETRIED_STATUSES
            wait = wait_of(response.headers)
            return _DownloadFailure(f"HTTP {response.status}", retry=retry, wait=wait)
        received = received_before = _size(part)
        started_at = time.monotonic()
        _append(part, b"")  # creates the file, even if no byte arrives
        async for chunk in response.content.iter_chunked(_CHUNK):
            received += len(chunk)
            if received > (_MOST if file.size is None else file.size):
                return _DownloadFailure("larger than expected", retry=False)
            _append(part, chunk)
            self.progress(len(chunk), len(chunk))
            seconds = time.monotonic() - started_at
            n_least = seconds * self.policy.slowest
            if seconds > self.policy.timeout and received - received_before < n_least:
                return _DownloadFailure(f"slower than {self.policy.slowest} bytes per second")
        return None

    def _discard(self, part: Path) -> None:
        self.progress(-part.stat().st_size, 0)
        part.unlink()


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _append(part: Path, chunk: bytes) -> None:
    with describe_write_errors(part), part.open("ab") as stream:
        stream.write(chunk)


def _digest_and_mismatch(file: RemoteFile, downloaded: Path) -> tuple[str, str]:
    """SHA-256 of a downloaded file, and how it differs from the pinned one ("" if it does not)."""
    sha256, blob = hashlib.sha256(), hashlib.sha1(usedforsecurity=False)
    blob.update(b"blob %d\0" % downloaded.stat().st_size)
    with downloaded.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            sha256.update(chunk)
            blob.update(chunk)
    digest = sha256.hexdigest()
    for name, expected, actual in (
        ("SHA-256", file.sha256, digest),
        ("git blob", file.git_blob, blob.hexdigest()),
    ):
        if expected and expected != actual:
            return digest, f"not the pinned file: {name} is {actual}, expected {expected}"
    return digest, ""


_log = logging.getLogger("bench_assets.sources")
_LOG_INTERVAL = 10.0  # s between two lines of a log


class DownloadLog:
    """Logs the progress of a download at intervals."""

    def __init__(self) -> None:
        self._title, self._total = "", 0
        self._size = self._transferred = 0  # bytes that are there, and those since the last line
        self._logged_at = time.monotonic()

    def begin(self, title: str, total: int) -> None:
        """Begin a download of ``total`` bytes; 0 if unknown."""
        self._title, self._total = title, total
        self._logged_at = time.monotonic()
        size = f" {total / 1e6:.1f} MB" if total else ""
        _log.warning("%s: fetching%s", title, size)

    def add(self, n: int, n_transferred: int) -> None:
        """Count bytes as a ``ByteCallback``, and log the progress after 10 s without a line."""
        self._size += n
        self._transferred += n_transferred
        seconds = time.monotonic() - self._logged_at
        if seconds > _LOG_INTERVAL:
            size = f"{self._size / 1e6:.1f}"
            if self._total:
                size += f" of {self._total / 1e6:.1f}"
            rate = self._transferred / seconds
            _log.warning("%s: %s MB, %.1f MB/s", self._title, size, rate / 1e6)
            self._logged_at += seconds
            self._transferred = 0
