"""Models by name: those of bench.toml, embedded ones, and watched checkpoints.

Whatever is decided about a model is decided here: its section, its engine, where its weights lie,
and the model behind a blind or an elicited one. Nothing is loaded, and no server is asked.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import ValidationError

from bench_assets.core.schema.elicitation import (
    Elicitation,
    elicited_model_name,
    split_elicited_name,
)
from bench_assets.core.schema.errors import ModelError, SettingsError, UnknownNameError
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.base import DrawsSection, ModelSpec
from bench_resources.config.sections.cluster import base_pool, pool_at
from bench_resources.config.sections.engine_kinds import UnusableSpec
from bench_resources.config.sections.local_models import AutoSpec, TransformersSpec, VllmSpec
from bench_resources.config.sections.models import (
    EMBEDDED_MODELS,
    DerivedSpec,
    ElicitedSpec,
    RecordedSpec,
)
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.config.toml_validation import describe_validation_error

ENCODER = "encoder"
"""Kind of an encoder in a suite's section, which no chat model is."""

AnySpec = TypeVar("AnySpec", bound=ModelSpec)

_CONTENT = re.compile(r"@(?P<content>[0-9a-f]{8})(\+|$)")
_WATCHED = "*@????????"  # a checkpoint's name ends in eight digits of its content digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedModel:
    """A model as a command or a run found it."""

    name: str  # of its tables
    spec: ModelSpec  # its section, with the engine chosen
    location: str  # absolute folder or file; hub id, address or factory; "": none
    content: str = ""  # first digits of the digest of its folder, if its name has them
    is_watched: bool = False  # whether its settings are those of ``like`` in [checkpoints]
    of: "ResolvedModel | None" = None  # the model behind a blind or an elicited one
    section: Mapping[str, Any] = field(default_factory=dict)  # to be stored, if not in bench.toml
    engine: str = ""  # message on the engine, if it was chosen

    @property
    def chain(self) -> "list[ResolvedModel]":
        """This model, and those behind it by ``of``."""
        return [self, *self.of.chain] if self.of else [self]

    @property
    def base(self) -> "ResolvedModel":
        """The model at the end of the chain."""
        return self.chain[-1]

    @property
    def draws(self) -> int:
        """Responses drawn for each question."""
        spec = self.base.spec
        return spec.n if isinstance(spec, DrawsSection) else 1


def resolve_name(
    name: str, settings: Settings, outer_kinds: Sequence[str] = (), outer_name: str = ""
) -> ResolvedModel:
    """Find a model by name: one of the settings, an embedded one, or a watched checkpoint.

    ``outer_kinds`` are the kinds in the chain of ``of`` that leads here from ``outer_name``.

    Raises:
        UnknownNameError: If there is no model of that name.
        SettingsError: If a kind occurs twice in the chain, or it ends in recorded responses.
        ModelError: If it is a checkpoint that does not exist any more, or its kind or weights
            cannot be used here.
    """
    spec = {**EMBEDDED_MODELS, **settings.models}.get(name) or _elicited_spec(name)
    if spec is None:
        return _find_watched(name, settings)
    if isinstance(spec, UnusableSpec):
        raise ModelError(f"{settings.file}, model {name}: {spec.place}")
    if spec.kind in outer_kinds:
        raise SettingsError(f"{settings.file}, model {outer_name}: {name} is {spec.kind} already")
    if isinstance(spec, DerivedSpec):
        kinds = (*outer_kinds, spec.kind)
        inner = resolve_name(spec.of, settings, kinds, outer_name or name)
        return _derived_model(name, spec, inner, settings)
    if not isinstance(spec, AutoSpec):
        content = content_in(name) if name not in settings.models_of_file else ""
        location = location_of(spec, settings)
        return ResolvedModel(name=name, spec=spec, location=location, content=content)
    from bench_resources.config.engine_choice import choose_engine

    try:
        chosen = choose_engine(spec.model_dump(), settings.resolve(spec.path))
    except ModelError as error:
        raise ModelError(f"{settings.file}, model {name}: {error}") from error
    location = location_of(chosen.spec, settings)
    return ResolvedModel(name=name, spec=chosen.spec, location=location, engine=chosen.message)


