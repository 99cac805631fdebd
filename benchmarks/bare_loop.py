"""The requests of an evaluation, sent in a loop that stores nothing.

``python -m benchmarks.bare_loop URL`` sends them to a server.
"""

import asyncio
import base64
import sys

import aiohttp

from benchmarks.work import CONCURRENCY, N_QUESTIONS, build_pairs
from tests.fakes.codis_release import image


async def ask(base_url: str) -> int:
    """Send each question with an image, and return the number of responses."""
    encoded = base64.b64encode(image(1)).decode()
    image_part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{encoded}"}}
    prompts = [f"{pair['context']} {pair['question']}" for pair in build_pairs() for _ in range(2)]
    unsent = iter(prompts)
    responses: list[str] = []

    async def send_until_none_is_left() -> None:
        for prompt in unsent:
            content = [image_part, {"type": "text", "text": prompt}]
            body = {"model": "m", "messages": [{"role": "user", "content": content}]}
            async with session.post(f"{base_url}/chat/completions", json=body) as response:
                completion = await response.json()
                responses.append(completion["choices"][0]["message"]["content"])

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(send_until_none_is_left() for _ in range(CONCURRENCY)))
    return len(responses)


if __name__ == "__main__":
    assert asyncio.run(ask(sys.argv[1])) == N_QUESTIONS
