"""Search in a gallery of generated images over HTTP."""

import json
import random
import time
import urllib.parse
from dataclasses import dataclass
from typing import Any

from bench_assets.core.schema.errors import SourceError
from resources.config.addresses import with_keys
from resources.http.backoff import back_off, may_pass, wait_of
from resources.http.pages import send_bounded

_MOST_BYTES = 64 * 2**20  # of one response
_LONGEST_WAIT = 60.0  # s; if the gallery asks for more, the query fails


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryHit:
    """An image that a gallery found."""

    image_id: str
    query: str
    prompt: str  # from which it was generated
    url: str


class HttpGallery:
    """A gallery that responds to ``GET {address}?query=...`` with a JSON list.

    Each object of the list has the strings ``id``, ``prompt`` and ``url``. A gallery with another
    format needs a small translating server in front of it.
    """

    def __init__(
        self, address: str, pause: float = 1.0, timeout: float = 60.0, tries: int = 4
    ) -> None:
        """Store the settings; no request is sent.

        Args:
            address: Template of the gallery's address, up to the question mark.
            pause: s between two queries, and about as long before a second attempt.
            timeout: s for a complete response.
            tries: Attempts per query.
        """
        self.address = address
        self._pause = pause
        self._timeout = timeout
        self._tries = tries
        self._rng = random.Random()
        self._asked = False

    def search(self, query: str) -> list[GalleryHit]:
        """Search the images of one query, in the gallery's order.

        Raises:
            SourceError: If the request fails or the response is invalid; names the query.
        """
        if self._asked:
            time.sleep(self._pause)
        self._asked = True
        url = f"{self.address}?{urllib.parse.urlencode({'query': query})}"
        try:
            found = self._found(url)
        except (OSError, ValueError, RecursionError) as why:
            raise SourceError(f"{url}: cannot be searched: {why}") from why
        if not isinstance(found, list):
            raise SourceError(f"{url}: expected a list of images, got {found!r:.60}")
        return [_image(entry, query, f"{url}, entry {n}") for n, entry in enumerate(found, 1)]

    def _found(self, url: str, tries: int = 1) -> object:
        answer = send_bounded(with_keys(url), timeout=self._timeout, most=_MOST_BYTES)
        if answer.status == 200:
            return json.loads(answer.body)
        wait = back_off(tries, self._pause, self._rng, asked_for=wait_of(answer.headers))
        if tries == self._tries or wait > _LONGEST_WAIT or not may_pass(answer.status):
            raise OSError(f"HTTP {answer.status}")
        time.sleep(wait)
        return self._found(url, tries + 1)


def _image(entry: Any, query: str, where: str) -> GalleryHit:  # noqa: ANN401
    names = ("id", "prompt", "url")
    if not isinstance(entry, dict) or not all(isinstance(entry.get(name), str) for name in names):
        raise SourceError(f"{where}: expected texts {', '.join(names)}, got {entry!r:.60}")
    return GalleryHit(image_id=entry["id"], query=query, prompt=entry["prompt"], url=entry["url"])
