"""Stands in for vllm: the documented signatures of ``LLM``, and a model that echoes.

A reply is a thought, and then the digest of what the model saw and of how it was drawn. A prompt is
as many tokens as it has words, and pictures.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from types import ModuleType
from typing import Any

from PIL import Image as Pictures


class VLLMError(Exception): ...


class VLLMClientError(VLLMError): ...


class VLLMServerError(VLLMError): ...


class VLLMValidationError(VLLMClientError): ...


@dataclass(kw_only=True)
class SamplingParams:
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None
    max_tokens: int | None = 16

    def __post_init__(self) -> None:
        if self.temperature > 2:
            raise VLLMValidationError(f"temperature must be in [0, 2], got {self.temperature}.")


@dataclass
class CompletionOutput:
    index: int
    text: str
    token_ids: Sequence[int]
    finish_reason: str | None = None


@dataclass
class RequestOutput:
    request_id: str
    prompt_token_ids: list[int] | None
    outputs: list[CompletionOutput] = field(default_factory=list)


class LLM:
    made: list["LLM"] = []  # noqa: RUF012

    def __init__(
        self,
        model: str,
        *,
        trust_remote_code: bool = False,
        tensor_parallel_size: int = 1,
        dtype: str = "auto",
        revision: str | None = None,
        seed: int = 0,
        gpu_memory_utilization: float = 0.92,
        **kwargs: Any,
    ) -> None:
        if unknown := set(kwargs) - _ENGINE_ARGUMENTS:
            raise TypeError(f"EngineArgs got an unexpected keyword argument {min(unknown)!r}")
        if gpu_memory_utilization > 0.95:
            raise RuntimeError("Engine core initialization failed. See root cause above.\nmore")
        self.arguments = kwargs | {"model": model, "dtype": dtype, "seed": seed}
        self.arguments |= {"revision": revision, "tensor_parallel_size": tensor_parallel_size}
        self.batches: list[list[SamplingParams]] = []
        LLM.made.append(self)

    def chat(
        self,
        messages: Sequence[list[dict[str, Any]]],
        sampling_params: Sequence[SamplingParams],
        use_tqdm: bool = True,
    ) -> list[RequestOutput]:
        assert len(messages) == len(sampling_params)
        self.batches.append(list(sampling_params))
        seen = [_seen(talk) for talk in messages]
        longest = self.arguments.get("max_model_len") or 1_000
        for words in seen:
            if len(words) > longest:
                raise VLLMValidationError(f"The prompt (length {len(words)}) is too long\nmore")
            if "dies" in words:
                raise VLLMServerError("EngineCore encountered an issue.")
        pairs = zip(seen, sampling_params, strict=True)
        return [self._output(n, words, drawn) for n, (words, drawn) in enumerate(pairs)]

    def _output(self, number: int, words: list[str], drawn: SamplingParams) -> RequestOutput:
        chance = (drawn.temperature, drawn.top_p, drawn.seed) if drawn.temperature else ()
        digest = sha256(repr((words, chance)).encode()).hexdigest()[:8]
        reason = "abort" if "abort" in words else "stop"
        said = CompletionOutput(0, f"<think>hm</think>{digest}", [1, 2, 3], reason)
        return RequestOutput(str(number), list(range(len(words))), [said])


_ENGINE_ARGUMENTS = {
    "enable_prefix_caching",
    "interleave_mm_strings",
    "limit_mm_per_prompt",
    "max_model_len",
    "max_num_seqs",
}


def modules() -> dict[str, ModuleType]:
    """What ``sys.modules`` has to say for this to be found as ``vllm``."""
    return {"vllm": sys.modules[__name__], "vllm.exceptions": sys.modules[__name__]}


def _seen(talk: list[dict[str, Any]]) -> list[str]:
    words = []
    for message in talk:
        words.append(message["role"])
        for part in message["content"]:
            if part["type"] == "image_pil":
                assert isinstance(part["image_pil"], Pictures.Image)
                words.append(sha256(part["image_pil"].tobytes()).hexdigest())
            else:
                assert part["type"] == "text"
                words += part["text"].split()
    return words
