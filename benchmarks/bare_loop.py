"""The least that anyone pays for the work: its requests, sent in a loop that keeps nothing.

``python -m benchmarks.bare_loop URL``.
"""

import asyncio
import base64
import sys

import aiohttp

from benchmarks.work import CONCURRENCY, N, pairs
from tests.fakes.codis_release import image


async def ask(base_url: str) -> int:
    """Send a request for each question, with its image; returns the number of responses."""
    sent = base64.b64encode(image(1)).decode()
    shown = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{sent}"}}
    texts = iter([f"{pair['context']} {pair['question']}" for pair in pairs() for _ in range(2)])
    responses: list[str] = []

    async def work() -> None:
        for text in texts:
            content = [shown, {"type": "text", "text": text}]
            body = {"model": "m", "messages": [{"role": "user", "content": content}]}
            async with session.post(f"{base_url}/chat/completions", json=body) as response:
                said = await response.json()
                responses.append(said["choices"][0]["message"]["content"])

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
    return len(responses)


if __name__ == "__main__":
    assert asyncio.run(ask(sys.argv[1])) == N
