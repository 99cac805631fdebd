"""Models by name: those of bench.toml, embedded ones, and watched checkpoints.

Whatever is decided about a model is decided here: its section, its engine, where its weights lie,
and the model behind a blind or an elicited one. Nothing is loaded, and no server is asked.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

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

_CONTENT = re.compile(r"@(?P<content>[0-9a-f]{8})(\+|$)")
_WATCHED = "*@????????"  # a checkpoint's name ends in eight digits of its content digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedModel:
    """A model as a command or a run found it."""

    name: str  # of its tables
    spec: ModelSpec  # its section, with the engine chosen
    location: str  # absolute folder or file; hub id, address or factory; "": none
    content: str = ""  # first digits of the content of a folder that is found by it
    is_watched: bool = False  # whether it has no section, but that of ``like`` in [checkpoints]
    of: "ResolvedModel | None" = None  # the model behind a blind or an elicited one
    section: Mapping[str, Any] = field(default_factory=dict)  # given by location: to be stored
    engine: str = ""  # message on the engine, if it was chosen

    @property
    def base(self) -> "ResolvedModel":
        """The model at the end of a chain of ``of``."""
        return self.of.base if self.of else self

    @property
    def draws(self) -> int:
        """Responses drawn for each question."""
        spec = self.base.spec
        return spec.n if isinstance(spec, DrawsSection) else 1


def resolve_name(
    name: str, settings: Settings, around: Sequence[str] = (), of: str = ""
) -> ResolvedModel:
    """Find a model by name: one of the settings, an embedded one, or a watched checkpoint.

    Args:
        name: The name.
        settings: The settings of the home.
        around: Kinds of the chain of ``of`` up to this model.
        of: The model with which that chain begins.

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
    if spec.kind in around:
        raise SettingsError(f"{settings.file}, model {of}: {name} is {spec.kind} already")
    if isinstance(spec, DerivedSpec):
        behind = resolve_name(spec.of, settings, (*around, spec.kind), of or name)
        return _derived(name, spec, behind, settings)
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
        raise unknown_model(model.name, settings)
    name, behind = elicited_model_name(model.name, method), model
    while behind.spec.kind != "elicited" and behind.of:
        behind = behind.of
    if behind.spec.kind == "elicited":
        raise SettingsError(f"{settings.file}, model {name}: {behind.name} is elicited already")
    spec = ElicitedSpec(kind="elicited", of=model.name, elicit=str(Elicitation.parse(method)))
    return _derived(name, spec, model, settings)


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
    try:
        spec = type(model.spec).model_validate({**values, "seed": seed})
    except ValidationError as error:
        problem = describe_validation_error(error, type(model.spec))
        raise SettingsError(f"{settings.file}, model {model.name}: {problem}") from None
    return replace(model, spec=spec)


def _derived(
    name: str, spec: DerivedSpec, behind: ResolvedModel, settings: Settings
) -> ResolvedModel:
    if isinstance(behind.base.spec, RecordedSpec):
        raise SettingsError(
            f"{settings.file}, model {name}: {behind.name} is recorded and cannot be asked"
            " otherwise. Record its responses without images as a model of their own"
        )
    return ResolvedModel(name=name, spec=spec, location=behind.name, of=behind)


def is_watched_name(name: str) -> bool:
    """Whether a name contains the content of a checkpoint, as those of watched ones do."""
    from bench_resources.checkpoints import watched_folders

    return bool(watched_folders.KEY.fullmatch(name))


def content_in(name: str) -> str:
    """First digits of the content in the name of a checkpoint's folder; "" without any."""
    match = _CONTENT.search(name)
    return match["content"] if match else ""


def known_names(settings: Settings) -> set[str]:
    """Names of all models and encoders."""
    return {*EMBEDDED_MODELS, *settings.models, *settings.encoders}


def _elicited_spec(name: str) -> ElicitedSpec | None:
    if not (elicited := split_elicited_name(name)):
        return None
    method = str(Elicitation.parse(elicited.elicit))
    return ElicitedSpec(kind="elicited", of=elicited.model, elicit=method)


def location_of(spec: ModelSpec, settings: Settings) -> str:
    """Where a model lies: an absolute path if it exists, else as its section says."""
    path = getattr(spec, "path", "") or getattr(spec, "file", "")
    if path and (absolute := settings.resolve(path)).exists():
        return str(absolute.absolute())
    return spec.place


