"""Stands in for vllm: the documented signatures of ``LLM``, and a model that echoes.

A response is a thought, and then the digest of what the model saw and of how it was drawn. An image
has one placeholder in the prompt that comes in, and ``PER_IMAGE`` in the one that is read.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from PIL import Image as PILImage

PER_IMAGE = 4  # tokens, as tests.tiny_checkpoint has it
_THOUGHT = "<think>hm</think>"


class VLLMError(Exception): ...


class VLLMClientError(VLLMError): ...


class VLLMServerError(VLLMError): ...


class VLLMValidationError(VLLMClientError): ...


@dataclass(kw_only=True)
class StructuredOutputsParams:
    choice: list[str] | None = None


@dataclass
class Logprob:
    logprob: float


@dataclass(kw_only=True)
class SamplingParams:
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None
    max_tokens: int | None = 16
    detokenize: bool = True
    prompt_logprobs: int | None = None
    structured_outputs: "StructuredOutputsParams | None" = None

    def __post_init__(self) -> None:
        if self.temperature > 2:
            raise VLLMValidationError(f"temperature must be in [0, 2], got {self.temperature}.")

    @property
    def chance(self) -> tuple[object, ...]:
        """What changes a response; the seed only where it is drawn."""
        drawn = (self.temperature, self.top_p, self.top_k, self.min_p, self.seed)
        return (self.repetition_penalty, *(drawn if self.temperature else ()))


@dataclass
class CompletionOutput:
    index: int
    text: str
    token_ids: Sequence[int]
    finish_reason: str | None = None


@dataclass
class RequestOutput:
    request_id: str
    prompt: str | None
    prompt_token_ids: list[int] | None
    outputs: list[CompletionOutput] = field(default_factory=list)
    prompt_logprobs: list[dict[int, Logprob] | None] | None = None


@dataclass
class LoRARequest:
    lora_name: str
    lora_int_id: int
    lora_path: str


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
        from transformers import AutoTokenizer

        if unknown := set(kwargs) - _ENGINE_ARGUMENTS:
            raise TypeError(f"EngineArgs got an unexpected keyword argument {min(unknown)!r}")
        if gpu_memory_utilization > 0.95:
            raise RuntimeError("Engine core initialization failed. See root cause above.\nmore")
        self.arguments = kwargs | {"model": model, "dtype": dtype, "seed": seed}
        self.arguments |= {"revision": revision, "tensor_parallel_size": tensor_parallel_size}
        self.files = {file.name for file in Path(model).iterdir()}
        self.model_config = SimpleNamespace(max_model_len=kwargs.get("max_model_len", 1_000))
        self.batches: list[list[SamplingParams]] = []
        self.prompts: list[dict[str, Any]] = []  # of ``generate``
        self.chats: list[dict[str, Any]] = []  # further arguments of ``chat``
        self.loras: list[LoRARequest | None] = []
        self._tokenizer = AutoTokenizer.from_pretrained(model)
        LLM.made.append(self)

    def get_tokenizer(self) -> Any:
        return self._tokenizer

    def generate(
        self,
        prompts: Sequence[dict[str, Any]],
        sampling_params: Sequence[SamplingParams],
        *,
        use_tqdm: bool = True,
        lora_request: LoRARequest | None = None,
    ) -> list[RequestOutput]:
        self.prompts += prompts
        self.loras.append(lora_request)
        read = [
            (one["prompt_token_ids"], one.get("multi_modal_data", {}).get("image", []))
            for one in prompts
        ]
        return self._outputs(read, sampling_params)

    def chat(
        self,
        messages: Sequence[list[dict[str, Any]]],
        sampling_params: Sequence[SamplingParams],
        use_tqdm: bool = True,
        lora_request: LoRARequest | None = None,
        chat_template: str | None = None,
        chat_template_kwargs: dict[str, Any] | None = None,
    ) -> list[RequestOutput]:
        self.chats.append({"template": chat_template, "variables": chat_template_kwargs})
        self.loras.append(lora_request)
        return self._outputs([self._rendered(talk) for talk in messages], sampling_params)

    def _rendered(self, talk: list[dict[str, Any]]) -> tuple[list[int], list[PILImage.Image]]:
        words: list[str] = []
        images: list[PILImage.Image] = []
        for message in talk:
            words.append(message["role"])
            for part in message["content"]:
                if part["type"] == "image_pil":
                    images.append(part["image_pil"])
                place = self._tokenizer.image_token
                words.append(part["text"] if part["type"] == "text" else place)
        return self._tokenizer(" ".join([*words, "assistant <think>"]))["input_ids"], images

    def _outputs(
        self,
        read: Sequence[tuple[list[int], list[PILImage.Image]]],
        sampling_params: Sequence[SamplingParams],
    ) -> list[RequestOutput]:
        assert len(read) == len(sampling_params)
        self.batches.append(list(sampling_params))
        placeholder = self._tokenizer.convert_tokens_to_ids(self._tokenizer.image_token)
        outputs = []
        for number, ((prompt, images), drawn) in enumerate(zip(read, sampling_params, strict=True)):
            assert prompt.count(placeholder) == len(images)
            widened = [
                token
                for one in prompt
                for token in [one] * (PER_IMAGE if one == placeholder else 1)
            ]
            if len(widened) > self.model_config.max_model_len:
                raise VLLMValidationError(f"The prompt (length {len(widened)}) is too long\nmore")
            outputs.append(self._output(number, widened, images, drawn))
        return outputs

    def _output(
        self, number: int, prompt: list[int], images: list[PILImage.Image], drawn: SamplingParams
    ) -> RequestOutput:
        text = self._tokenizer.decode(prompt)
        if "dies" in text:
            raise VLLMServerError("EngineCore encountered an issue.")
        seen = [sha256(image.tobytes()).hexdigest() for image in images]
        digest = sha256(repr((prompt, seen, drawn.chance)).encode()).hexdigest()[:8]
        choice = drawn.structured_outputs.choice if drawn.structured_outputs else None
        written = choice[-1] if choice else _THOUGHT + digest
        tokens = self._tokenizer(written, add_special_tokens=False)["input_ids"]
        whole = [*tokens, self._tokenizer.eos_token_id]
        tokens = whole[: drawn.max_tokens]
        reason = "abort" if "abort" in text else "stop" if tokens == whole else "length"
        said = CompletionOutput(0, "", tokens, reason)
        told = [{token: Logprob(-token / 8), -1: Logprob(0.0)} for token in prompt]
        logprobs = None if drawn.prompt_logprobs is None else [None, *told[1:]]
        return RequestOutput(str(number), text, prompt, [said], logprobs)


_ENGINE_ARGUMENTS = {
    "enable_lora",
    "enable_prefix_caching",
    "enable_tower_connector_lora",
    "generation_config",
    "interleave_mm_strings",
    "limit_mm_per_prompt",
    "load_format",
    "max_lora_rank",
    "max_model_len",
    "max_num_seqs",
    "mm_processor_kwargs",
}


def modules() -> dict[str, ModuleType]:
    """What ``sys.modules`` has to say for this to be found as ``vllm``."""
    this = sys.modules[__name__]
    names = ("vllm", "vllm.exceptions", "vllm.lora", "vllm.lora.request", "vllm.sampling_params")
    return dict.fromkeys(names, this)
