"""Image downloads: concurrent, rate limited, incremental."""

import asyncio
import json
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bench_assets.core.images.decoding import MAX_PIXELS
from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.schema.provenance import text_digest
from bench_resources.http import event_loop
from bench_resources.http.allowed_hosts import (
    ForbiddenAddressError,
    HostPolicy,
    is_public,
    open_url,
    restricted_connector,
)
from bench_resources.http.backoff import backoff_delay, is_transient_status, wait_of
from bench_resources.images.store import MAX_BYTES, inspect_image
from bench_resources.storage.atomic_write import open_atomic

if TYPE_CHECKING:
    import aiohttp

Progress: TypeAlias = Callable[[int, int, int], None]  # done, of those downloaded before, total

_CHECKSUMS = "checksums.jsonl"
_AGENT = "bench-assets (downloads a published benchmark once)"
_CHUNK = 1 << 16
_ENDS = ("Content-Length", "Transfer-Encoding")  # headers that tell where a response ends
_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|\?xml|script|!--)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageDownload:
    """Outcome of one address."""

    url: str
    file: str = ""  # its name in the folder; "" if the download failed
    sha256: str = ""
    n_bytes: int = 0
    error: str = ""  # reason of the failure


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageDownloadLimits:
    """Limits of downloads: connections, attempts, times."""

    connections: int = 8  # at once; at most half of them to one host
    tries: int = 4  # per address
    pause: float = 1.0  # s before the second attempt; doubled for each further one
    longest_pause: float = 60.0  # s; if the server asks for more, the download fails
    timeout: float = 60.0  # s for one image, all redirects included
    max_bytes: int = MAX_BYTES


def recorded_downloads(urls: Iterable[str], folder: Path) -> list[ImageDownload]:
    """List the recorded downloads of addresses, without a request.

    A file that differs from its record counts as not downloaded.

    Raises:
        SourceError: If the checksum file of the folder is invalid.
    """
    known = _read_recorded(folder)
    absent = ImageDownload(url="", error="not downloaded; set download = true")
    return [
        record
        if (record := known.get(url)) and _digest(folder / record.file) == record.sha256
        else replace(absent, url=url)
        for url in dict.fromkeys(urls)
    ]


