"""One question to a server of images: all of it within a time, and no more than so many bytes."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpQuestion:
    """What is asked. With a body it is a POST, which no redirect is followed with."""

    url: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 60.0  # s until the last byte of the answer is there
    most: int  # bytes of the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def exchanged(question: HttpQuestion) -> HttpAnswer:
    """Ask, and wait for the answer; to be called where no loop runs.

    A key in a header is for who was asked: whoever that one redirects to does not get it.

    Raises:
        OSError: If there is no answer, or not all of it in time; ``TimeoutError`` is one.
        ValueError: If the address is none, or the answer is larger.
    """
    return asyncio.run(_exchanged(question))


async def _exchanged(question: HttpQuestion) -> HttpAnswer:
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
            return HttpAnswer(status=response.status, headers=headers, body=bytes(body))
    except TimeoutError as why:
        raise TimeoutError(f"no whole answer within {question.timeout:g} s") from why
    except aiohttp.InvalidURL as why:
        raise ValueError("not an address such as http://127.0.0.1:8000/v1") from why
    except aiohttp.ClientError as why:
        raise OSError(str(why) or type(why).__name__) from why
