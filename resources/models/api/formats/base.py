"""Protocol of an API format."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from bench_assets.core.schema.chat import Request, Response, Turn


class ApiFormat(Protocol):
    """Writes requests to one server, and reads its responses."""

    holds: str
    """The field of a body that responses are in; a body without it may be an error."""

    @property
    def path(self) -> str:
        """What follows the address of the server: ``/chat/completions``."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """What is sent with every request, beside the key."""
        ...

    def message(self, turn: Turn) -> dict[str, Any]:
        """Write one turn of a conversation.

        Raises:
            ImageError: If an image cannot be read, or does not decode.
        """
        ...

    def body(self, request: Request, messages: Sequence[dict[str, Any]]) -> bytes:
        """Write a whole request.

        Args:
            request: What is asked.
            messages: The conversation so far.

        Raises:
            orjson.JSONEncodeError: If a text is not valid Unicode.
        """
        ...

    def response(self, received: Mapping[str, Any], seconds: float) -> Response:
        """Read a body with status 200. Reasoning that is kept apart goes in front of the text.

        Raises:
            NoResponseError: If it is not certainly a response.
        """
        ...
