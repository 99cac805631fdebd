"""Section of a model behind a server."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from bench_resources.config.addresses import shown_address, template_of, template_of_value
from bench_resources.config.environment import require_variable_name
from bench_resources.config.sections.base import SamplingSection
from bench_resources.config.sections.known_servers import (
    APIS,
    SERVERS,
    FormatName,
    MaxTokensField,
    ServerFeatures,
    ServerName,
)
from bench_resources.config.sections.serving import ManagedServerSection, server_of

INITIAL_CONCURRENCY = 32
"""Initial number of concurrent requests per address with ``concurrency = "auto"``."""

_SAMPLING_FIELDS = ("temperature", "top_p", "max_tokens", "seed")


def is_url(text: str) -> bool:
    """Whether a text can be the address of a server."""
    return bool(re.fullmatch(r"https?://[^/@#\s]+(/[^#\s]*)?", text))


def _parse_address(value: object) -> object:
    if not (isinstance(value, str) and is_url(value)):
        raise ValueError(
            "expected an address like http://127.0.0.1:8000/v1, without a password and #; for"
            " several servers, the address of the load balancer before them"
        )
    return template_of(value)


def _check_header(name: str) -> str:
    if not re.fullmatch(r"[\w!#$%&'*+.^`|~-]*", name, re.ASCII):
        raise ValueError('expected the name of a header, such as "X-Api-Key"; its value is the key')
    return name


def _check_concurrency(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool) and value > 0
    if value != "auto" and not is_number:
        raise ValueError('expected "auto" or a whole number greater than 0')
    return value


def _server_from_command(section: Mapping[str, Any]) -> ServerName:
    return server_of(section.get("serve", "")) if section.get("format") == "openai" else ""


_OWN_FIELDS = frozenset({"messages", "model", "stream", "n", "prompt", "input", "system"})
"""Fields of a request that extra_body may not replace, of all formats."""


class ServerSpec(SamplingSection, ManagedServerSection):
    """A model behind a server (vLLM, SGLang, llama.cpp, a hosted one).

    For the differences between servers and the settings of each, see ``docs/servers.md``.
    """

    format: FormatName = "openai"
    """API: OpenAI's Chat Completions or Anthropic's Messages; part of a response's identity."""
    server: ServerName = Field(default_factory=_server_from_command)
    """Server software, with OpenAI's API; default: recognised in ``serve``, else only common fields
    are sent. Some servers also get fields that make them ignore the sampling parameters of
    ``generation_config.json``; these are part of a response's identity."""
    base_url: Annotated[str, BeforeValidator(_parse_address)] = ""
    """Address up to and including ``/v1``, without a password; ``{MY_KEY}`` in it is replaced by an
    environment variable. The address is part of a response's identity, unless ``path`` is set."""
    model: str = ""
    """Name of the model on the server; default with ``serve``: ``{name}`` or the path; part of a
    response's identity."""
    revision: str = ""
    """Any text. Change it when the weights of the server change; part of a response's identity."""
    api_key_env: Annotated[str, AfterValidator(require_variable_name)] = ""
    """Name of the environment variable with the key."""
    key_header: Annotated[str, AfterValidator(_check_header)] = ""
    """Header of the key; default: that of ``server`` or ``format``, else ``Authorization``, where
    "Bearer" precedes the key."""
    concurrency: Annotated[Literal["auto"] | int, BeforeValidator(_check_concurrency)] = "auto"
    """Maximum number of concurrent requests per server; ``"auto"`` begins with 32 and adapts to the
    server."""
    max_tries: int = Field(6, gt=0)
    """Attempts per request, including the first."""
    max_wait: float = Field(120.0, gt=0)
    """Seconds from the first attempt after which a request is not repeated."""
    timeout: float = Field(600.0, gt=0)
    """Seconds to wait for one response."""
    max_tokens_field: MaxTokensField | None = None
    """Name of the field for ``max_tokens``; default: that of ``server``."""
    omit: tuple[str, ...] = ()
    """Fields that are not sent, such as ``["temperature"]``; part of a response's identity."""
    chat_template_kwargs: Annotated[dict[str, Any], AfterValidator(template_of_value)] = Field(
        default_factory=dict
    )
    """Variables of the chat template, for servers that accept them; part of a response's
    identity."""
    text_only: bool = False
    """A language model, which is evaluated without images; part of a response's identity."""
    price_in: float = Field(0.0, ge=0)
    """Price of a million prompt tokens, in any currency."""
    price_out: float = Field(0.0, ge=0)
    """Price of a million response tokens."""
    budget: float | None = Field(None, ge=0)
    """Cost of this model, including its cached responses, at which no more requests are sent, in
    the currency of the prices; default: unlimited."""
    budget_tokens: int | None = Field(None, ge=0)
    """As ``budget``, in tokens of prompts and responses."""
    max_images: int | None = Field(None, gt=0)
    """Maximum number of images per conversation. A prompt with more is an error."""
    extra_body: Annotated[dict[str, Any], AfterValidator(template_of_value)] = Field(
        default_factory=dict
    )
    """Further fields of the request, such as ``{top_k = 1}``. ``"env:NAME"`` is replaced by an
    environment variable; part of a response's identity."""

    @property
    def address(self) -> str:
        """Template of the address, without a slash at its end."""
        return self.base_url.rstrip("/")

    @property
    def place(self) -> str:
        """The address without keys; or the served path."""
        return shown_address(self.address) or self.path

    @property
    def has_budget(self) -> bool:
        """Whether spending is limited."""
        return self.budget is not None or self.budget_tokens is not None

    @property
    def initial_concurrency(self) -> int:
        """Initial number of concurrent requests per server."""
        return INITIAL_CONCURRENCY if self.concurrency == "auto" else self.concurrency

    @property
    def features(self) -> ServerFeatures:
        """Capabilities of this kind of server."""
        return APIS.get(self.format) or SERVERS[self.server]

    @property
    def constant_fields(self) -> dict[str, Any]:
        """Fields that are equal in all requests, without model, messages and extra_body."""
        fields: dict[str, Any] = {"max_tokens": self.max_tokens}
        if self.features.neutral or self.top_p != 1.0:
            fields["top_p"] = self.top_p
        fields |= self.features.neutral
        if self.chat_template_kwargs:
            fields["chat_template_kwargs"] = self.chat_template_kwargs
        return self._named_for_server(fields)

    def sampling_fields(self, sample: int, temperature: float | None) -> dict[str, Any]:
        """Fields that differ between requests: temperature (None: the model's) and seed.

        The number of the sample (from 0) is added to the seed.
        """
        sampling: dict[str, Any] = {
            "temperature": self.temperature if temperature is None else temperature
        }
        if self.seed is not None:
            sampling["seed"] = self.seed + sample
        return self._named_for_server(sampling)

    def identity_of(self, engine: str = "") -> str:
        """Identity: address, model, revision, format, text_only, and constant or omitted fields.

        ``engine``, the engine with its weights, replaces the address unless it is "". The decoding
        parameters are not part of the identity, but of the cache key.
        """
        fields = self.constant_fields | self.extra_body
        for name in self._decoding_fields - self.extra_body.keys():
            fields.pop(name, None)
        revision = f"@{self.revision}" if self.revision else ""
        parts = [engine or f"server:{self.place}"]
        if self.model or revision:
            parts.append(f"{self.model}{revision}")
        if self.format != "openai":
            parts.append(f"format={self.format}")
        if self.text_only:
            parts.append("text_only")
        parts += [f"-{name}" for name in sorted(set(self.omit))]
        if fields:
            serialized = orjson.dumps(fields, option=orjson.OPT_SORT_KEYS).decode()
            parts.append(shown_address(serialized))
        return "|".join(parts)

    @property
    def _decoding_fields(self) -> set[str]:
        """Names of the decoding parameters, ours and the server's."""
        server_names = map(self._field_name, _SAMPLING_FIELDS)
        return {"max_completion_tokens", *_SAMPLING_FIELDS, *server_names}

    def _field_name(self, name: str) -> str:
        """The server's name of a field; "" if it does not take it."""
        if name == "max_tokens" and self.max_tokens_field:
            return self.max_tokens_field
        return self.features.names.get(name, name)

    def _named_for_server(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Fields by the server's names, without those that it does not take or that are omitted."""
        named = {}
        for name, value in fields.items():
            server_name = self._field_name(name)
            if server_name and not {name, server_name} & set(self.omit):
                named[server_name] = value
        return named

    @model_validator(mode="after")
    def _check_location(self) -> Self:
        if bool(self.serve) == bool(self.base_url):
            raise ValueError("expected either serve or base_url")
        if self.serve and not self.path:
            raise ValueError("serve needs path, the folder with the weights")
        if not (self.model or self.serve):
            raise ValueError("model is missing: the server's name of the model")
        return self

    @model_validator(mode="after")
    def _check_extra_body(self) -> Self:
        """Refuse fields that bench writes, which are part of a response's identity elsewhere."""
        if reserved := _OWN_FIELDS & self.extra_body.keys():
            raise ValueError(
                f"extra_body: {', '.join(sorted(reserved))} cannot be replaced: bench writes it in"
                " every request. Remove it"
            )
        return self

    @model_validator(mode="after")
    def _check_features(self) -> Self:
        if self.chat_template_kwargs and not self.features.takes_template_kwargs:
            supporting = [name for name, server in SERVERS.items() if server.takes_template_kwargs]
            raise ValueError(
                f'chat_template_kwargs work with {", ".join(supporting)}: set server = "...". Other'
                " servers have their own fields, for extra_body"
            )
        server_name = self.server or self.format
        if self.seed is not None and not self._field_name("seed"):
            raise ValueError(f"seed does not work with {server_name}. Remove it")
        if self.format != "openai" and (self.server or self.max_tokens_field):
            raise ValueError('server and max_tokens_field need format = "openai"')
        if unknown := set(self.omit) - self._decoding_fields - {*self.features.neutral}:
            raise ValueError(f"omit: not sent to this server: {', '.join(sorted(unknown))}")
        if needed := set(self.omit) & self.features.needs:
            raise ValueError(f"omit: {server_name} refuses requests without {', '.join(needed)}")
        return self
