"""Sections of local checkpoints, run by transformers or vLLM."""

import json
import shlex
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from bench_assets.core.schema.errors import ModelError
from bench_resources.config.environment import expand_user
from bench_resources.config.sections.base import ModelSpec, Needs, SamplingSection
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.config.sections.serving import validate_command

PLAIN_TEMPLATE = "plain"
VLLM = "vllm"
SERVER_KEYS = frozenset(
    {"serve", "server", "base_url", "format", "model", "health", "max_tokens_field"}
)
"""Keys of a server that ``kind = "vllm"`` sets."""


class TransformersSpec(SamplingSection):
    """An image-text-to-text checkpoint, run by transformers on this machine."""

    path: str
    """Folder, absolute or relative to bench.toml, or hub id; part of a response's identity."""
    revision: str = "main"
    """Commit, branch or tag of a hub id. A branch is resolved to its commit whenever the model is
    loaded; part of a response's identity."""
    base: str = ""
    """Base checkpoint of a PEFT adapter; default: the adapter's; part of a response's identity."""
    merge_adapter: bool = True
    """Merge the adapter into the base weights. With ``false``, it is applied in each forward pass;
    part of a response's identity."""
    processor: str = ""
    """Folder or hub id of tokenizer and processor, if not with the weights; part of a
    response's identity."""
    chat_template: str = ""
    """``"plain"`` (texts and images in order, for base models) or a Jinja file; default: the
    checkpoint's own; part of a response's identity."""
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Variables of the chat template, such as ``{enable_thinking = false}``; part of a response's
    identity."""
    batch_tokens: int = Field(16_384, gt=0)
    """Maximum number of image tokens per batch."""
    max_image_pixels: int | None = Field(None, gt=0)
    """Larger images are shrunk to this number of pixels; part of a response's identity."""
    processor_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the family's processor, such as ``{max_patches = 6}``; part of a response's
    identity."""
    text_only: bool = False
    """A language model, which is evaluated without images; part of a response's identity."""
    trust_remote_code: bool = False
    """Run the code of the checkpoint; part of a response's identity."""
    needs: Needs = Field(default_factory=dict)
    """Resources of a run on the cluster, such as ``{gpu = 1, cpu = 4}``; default: one CPU, and one
    GPU if ``device`` begins with ``cuda``."""
    device: str = "auto"
    """``"cuda"``, ``"cuda:1"``, ``"mps"`` or ``"cpu"``; ``"auto"``: the first available of
    ``"cuda"``, ``"mps"`` and ``"cpu"``."""
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    """Precision of the weights; quantized ones need their method's package. ``"auto"``: bfloat16 on
    CUDA, else float32; part of a response's identity."""
    batch_size: int = Field(16, gt=0)
    """Maximum number of questions per batch; halved when memory runs out."""
    attention: Literal["auto", "sdpa", "flash_attention_2", "flash_attention_3", "eager"] = "auto"
    """Attention implementation; part of a response's identity."""
    gguf_file: str | None = None
    """GGUF file in ``path``, if the weights are not safetensors; part of a response's identity."""

    @property
    def place(self) -> str:
        """The checkpoint."""
        return self.path

    @property
    def gpus(self) -> float:
        """GPUs of a run of this model."""
        return self.needs.get("gpu", 1.0 if self.device.startswith("cuda") else 0.0)

    @property
    def identity_parts(self) -> list[str]:
        """Parts of the identity besides the weights, their precision and the attention.

        Only settings other than the defaults are parts.

        Raises:
            ModelError: If the file of the chat template cannot be read.
        """
        parts = []
        if self.max_image_pixels:
            parts.append(f"px={self.max_image_pixels}")
        if self.text_only:
            parts.append("text_only")
        if digest := _template_digest(self.chat_template):
            parts.append(f"template={digest}")
        if self.chat_template_kwargs:
            parts.append(f"variables={json.dumps(self.chat_template_kwargs, sort_keys=True)}")
        if self.processor_kwargs:
            parts.append(f"processor={json.dumps(self.processor_kwargs, sort_keys=True)}")
        if not self.merge_adapter:
            parts.append("unmerged")
        if self.trust_remote_code:
            parts.append("remote_code")
        return parts


