"""The section of bench.toml that names a model behind a server."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from resources.sections import Asked


def _are_urls(value: str | tuple[str, ...]) -> str | tuple[str, ...]:
    for url in [value] if isinstance(value, str) else value or [""]:
        if not re.fullmatch(r"https?://[^/@\s]+(/\S*)?", url):
            raise ValueError("should be like http://127.0.0.1:8000/v1, without name and password")
    return value


class ServerSpec(Asked):
    """A model behind an OpenAI-compatible server (vLLM, SGLang, llama.cpp, a hosted one)."""

    kind: Literal["server"]
    base_url: Annotated[str | tuple[str, ...], AfterValidator(_are_urls)]
    """Up to and including ``/v1``; without a name and password, which would be written down.

    Several addresses of one model share its requests; the first is part of a reply's identity.
    """
    model: str
    """The name that the server knows the model by."""
    revision: str = ""
    """Part of a reply's identity: change it when the server's weights change."""
    api_key_env: str = ""
    """Name of the environment variable with the key; the key itself is never written down."""
    concurrency: int = Field(32, gt=0)
    """Most requests under way at once, at each address."""
    min_concurrency: int = Field(1, gt=0)
    """As few does an overloaded address get at once; with as many as above, nothing adapts."""
    slow: float | None = Field(None, gt=0)
    """s; a reply that takes longer is a sign of overload, like HTTP 429 and 5xx."""
    max_tries: int = Field(6, gt=0)
    """Tries a request, the first included."""
    max_wait: float = Field(120.0, gt=0)
    """s; longest that a request is retried, waiting included."""
    timeout: float = Field(600.0, gt=0)
    """s; longest wait for one reply."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of the request, such as ``{top_k = 1}``; part of a reply's identity."""
    price_in: float = Field(0.0, ge=0)
    """Money for a million tokens that are read, in any currency."""
    price_out: float = Field(0.0, ge=0)
    """Money for a million tokens that are written."""
    budget: float | None = Field(None, ge=0)
    """Money that may be spent on this model, all remembered replies included; None: any."""
    budget_tokens: int | None = Field(None, ge=0)
    """Tokens that may be read and written in all, counted likewise."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """Every address, without a slash at its end."""
        urls = (self.base_url,) if isinstance(self.base_url, str) else self.base_url
        return tuple(url.rstrip("/") for url in urls)
