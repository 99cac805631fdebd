"""Capabilities of known servers and APIs, with the source of each entry."""

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
FormatName: TypeAlias = Literal["openai", "anthropic"]
MaxTokensField: TypeAlias = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFeatures:
    """Capabilities of a kind of server; the defaults work with every server."""

    neutral: Mapping[str, Any] = field(default_factory=dict)
    """Fields that switch off sampling parameters of a checkpoint's generation_config, a GGUF file
    or the command line; with them, ``top_p`` is always sent too."""
    takes_template_kwargs: bool = False
    """Whether it passes ``chat_template_kwargs`` to the chat template."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Its names of temperature, top_p, max_tokens and seed, if different; "" if unsupported."""
    needs: frozenset[str] = frozenset()
    """Fields that every request must have."""
    key_header: str = "Authorization"
    """Header with the key: after ``Bearer`` in ``Authorization``, bare in any other header."""


_NEW_NAMES = {"max_tokens": "max_completion_tokens"}
_WITHOUT_PENALTIES = {"presence_penalty": 0.0, "frequency_penalty": 0.0}
_NEUTRAL_GENERATION_CONFIG = '{"do_sample":true,"num_beams":1,"repetition_penalty":1.0,"top_k":0}'
_NEUTRAL_VLLM = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0, **_WITHOUT_PENALTIES}

SERVERS: Mapping[ServerName, ServerFeatures] = {
    "": ServerFeatures(),
    # vLLM 002032e, chat_completion/protocol.py; issues 13513, 15281
    "vllm": ServerFeatures(neutral=_NEUTRAL_VLLM, takes_template_kwargs=True),
    # SGLang 004c82e, openai/protocol.py; QwenLM/Qwen3 issue 1321
    "sglang": ServerFeatures(neutral=_NEUTRAL_VLLM, takes_template_kwargs=True),
    # LMDeploy 1e84c6e, 161a186, 0168eed: serving.py, generation_config.py, messages.py
    "lmdeploy": ServerFeatures(
        neutral={"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}, takes_template_kwargs=True
    ),
    # llama.cpp 0177c34, server-schema.cpp; issue 28230
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
    ),
    # transformers 5.23.0, cli/serving: JSON inside JSON; missing keys are the checkpoint's.
    "transformers": ServerFeatures(
        neutral={"generation_config": _NEUTRAL_GENERATION_CONFIG}, takes_template_kwargs=True
    ),
    # Ollama 634c416, openai/openai.go; issues 4967, 17889
    "ollama": ServerFeatures(neutral=_WITHOUT_PENALTIES),
    # OpenAI's guide to images; openai-python issue 2046
    "openai": ServerFeatures(names=_NEW_NAMES),
    # azure-rest-api-specs issue 46145
    "azure": ServerFeatures(names=_NEW_NAMES, key_header="api-key"),
    # OpenRouter's page on errors
    "openrouter": ServerFeatures(),
    # Google's pages on OpenAI compatibility and on images
    "gemini": ServerFeatures(),
    # Anthropic's pages on the OpenAI SDK and on vision; seed is ignored there
    "anthropic": ServerFeatures(),
    # spring-ai pull request 5020; Mistral's page of known limitations
    "mistral": ServerFeatures(names={"seed": "random_seed"}),
    # DeepSeek's page of error codes
    "deepseek": ServerFeatures(),
    # xAI's page on image understanding
    "xai": ServerFeatures(),
    # no documentation found; fields from clients' sources
    "dashscope": ServerFeatures(),
}

APIS: Mapping[FormatName, ServerFeatures] = {
    # anthropic-sdk-python: message.py, stop_reason.py, usage.py; the API's pages on errors, vision
    "anthropic": ServerFeatures(
        names={"seed": ""}, needs=frozenset({"max_tokens"}), key_header="x-api-key"
    )
}
"""Capabilities of single-vendor APIs, by format."""