def elicited(model: ResolvedModel, method: str, settings: Settings) -> ResolvedModel:
    """A model that chooses among the options.

    Raises:
        SettingsError: If there is no such method, or the model is elicited already or recorded.
        UnknownNameError: If it is an encoder.
    """
    if model.spec.kind == ENCODER:
        raise unknown_model_error(model.name, settings)
    name = elicited_model_name(model.name, method)
    for link in model.chain:
        if link.spec.kind == "elicited":
            raise SettingsError(f"{settings.file}, model {name}: {link.name} is elicited already")
    spec = ElicitedSpec(kind="elicited", of=model.name, elicit=str(Elicitation.parse(method)))
    return _derived_model(name, spec, model, settings)


def with_seed(model: ResolvedModel, seed: int, settings: Settings) -> ResolvedModel:
    """The model sampled with another seed.

    Raises:
        SettingsError: If it has no seed.
    """
    if model.of:
        return replace(model, of=with_seed(model.of, seed, settings))
    if "seed" not in type(model.spec).model_fields:
        raise SettingsError(f"{model.name}: a {model.spec.kind} model has no seed")
    values = model.spec.model_dump(exclude_unset=True, by_alias=True)
    where = f"{settings.file}, model {model.name}"
    return replace(model, spec=parse_section(type(model.spec), {**values, "seed": seed}, where))


def _derived_model(
    name: str, spec: DerivedSpec, inner: ResolvedModel, settings: Settings
) -> ResolvedModel:
    if isinstance(inner.base.spec, RecordedSpec):
        raise SettingsError(
            f"{settings.file}, model {name}: {inner.name} is recorded and cannot be asked"
            " otherwise. Record its responses without images as a model of their own"
        )
    return ResolvedModel(name=name, spec=spec, location=inner.name, of=inner)


def is_watched_name(name: str) -> bool:
    """Whether a name contains the content of a checkpoint, as those of watched ones do."""
    from bench_resources.checkpoints import watched_folders

    return bool(watched_folders.KEY.fullmatch(name))


def content_in(name: str) -> str:
    """First digits of the content digest in a checkpoint's name; "" without any."""
    match = _CONTENT.search(name)
    return match["content"] if match else ""


def known_names(settings: Settings) -> set[str]:
    """Names of all models and encoders."""
    return {*EMBEDDED_MODELS, *settings.models, *settings.encoders}


def _elicited_spec(name: str) -> ElicitedSpec | None:
    """The section of a name such as ``MODEL+METHOD``; None for other names."""
    split_name = split_elicited_name(name)
    if not split_name:
        return None
    method = str(Elicitation.parse(split_name.elicit))
    return ElicitedSpec(kind="elicited", of=split_name.model, elicit=method)


def location_of(spec: ModelSpec, settings: Settings) -> str:
    """Where a model lies: an absolute path if it exists, else as its section says."""
    path = getattr(spec, "path", "") or getattr(spec, "file", "")
    if path and settings.resolve(path).exists():
        return str(settings.resolve(path).absolute())
    return spec.place


def unknown_model_error(name: str, settings: Settings) -> UnknownNameError:
    """Build the error for a name that no chat model has, such as that of an encoder."""
    names = {*EMBEDDED_MODELS, *settings.models}
    also = f"{name} is an encoder" if name in settings.encoders else ""
    return UnknownNameError(f"model in {settings.file}", name, names, also=also)


def _find_watched(name: str, settings: Settings) -> ResolvedModel:
    """Find the folder of a watched checkpoint; any other name is an error."""
    if settings.checkpoints.folders:
        from bench_resources.checkpoints import watched_folders
        from bench_resources.checkpoints.files import is_adapter

        if watched_folders.KEY.fullmatch(name):
            folders = [settings.resolve(folder) for folder in settings.checkpoints.folders]
            folder = watched_folders.find_checkpoint(name, folders)
            base = base_of_checkpoints(settings) if is_adapter(folder) else ""
            return _watched_model(name, str(folder), base, settings)
    raise unknown_model_error(name, settings)