def _template_digest(chat_template: str) -> str:
    """Digest of the file of a chat template; "" and "plain" are no files, and stay as they are."""
    if chat_template in ("", PLAIN_TEMPLATE):
        return chat_template
    try:
        return sha256(expand_user(chat_template).read_bytes()).hexdigest()[:8]
    except OSError as error:
        raise ModelError(
            f"chat_template {chat_template}: cannot be read: {error.strerror}"
        ) from error


def _check_program(program: str) -> str:
    if "/" in program and not Path(program).is_absolute():
        raise ValueError("expected a command in PATH, or an absolute path")
    return program


Program: TypeAlias = Annotated[str, AfterValidator(_check_program)]


class VllmSpec(ServerSpec):
    """A checkpoint that ``vllm serve`` serves during a run; needs vLLM and a GPU."""

    path: str
    """Folder with the weights, their tokenizer and their processor; part of a response's
    identity."""
    program: Program = VLLM
    """Command of vLLM: its name in PATH, or its absolute path in another environment."""
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "bfloat16"
    """Precision of the weights; ``"auto"``: the checkpoint's; part of a response's identity."""
    tensor_parallel_size: int = Field(1, gt=0)
    """GPUs that share one copy of the weights; part of a response's identity."""
    data_parallel_size: int = Field(1, gt=0)
    """Copies of the weights, each on its own GPUs."""
    options: str = ""
    """Further options of ``vllm serve``, such as ``"--max-model-len 8192"``; part of a response's
    identity."""

    @property
    def gpus(self) -> float:
        """GPUs of a run of this model."""
        return float(self.tensor_parallel_size * self.data_parallel_size)

    @property
    def served_by(self) -> str:
        """The engine."""
        return VLLM

    @model_validator(mode="before")
    @classmethod
    def _write_command(cls, section: Mapping[str, Any]) -> dict[str, Any]:
        if server_keys := sorted(SERVER_KEYS & section.keys()):
            raise ValueError(
                f'{server_keys[0]} does not go with kind = "vllm", which starts a server of its'
                ' own. Use kind = "server" for other commands and addresses'
            )
        try:
            command = validate_command(" ".join(_command_parts(section)))
        except ValueError as error:
            raise ValueError(f"options: {error}") from error
        return {**section, "serve": command, "server": VLLM}


def _command_parts(section: Mapping[str, Any]) -> Iterator[str]:
    yield f"{shlex.quote(str(section.get('program', VLLM)))} serve {{path}}"
    yield "--host 127.0.0.1 --port {port} --served-model-name {name}"
    yield f"--dtype {section.get('dtype', 'bfloat16')}"
    yield "--generation-config vllm"  # only its end tokens are used
    for name in ("tensor_parallel_size", "data_parallel_size"):
        if (size := section.get(name, 1)) != 1:
            yield f"--{name.replace('_', '-')} {size}"
    yield str(section.get("options", ""))


CheckpointSpec: TypeAlias = TransformersSpec | VllmSpec
"""A checkpoint that a run loads or serves."""


class AutoSpec(ModelSpec):
    """A checkpoint whose engine is chosen, with the keys of either engine.

    vLLM if its command and a GPU are there and it lists the architecture; else transformers.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    path: str
    """Folder, GGUF file or hub id. vLLM runs it if possible, else transformers. The other keys are
    those of ``vllm`` or of ``transformers``; a key that only one of them has selects it; part of a
    response's identity."""
    program: Program = VLLM
    """Command of vLLM, as with ``kind = "vllm"``. If it is missing, transformers runs the model."""

    @property
    def place(self) -> str:
        """The checkpoint."""
        return self.path

    @staticmethod
    def own_fields() -> dict[str, set[str]]:
        """Keys that only one of the two kinds has, by kind."""
        transformers_fields = set(TransformersSpec.model_fields)
        vllm_fields = set(VllmSpec.model_fields)
        return {
            "transformers": transformers_fields - vllm_fields,
            VLLM: vllm_fields - transformers_fields - set(AutoSpec.model_fields),
        }

    @model_validator(mode="after")
    def _check_engine_keys(self) -> Self:
        values = self.model_dump(exclude={"program"})
        own_kinds = {kind for kind, names in self.own_fields().items() if names & values.keys()}
        if len(own_kinds) > 1:
            raise ValueError("keys of transformers and of vllm; set kind to one of them")
        spec_type = VllmSpec if VLLM in own_kinds else TransformersSpec
        spec_type.model_validate(values)
        return self
