"""Addresses, headers and limits that all server engines share."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeAlias

from bench_assets.core.schema.chat import Decoding, Request
from resources.config.environment import read_secret, short_key_warning
from resources.config.sections.known_servers import FormatName
from resources.config.sections.servers import ServerSpec
from resources.http.event_loop import Arrival, Hand, in_background
from resources.models.api.budget import Budget, has_budget
from resources.models.api.formats.anthropic import Anthropic
from resources.models.api.formats.base import ApiFormat
from resources.models.api.formats.gemini import Gemini
from resources.models.api.formats.openai import OpenAI
from resources.response_cache.engine import ReadImage
from resources.response_cache.image_changes import SERVER_CHANGES, ImageChangeRecorder
from resources.response_cache.port import TokenCounts

FormatOf: TypeAlias = Callable[[ServerSpec, ReadImage], ApiFormat]
Spent: TypeAlias = Callable[[str], TokenCounts]

_log = logging.getLogger("bench_assets.server")
_FORMATS: Mapping[FormatName, FormatOf] = {
    "openai": OpenAI,
    "anthropic": Anthropic,
    "gemini": Gemini,
}


def no_tokens(_: str) -> TokenCounts:
    """What was asked before, where nothing was."""
    return TokenCounts()


class AtServer(ABC):
    """An engine whose model is behind a server."""

    def __init__(
        self,
        spec: ServerSpec,
        read_image: ReadImage,
        spent: Spent,
        base_delay: float,
        format_of: FormatOf | None = None,
    ) -> None:
        """Prepare to ask; arguments as the engines describe them."""
        self._spec = spec
        self._form = (format_of or _FORMATS[spec.format])(spec, read_image)
        self._shown = ImageChangeRecorder(read_image, SERVER_CHANGES)
        self._spent = spent
        self._base_delay = base_delay

    @cached_property  # named with each request
    def identity(self) -> str:
        """Address, model name and revision, and whatever else every request says or leaves out."""
        return self._spec.identity

    @property
    def decoding(self) -> Decoding:
        """How responses are drawn where a request does not say otherwise."""
        return self._spec.decoding

    @property
    def peak_memory(self) -> int | None:
        """Servers keep that to themselves."""
        return None

    def stream(self, requests: Sequence[Request]) -> Iterator[Arrival]:
        """Answer requests; yields each response as it arrives.

        Raises:
            ModelError: If the server cannot be reached, or refuses us.
            SettingsError: If the environment lacks the key.
        """
        responses = in_background(partial(self._answer_all, requests, self._key()))
        yield from self._shown.noted(requests, responses)

    def particulars(self, request: Request) -> str:
        """The decoder's version where it changes the pixels of an image."""
        return self._shown.particulars(request)

    def close(self) -> None:  # noqa: B027 - only those that start servers have more to do
        """Nothing is held between two streams."""

    @abstractmethod
    async def _answer_all(self, requests: Sequence[Request], key: str, hand: Hand) -> None:
        """Ask, with the server's key, and hand over what comes: each engine in its own way."""

    def _budget(self) -> Budget:
        spec = self._spec
        return Budget(spec, self._spent(self.identity) if has_budget(spec) else TokenCounts())

    def _headers(self, key: str) -> dict[str, str]:
        """What goes out with every request, the key among it."""
        header = self._spec.key_header or self._spec.knows.key_header
        bearing = f"Bearer {key}" if header == "Authorization" else key
        return {**self._form.headers, **({header: bearing} if key else {})}

    def _key(self) -> str:
        """The key of the server; "" if it needs none.

        Raises:
            SettingsError: If the environment lacks it.
        """
        name = self._spec.api_key_env
        key = read_secret(name) if name else ""
        if warning := short_key_warning(name):
            _log.warning("%s", warning)
        return key