def unknown_model(name: str, settings: Settings) -> UnknownNameError:
    """Build the error for a name that no chat model has, such as that of an encoder."""
    known = {*EMBEDDED_MODELS, *settings.models}
    also = f"{name} is an encoder" if name in settings.encoders else ""
    return UnknownNameError(f"model in {settings.file}", name, known, also=also)


def _find_watched(name: str, settings: Settings) -> ResolvedModel:
    watched = settings.checkpoints
    if watched.folders:
        from bench_resources.checkpoints import watched_folders
        from bench_resources.checkpoints.files import is_adapter

        if watched_folders.KEY.fullmatch(name):
            folders = [settings.resolve(folder) for folder in watched.folders]
            folder = watched_folders.find_checkpoint(name, folders)
            base = base_of_checkpoints(settings) if is_adapter(folder) else ""
            return _checkpoint(name, str(folder), base, settings)
    raise unknown_model(name, settings)


def _checkpoint(name: str, path: str, base: str, settings: Settings) -> ResolvedModel:
    """A watched checkpoint: the settings of ``like``, with its own weights."""
    liked = watched_spec(settings)
    local = {"revision": "main", "base": base, "gguf_file": None}
    spec = liked.model_copy(
        update={"path": path} if isinstance(liked, ServerSpec) else {"path": path, **local}
    )
    content = content_in(name)
    return ResolvedModel(name=name, spec=spec, location=path, content=content, is_watched=True)


def base_of_checkpoints(settings: Settings) -> str:
    """Base model of adapters in watched folders, from ``like``; "": each adapter's own.

    Raises:
        SettingsError: If checkpoints cannot have the settings of ``like``.
        UnknownNameError: If the model ``like`` does not exist.
    """
    liked = watched_spec(settings)
    base = liked.base if isinstance(liked, TransformersSpec) else ""
    return str(resolved) if base and (resolved := settings.resolve(base)).is_dir() else base


def watched_spec(settings: Settings) -> TransformersSpec | ServerSpec:
    """Settings of watched checkpoints, from ``like`` and ``serve``.

    Raises:
        SettingsError: If they cannot be combined.
        UnknownNameError: If the model ``like`` does not exist.
    """
    like, serve = settings.checkpoints.like, settings.checkpoints.serve
    spec = (
        resolve_name(like, settings).spec
        if like
        else TransformersSpec(kind="transformers", path="")
    )
    if serve and not like:
        return _server_spec(serve, {}, settings)
    if isinstance(spec, ServerSpec) and spec.serve and not serve:
        return spec
    if isinstance(spec, ServerSpec) and spec.serve and not isinstance(spec, VllmSpec):
        values = spec.model_dump(exclude_unset=True, by_alias=True)
        return _server_spec(serve, values, settings)
    if serve or not isinstance(spec, TransformersSpec):
        wanted = "a server with serve" if serve else "transformers, vllm, or a server with serve"
        raise SettingsError(
            f"{settings.file}, [checkpoints], like: {like} is a {spec.kind} model, not {wanted}"
        )
    return spec


def _server_spec(serve: str, entries: Mapping[str, Any], settings: Settings) -> ServerSpec:
    try:
        return ServerSpec.model_validate({**entries, "kind": "server", "path": ".", "serve": serve})
    except ValidationError as error:
        problem = describe_validation_error(error, ServerSpec)
        raise SettingsError(f"{settings.file}, [checkpoints], serve: {problem}") from None


def model_pools(settings: Settings) -> dict[str, str]:
    """Model, or a pattern of models -> the pool that its runs hold instead of ``gpu``.

    ``pool_of`` in [cluster] takes precedence over a model's own section. A server that is not
    started here loads no weights here: its runs hold the pool of its address.

    Raises:
        SettingsError: If a section names an unknown pool.
    """
    pools = {
        name: spec.pool or pool_at(spec.address)
        for name, spec in settings.models.items()
        if isinstance(spec, ServerSpec) and (spec.pool or spec.base_url)
    }
    for name, pool in pools.items():
        if base_pool(pool) not in (known := settings.cluster.limits):
            raise SettingsError(
                f"{settings.file}, entry models.{name}.pool: there is no pool {pool}; known:"
                f" {', '.join(sorted(known))}; set its number of runs, as in [cluster]"
                f" pools = {{ {pool} = 2 }}"
            )
    watched = settings.checkpoints
    if watched.folders and (watched.like or watched.serve):
        with suppress(ModelError):  # its kind is not installed: no checkpoint is evaluated
            liked = watched_spec(settings)
            if isinstance(liked, ServerSpec) and liked.pool:
                pools[_WATCHED] = liked.pool
    return pools | settings.cluster.pool_of
