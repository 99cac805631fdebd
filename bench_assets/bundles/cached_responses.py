"""What was once responded, by the signature of who responded.

No weights, no server, no key is needed.

So a number can be evaluated again whose checkpoint is gone, as long as its responses are
remembered.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench_assets.comparison.causes import who_and_how
from bench_assets.core.images.decoding import VERSION
from bench_assets.core.parsing.reasoning import Tags
from bench_assets.core.schema.chat import Request, Response
from resources.response_cache.caching_model import key_of
from resources.response_cache.port import ResponseStore

NOT_REMEMBERED = "its response is not remembered"

_THINKING = "|thinking="
_TEMPERATURE = re.compile(r"(?:(?<=^)|(?<=,))t=[^,]*")


class RememberedModel:
    """Says what another said, as far as the store knows; what it does not know is an error."""

    def __init__(self, name: str, signature: str, store: ResponseStore) -> None:
        """Take who is meant from a signature's part ``model``."""
        self.name, self.signature = name, signature
        asked, _, tags = signature.partition(_THINKING)
        opening, _, closing = tags.partition(" ")
        self._tags: Tags | None = (opening, closing) if closing else None
        self._identity, self._decoding = who_and_how(asked)
        self._store = store

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order."""
        keys = [list(self._keys(request)) for request in requests]
        found = self._store.find(list(dict.fromkeys(key for some in keys for key in some)))
        known = [next((found[key] for key in some if key in found), None) for some in keys]
        return [
            Response(error=NOT_REMEMBERED)
            if one is None
            else replace(one, thinking_tags=self._tags)
            for one in known
        ]

    def _keys(self, request: Request) -> Iterator[str]:
        """How the response may be named: with the decoder's version, where it changed an image."""
        decoding = self._decoding
        if request.temperature is not None:
            drawn = f"t={request.temperature:g}"
            decoding = _TEMPERATURE.sub(drawn, decoding, count=1) if decoding else drawn
        if request.prompt.images:
            yield key_of(self._identity, decoding, request, f"images@{VERSION}")
        yield key_of(self._identity, decoding, request)
