"""Search in a gallery of generated images over HTTP.

One question to a server of images: all of it within a time, and no more than so many bytes.
"""

import asyncio
import json
import random
import time
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bench_assets.core.schema.errors import SourceError
from resources.http.backoff import back_off, may_pass, wait_of


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedRequest:
    """What is asked. With a body it is a POST, which no redirect is followed with."""

    url: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 60.0  # s until the last byte of the answer is there
    most: int  # bytes of the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedResponse:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def send_bounded(question: BoundedRequest) -> BoundedResponse:
    """Ask, and wait for the answer; to be called where no loop runs.

    A key in a header is for who was asked: whoever that one redirects to does not get it.

    Raises:
        OSError: If there is no answer, or not all of it in time; ``TimeoutError`` is one.
        ValueError: If the address is none, or the answer is larger.
    """
    return asyncio.run(_send(question))


async def _send(question: BoundedRequest) -> BoundedResponse:
    import aiohttp  # which takes long, and most commands ask nobody

    try:
        async with (
            asyncio.timeout(question.timeout),
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.request(
                "POST" if question.body else "GET",
                question.url,
                data=question.body or None,
                headers=question.headers,
                allow_redirects=not question.body,
            ) as response,
        ):
            body = bytearray()
            async for part in response.content.iter_any():
                body += part
                if len(body) > question.most:
                    raise ValueError(f"the answer has more than {question.most} bytes")
            headers = dict(response.headers)
            return BoundedResponse(status=response.status, headers=headers, body=bytes(body))
    except TimeoutError as why:
        raise TimeoutError(f"no whole answer within {question.timeout:g} s") from why
    except aiohttp.InvalidURL as why:
        raise ValueError("not an address such as http://127.0.0.1:8000/v1") from why
    except aiohttp.ClientError as why:
        raise OSError(str(why) or type(why).__name__) from why


_MOST_BYTES = 64 * 2**20  # of one answer
_LONGEST_WAIT = 60.0  # s; a gallery that asks for more is left alone


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryHit:
    """An image that a gallery found."""

    image_id: str
    query: str
    prompt: str  # what it was generated from
    url: str


class HttpGallery:
    """A gallery that answers ``GET {address}?query=...`` with a JSON list.

    Each object of the list has ``id``, ``prompt`` and ``url``, all texts. A gallery that answers
    otherwise needs a small server in front of it that translates.
    """

    def __init__(
        self, address: str, pause: float = 1.0, timeout: float = 60.0, tries: int = 4
    ) -> None:
        """Prepare to search.

        Args:
            address: Where the gallery is, up to the question mark.
            pause: s between two queries, and about as long before a second try.
            timeout: s until an answer is there, all of it.
            tries: Of one query.
        """
        self.address = address
        self._pause = pause
        self._timeout = timeout
        self._tries = tries
        self._rng = random.Random()
        self._asked = False

    def search(self, query: str) -> list[GalleryHit]:
        """Ask for the images of one query, in the gallery's order.

        Raises:
            SourceError: If the gallery does not answer, or not as it should; names the query.
        """
        if self._asked:
            time.sleep(self._pause)
        self._asked = True
        url = f"{self.address}?{urllib.parse.urlencode({'query': query})}"
        try:
            found = self._found(url)
        except (OSError, ValueError, RecursionError) as why:
            raise SourceError(f"{url}: no list of images: {why}") from why
        if not isinstance(found, list):
            raise SourceError(f"{url}: expected a list of images, found {found!r:.60}")
        return [_image(entry, query, f"{url}, entry {n}") for n, entry in enumerate(found, 1)]

    def _found(self, url: str, tries: int = 1) -> object:
        answer = send_bounded(BoundedRequest(url=url, timeout=self._timeout, most=_MOST_BYTES))
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
        raise SourceError(f"{where}: expected texts {', '.join(names)}, found {entry!r:.60}")
    return GalleryHit(image_id=entry["id"], query=query, prompt=entry["prompt"], url=entry["url"])