def _watched_model(name: str, path: str, base: str, settings: Settings) -> ResolvedModel:
    """A watched checkpoint: the settings of ``like``, with its own weights."""
    like_spec = watched_spec(settings)
    weights: dict[str, Any] = {"path": path}
    if not isinstance(like_spec, ServerSpec):
        weights |= {"revision": "main", "base": base, "gguf_file": None}
    spec = like_spec.model_copy(update=weights)
    content = content_in(name)
    return ResolvedModel(name=name, spec=spec, location=path, content=content, is_watched=True)


def base_of_checkpoints(settings: Settings) -> str:
    """Base model of adapters in watched folders, from ``like``; "": each adapter's own.

    Raises:
        SettingsError: If checkpoints cannot have the settings of ``like``.
        UnknownNameError: If the model ``like`` does not exist.
    """
    like_spec = watched_spec(settings)
    base = like_spec.base if isinstance(like_spec, TransformersSpec) else ""
    is_folder = bool(base) and settings.resolve(base).is_dir()
    return str(settings.resolve(base)) if is_folder else base


def watched_spec(settings: Settings) -> TransformersSpec | ServerSpec:
    """Settings of watched checkpoints, from ``like`` and ``serve``.

    Raises:
        SettingsError: If they cannot be combined.
        UnknownNameError: If the model ``like`` does not exist.
        ModelError: If its kind or weights cannot be used here.
    """
    like, serve = settings.checkpoints.like, settings.checkpoints.serve
    if not like:
        if serve:
            return _server_spec(serve, {}, settings)
        return TransformersSpec(kind="transformers", path="")
    spec = resolve_name(like, settings).spec
    if isinstance(spec, ServerSpec) and spec.serve and not serve:
        return spec
    if isinstance(spec, ServerSpec) and spec.serve and not isinstance(spec, VllmSpec):
        values = spec.model_dump(exclude_unset=True, by_alias=True)
        return _server_spec(serve, values, settings)
    if serve or not isinstance(spec, TransformersSpec):
        expected = "a server with serve" if serve else "transformers, vllm, or a server with serve"
        raise SettingsError(
            f"{settings.file}, [checkpoints], like: {like} is a {spec.kind} model, not {expected}"
        )
    return spec


def _server_spec(serve: str, values: Mapping[str, Any], settings: Settings) -> ServerSpec:
    """The section of ``like`` with the command ``serve`` of [checkpoints]."""
    # "path" is required; each checkpoint replaces it.
    section = {**values, "kind": "server", "path": ".", "serve": serve}
    return parse_section(ServerSpec, section, f"{settings.file}, [checkpoints], serve")


def parse_section(spec_type: type[AnySpec], section: Mapping[str, Any], where: str) -> AnySpec:
    """Parse the section of a model.

    Raises:
        SettingsError: If an entry is invalid; names it after ``where``.
    """
    try:
        return spec_type.model_validate(section)
    except ValidationError as error:
        problem = describe_validation_error(error, spec_type)
        raise SettingsError(f"{where}: {problem}") from None


def model_pools(settings: Settings) -> dict[str, str]:
    """Model, or a pattern of models -> the pool that its runs hold instead of ``gpu``.

    ``pool_of`` in [cluster] takes precedence over a model's own section. A server that is not
    started here loads no weights here: its runs hold the pool of its address.

    Raises:
        SettingsError: If a section names an unknown pool, or as ``watched_spec``.
        UnknownNameError: As ``watched_spec``.
    """
    pools = {
        name: spec.pool or pool_at(spec.address)
        for name, spec in settings.models.items()
        if isinstance(spec, ServerSpec) and (spec.pool or spec.base_url)
    }
    limits = settings.cluster.limits
    for name, pool in pools.items():
        if base_pool(pool) not in limits:
            raise SettingsError(
                f"{settings.file}, entry models.{name}.pool: there is no pool {pool}; known:"
                f" {', '.join(sorted(limits))}; set its number of runs, as in [cluster]"
                f" pools = {{ {pool} = 2 }}"
            )
    watched = settings.checkpoints
    if watched.folders and (watched.like or watched.serve):
        with suppress(ModelError):  # its kind is not installed: no checkpoint is evaluated
            like_spec = watched_spec(settings)
            if isinstance(like_spec, ServerSpec) and like_spec.pool:
                pools[_WATCHED] = like_spec.pool
    return pools | settings.cluster.pool_of
