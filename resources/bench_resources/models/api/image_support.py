"""Whether a server accepts images, probed once when a first request with images fails.

Servers of language models refuse images in many ways: with HTTP 400, or 500 as for a crash.
"""

import asyncio
import io
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from PIL import Image as PILImage

from bench_assets.core.schema.chat import (
    IMAGE_REFUSED,
    REQUEST_REFUSED,
    Image,
    Prompt,
    Request,
    Response,
)
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.backoff import Failure
from bench_resources.models.api.formats.base import ApiFormat
from bench_resources.response_cache.engine import ReadImage

Post: TypeAlias = Callable[[bytes], Awaitable[Response | Failure]]

_TEXT = "What is this? Answer with one word."
_SIDE = 64  # px
_TOKENS = 16  # of the response to a probe
_ADVICE = (
    "the server accepts no images: set text_only = true to evaluate it without images, or start the"
    " server with an image encoder (llama.cpp: --mmproj)"
)


class ImageSupport:
    """Sends probes with and without a plain image when the first request with images fails.

    If only the text is answered, every such failure is a permanent refusal. The image probe is
    repeated, in case the server fails at random.
    """

    def __init__(
        self, spec: ServerSpec, make_format: Callable[[ServerSpec, ReadImage], ApiFormat]
    ) -> None:
        """Store the configuration; nothing is sent yet."""
        probe_spec = spec.model_copy(update={"max_tokens": min(spec.max_tokens, _TOKENS)})
        self._form = make_format(probe_spec, lambda _: _plain_image())
        self._takes_images: bool | None = None  # unknown
        self._asking = asyncio.Lock()

    async def explain(self, outcome: Response | Failure, post: Post) -> Response | Failure:
        """Make a failure permanent if the server accepts no images at all."""
        if isinstance(outcome, Response):
            self._takes_images = True
            return outcome
        if not _may_concern_images(outcome):
            return outcome
        async with self._asking:
            if self._takes_images is None:
                self._takes_images = not await self._accepts_only_texts(post)
        if self._takes_images:
            return outcome
        return replace(outcome, tries=1, refused=True, refusal=IMAGE_REFUSED, advice=_ADVICE)

    async def _accepts_only_texts(self, post: Post) -> bool:
        image = Image("plain")
        return (
            _may_concern_images(await self._probe(post, image))
            and isinstance(await self._probe(post), Response)
            and _may_concern_images(await self._probe(post, image))
        )

    async def _probe(self, post: Post, *images: Image) -> Response | Failure:
        request = Request(prompt=Prompt.of(*images, _TEXT))
        messages = [self._form.message(turn) for turn in request.prompt.turns]
        return await post(self._form.body(request, messages))


def _may_concern_images(failure: Response | Failure) -> bool:
    if isinstance(failure, Response):
        return False
    if failure.refusal:
        return failure.refusal in (IMAGE_REFUSED, REQUEST_REFUSED)
    return not failure.refused and (failure.tries == 1 or failure.what == "HTTP 500")


@cache
def _plain_image() -> bytes:
    written = io.BytesIO()
    PILImage.new("RGB", (_SIDE, _SIDE), "red").save(written, "PNG")
    return written.getvalue()