def download_images(
    urls: Iterable[str],
    folder: Path,
    polite: ImageDownloadLimits,
    rng: random.Random,
    progress: Progress = lambda done, known, total: None,
    hosts: HostPolicy = is_public,
) -> list[ImageDownload]:
    """Download every address that is not in the folder yet; one row per address, in their order.

    Each file is recorded at once with its checksum: a killed run loses only downloads in progress.
    The row of a failed download has an ``error``.

    Args:
        urls: Addresses, http or https.
        folder: Folder of the files; created if missing.
        polite: Limits.
        rng: Random jitter of pauses before retries.
        progress: Receives the numbers of finished, previously downloaded, and all addresses.
        hosts: Allowed hosts: addresses come from third-party files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = {row.url: row for row in recorded_downloads(urls, folder)}
    missing = [url for url, row in rows.items() if row.error]
    known = len(rows) - len(missing)
    event_loop.run(
        _fetch_all(
            missing, _ImageDownloadSession(folder, polite, rng, hosts), rows, progress, known
        )
    )
    return list(rows.values())


async def _fetch_all(
    urls: list[str],
    fetching: "_ImageDownloadSession",
    rows: dict[str, ImageDownload],
    progress: Progress,
    known: int,
) -> None:
    async with fetching.session() as session:
        tasks = [asyncio.create_task(fetching.fetch(session, url)) for url in urls]
        try:
            for n, row in enumerate(asyncio.as_completed(tasks), known + 1):
                fetched = await row
                rows[fetched.url] = fetched
                progress(n, known, len(rows))
        finally:  # on a full disk, only the first error is reported
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class _ImageDownloadFailure:
    """A failed attempt."""

    error: str
    again: bool  # whether another attempt may succeed
    wait: float = 0.0  # s that the server asks to wait


class _ImageDownloadSession:
    """Shared state of all downloads."""

    def __init__(
        self, folder: Path, polite: ImageDownloadLimits, rng: random.Random, hosts: HostPolicy
    ) -> None:
        self._folder = folder
        self._polite = polite
        self._rng = rng
        self._hosts = hosts
        self._under_way = asyncio.Semaphore(polite.connections)

    def session(self) -> "aiohttp.ClientSession":
        """Open connections, at most half of them to one host."""
        from aiohttp import ClientSession

        limit = self._polite.connections
        return ClientSession(
            connector=restricted_connector(
                self._hosts, limit=limit, limit_per_host=max(1, limit // 2)
            ),
            headers={"User-Agent": _AGENT, "Accept-Encoding": "identity"},
            auto_decompress=False,
        )

    async def fetch(self, session: "aiohttp.ClientSession", url: str) -> ImageDownload:
        """Download an address until it succeeds or fails permanently."""
        async with self._under_way:
            for tries in range(1, self._polite.tries + 1):
                outcome = await self._try(session, url)
                if isinstance(outcome, ImageDownload):
                    return outcome
                pause = backoff_delay(tries, self._polite.pause, self._rng, requested=outcome.wait)
                last = tries == self._polite.tries or pause > self._polite.longest_pause
                if last or not outcome.again:
                    break
                await asyncio.sleep(pause)
            return ImageDownload(url=url, error=outcome.error)

    async def _try(
        self, session: "aiohttp.ClientSession", url: str
    ) -> ImageDownload | _ImageDownloadFailure:
        from aiohttp import ClientError

        try:
            async with (
                asyncio.timeout(self._polite.timeout),
                open_url(session, url, self._hosts) as response,
            ):
                if response.status == 200:
                    return await self._keep(response, url)
                is_transient = is_transient_status(response.status)
                return _ImageDownloadFailure(
                    f"HTTP {response.status}", is_transient, wait_of(response.headers)
                )
        except ForbiddenAddressError as error:
            return _ImageDownloadFailure(str(error), again=False)
        except TimeoutError:
            return _ImageDownloadFailure(f"not complete in {self._polite.timeout:g} s", again=True)
        except (ClientError, ValueError) as error:
            # A ValueError is about the address or the size, which do not change.
            return _ImageDownloadFailure(
                f"{type(error).__name__}: {error}", not isinstance(error, ValueError)
            )

    async def _keep(self, response: "aiohttp.ClientResponse", url: str) -> ImageDownload:
        if packed := response.headers.get("Content-Encoding", "").replace("identity", ""):
            raise ValueError(f"is compressed ({packed}), which was not requested")
        digest, n_bytes = sha256(), 0
        name = text_digest(url)[:32]
        with open_atomic(self._folder / name, sync=False) as file:
            async for chunk in response.content.iter_chunked(_CHUNK):
                if not n_bytes and _PAGE.match(chunk):
                    raise ValueError("a web page, not an image; it may have been deleted")
                n_bytes += len(chunk)
                if n_bytes > self._polite.max_bytes:
                    raise ValueError(f"more than the {self._polite.max_bytes} bytes allowed")
                digest.update(chunk)
                file.write(chunk)
            if not any(
                name in response.headers for name in _ENDS
            ):  # else aiohttp notices what is missing
                file.seek(0)
                _require_whole_image(file.read(), url, self._polite.max_bytes)
        row = ImageDownload(url=url, file=name, sha256=digest.hexdigest(), n_bytes=n_bytes)
        with (self._folder / _CHECKSUMS).open("a", encoding="utf-8") as records:
            # The line break comes first: the previous line may be incomplete after a kill.
            records.write("\n" + json.dumps(asdict(row)))
        return row


def _require_whole_image(data: bytes, url: str, max_bytes: int) -> None:
    """Decode an image: an early end of its connection leaves no other trace.

    Raises:
        ClientPayloadError: If it does not decode, or is incomplete.
    """
    from aiohttp import ClientPayloadError

    try:
        inspect_image(data, url, MAX_PIXELS, max_bytes)
    except ImageError as error:
        raise ClientPayloadError(f"{error} (the server stated no length)") from error


def _read_recorded(folder: Path) -> dict[str, ImageDownload]:
    file = folder / _CHECKSUMS
    try:
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        rows = [ImageDownload(**json.loads(line)) for line in lines if line.endswith("}")]
    except (ValueError, TypeError, RecursionError) as error:
        raise SourceError(
            f"{file}: not written by bench ({error}). Delete it to download again"
        ) from error
    if wrong := [row for row in rows if not all(map(_is_text, (row.url, row.file, row.sha256)))]:
        raise SourceError(
            f"{file}: not written by bench ({wrong[0]!r:.80}). Delete it to download again"
        )
    return {row.url: row for row in rows}


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
