"""Capabilities of known servers and APIs.

``docs/servers.md`` says where each entry was looked up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

ServerName: TypeAlias = Literal[
    "",
    "anthropic",
    "azure",
    "dashscope",
    "deepseek",
    "gemini",
    "llama.cpp",
    "lmdeploy",
    "mistral",
    "ollama",
    "openai",
    "openrouter",
    "sglang",
    "transformers",
    "vllm",
    "xai",
]
FormatName: TypeAlias = Literal["openai", "anthropic", "gemini"]
MaxTokensField: TypeAlias = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFeatures:
    """One kind of server; the defaults are what every one of them takes."""

    neutral: Mapping[str, Any] = field(default_factory=dict)
    """Fields that switch off what a checkpoint's generation_config, a GGUF file or the command line
    would otherwise do to the distribution; with them, ``top_p`` is always sent too."""
    takes_template_kwargs: bool = False
    """Whether it hands ``chat_template_kwargs`` to the chat template."""
    has_card: bool = False
    """Whether a request without temperature is drawn as the checkpoint recommends."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What it calls temperature, top_p, max_tokens and seed, where that is something else; "" for
    what it does not take."""
    needs: frozenset[str] = frozenset()
    """Those that no request may leave out."""
    key_header: str = "Authorization"
    """Where it expects the key: after ``Bearer``, or bare in a header of another name."""


_NEWER_NAME = {"max_tokens": "max_completion_tokens"}
_WITHOUT_PENALTIES = {"presence_penalty": 0.0, "frequency_penalty": 0.0}
_NOT_THE_CARD = '{"do_sample":true,"num_beams":1,"repetition_penalty":1.0,"top_k":0}'
_AS_VLLM = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0, **_WITHOUT_PENALTIES}

SERVERS: Mapping[ServerName, ServerFeatures] = {
    # whatever it is: what it does without temperature is its affair
    "": ServerFeatures(has_card=True),
    "vllm": ServerFeatures(neutral=_AS_VLLM, takes_template_kwargs=True, has_card=True),
    "sglang": ServerFeatures(neutral=_AS_VLLM, takes_template_kwargs=True, has_card=True),
    "lmdeploy": ServerFeatures(
        neutral={"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0},
        takes_template_kwargs=True,
        has_card=True,
    ),
    "llama.cpp": ServerFeatures(
        neutral={
            "top_k": 0,
            "min_p": 0.0,
            "typical_p": 1.0,
            "repeat_penalty": 1.0,
            "dry_multiplier": 0.0,
            "xtc_probability": 0.0,
            "mirostat": 0,
            **_WITHOUT_PENALTIES,
        },
        takes_template_kwargs=True,
        has_card=True,
    ),
    # A JSON text inside the JSON; what it leaves out is taken from the checkpoint's own file.
    "transformers": ServerFeatures(
        neutral={"generation_config": _NOT_THE_CARD},
        takes_template_kwargs=True,
        has_card=True,
    ),
    "ollama": ServerFeatures(neutral=_WITHOUT_PENALTIES),
    "openai": ServerFeatures(names=_NEWER_NAME),
    "azure": ServerFeatures(names=_NEWER_NAME, key_header="api-key"),
    "openrouter": ServerFeatures(),
    "gemini": ServerFeatures(),
    "anthropic": ServerFeatures(),
    "mistral": ServerFeatures(names={"seed": "random_seed"}),
    "deepseek": ServerFeatures(),
    "xai": ServerFeatures(),
    "dashscope": ServerFeatures(),
}

APIS: Mapping[FormatName, ServerFeatures] = {
    "anthropic": ServerFeatures(
        names={"seed": ""}, needs=frozenset({"max_tokens"}), key_header="x-api-key"
    ),
    "gemini": ServerFeatures(
        names={"max_tokens": "maxOutputTokens", "top_p": "topP"},
        key_header="x-goog-api-key",
    ),
}
"""The APIs that only their vendors' servers have: what one of them takes, all do."""
