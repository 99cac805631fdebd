"""Sections of local checkpoints, run by transformers or vLLM."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import ConfigDict, Field, model_validator

from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.base import ModelSpec, Needs, SamplingSection

PLAIN_TEMPLATE = "plain"


class LocalSpec(SamplingSection):
    """A Hugging Face checkpoint that is run on this machine."""

    path: str
    """Folder, absolute or relative to bench.toml, or hub id."""
    revision: str = "main"
    """Commit of a hub id. A branch name is resolved once and pinned."""
    base: str = ""
    """Base checkpoint of a PEFT adapter; default: as the adapter says."""
    merge_adapter: bool = True
    """Merge the adapter into the base weights; otherwise it is applied per token, as vLLM does."""
    processor: str = ""
    """Folder or hub id of tokenizer and processor, if they are not with the weights."""
    chat_template: str = ""
    """``"plain"`` (texts and images in order, for base models) or a Jinja file; default: the
    checkpoint's own."""
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Variables of the chat template, such as ``{enable_thinking = false}``; part of a response's
    identity."""
    batch_size: int = Field(gt=0)
    """Most questions per batch."""
    batch_tokens: int = Field(16_384, gt=0)
    """Most image tokens per batch."""
    max_image_pixels: int | None = Field(None, gt=0)
    """Larger images are shrunk to this many pixels."""
    max_image_tokens: int | None = Field(None, gt=0)
    """Most tokens per image, in every family."""
    processor_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the family's processor, such as ``{max_patches = 6}``; part of a response's
    identity."""
    text_only: bool = False
    """A language model; it is evaluated without images."""
    trust_remote_code: bool = False
    """Run the checkpoint's own code."""
    needs: Needs = Field(default_factory=dict)
    """Resources of a run on the cluster, such as ``{gpu = 1, cpu = 4}``."""

    @property
    def place(self) -> str:
        """The checkpoint."""
        return self.path

    @property
    def gpus(self) -> float:
        """GPUs of a run of this model."""
        return self.needs.get("gpu", self._default_gpus)

    @property
    def _default_gpus(self) -> float:
        return 0.0

    @property
    def identity_parts(self) -> list[str]:
        """Processing of prompts and images, as parts of a response's identity.

        Raises:
            ModelError: If the file of the chat template cannot be read.
        """
        parts = [f"px={limit}"] if (limit := self.max_image_pixels) else []
        parts += [f"tokens={limit}"] if (limit := self.max_image_tokens) else []
        parts += ["text_only"] if self.text_only else []
        parts += [f"template={named}"] if (named := _template_digest(self.chat_template)) else []
        parts += (
            [_format_arguments("variables", arguments)]
            if (arguments := self.chat_template_kwargs)
            else []
        )
        parts += (
            [_format_arguments("processor", arguments)]
            if (arguments := self.processor_kwargs)
            else []
        )
        return parts


AnyLocalSpec = TypeVar("AnyLocalSpec", bound=LocalSpec)


def _format_arguments(what: str, arguments: Mapping[str, Any]) -> str:
    return f"{what}={json.dumps(arguments, sort_keys=True)}"


def _template_digest(chat_template: str) -> str:
    if chat_template in ("", PLAIN_TEMPLATE):
        return chat_template
    try:
        return sha256(Path(chat_template).expanduser().read_bytes()).hexdigest()[:8]
    except OSError as error:
        raise ModelError(
            f"chat_template {chat_template}: cannot be read: {error.strerror}"
        ) from error


class TransformersSpec(LocalSpec):
    """An image-text-to-text checkpoint, run by transformers."""

    device: str = "auto"
    """``"cuda"``, ``"cuda:1"``, ``"mps"``, ``"cpu"``; ``"auto"`` takes the first available."""
    devices: tuple[str, ...] | Literal["all"] = ()
    """Several devices instead of ``device``, one process with all weights on each; ``"all"``: every
    CUDA device."""
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    """``"auto"``: bfloat16 on CUDA, else float32."""
    batch_size: int = Field(16, gt=0)
    """Most questions per batch; halved while memory runs out."""
    attention: Literal["auto", "sdpa", "flash_attention_2", "flash_attention_3", "eager"] = "auto"
    """Attention implementation; other than ``"auto"``, part of a response's identity."""
    cache: Literal["dynamic", "static"] = "dynamic"
    """Key-value cache; ``"static"`` suits ``compile``."""
    compile: bool = False
    """torch.compile: slower start, faster tokens; part of a response's identity."""
    gguf_file: str | None = None
    """GGUF file inside ``path``, if the weights are not safetensors."""

    @model_validator(mode="after")
    def _check_devices(self) -> Self:
        if self.devices and self.device != "auto":
            raise ValueError("either device or devices, not both")
        return self

    @property
    def _default_gpus(self) -> float:
        if self.devices:
            return 1.0 if self.devices == "all" else float(len(self.devices))
        return 1.0 if self.device.startswith("cuda") else 0.0


class VllmSpec(LocalSpec):
    """A checkpoint that vLLM runs in this process; needs ``pip install '.[vllm]'`` and a GPU."""

    dtype: Literal["bfloat16", "float16", "float32"] = "bfloat16"
    """Precision of the weights."""
    batch_size: int = Field(512, gt=0)
    """Questions per call of vLLM; responses are cached when all have arrived."""
    max_model_len: int | None = Field(None, gt=0)
    """Longest prompt and response, in tokens; default: as the checkpoint says."""
    gpu_memory_utilization: float = Field(0.9, gt=0, le=1)
    """Share of each GPU's memory."""
    tensor_parallel_size: int = Field(1, gt=0)
    """GPUs that share one copy of the weights."""
    images_per_prompt: int | None = Field(None, gt=0)
    """Most images per prompt; default: vLLM's."""
    prompts: Literal["checkpoint", "vllm"] = "checkpoint"
    """``"checkpoint"``: the checkpoint's processor writes prompts, as with transformers.
    ``"vllm"``: vLLM does; special tokens in a question are then read as tokens."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of vLLM's ``LLM``, such as ``{max_num_seqs = 64}``; part of a response's
    identity."""

    @property
    def _default_gpus(self) -> float:
        return float(self.tensor_parallel_size)


class AutoSpec(ModelSpec):
    """A checkpoint whose engine is chosen, with the keys of either engine.

    vLLM if it is installed, finds a GPU and lists the architecture; else transformers.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    path: str
    """Folder, GGUF file or hub id, run by vLLM if possible, else by transformers; further keys are
    those of the engine."""

    @property
    def place(self) -> str:
        """The checkpoint."""
        return self.path

    @staticmethod
    def own_fields() -> dict[str, set[str]]:
        """Keys that only one of the two kinds has, by kind."""
        one, other = set(TransformersSpec.model_fields), set(VllmSpec.model_fields)
        return {"transformers": one - other, "vllm": other - one}

    @model_validator(mode="after")
    def _check_engine_keys(self) -> Self:
        values = self.model_dump()
        own = {kind for kind, names in self.own_fields().items() if names & values.keys()}
        if len(own) > 1:
            raise ValueError("keys of transformers and of vllm; set kind to one of them")
        kind = VllmSpec if "vllm" in own else TransformersSpec
        kind.model_validate(values)
        return self
