"""Engines by model kind, imported when opened."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench_resources.config.sections.base import ModelSpec
from bench_resources.config.sections.engine_kinds import EngineContext, EngineKind, installed_kind
from bench_resources.config.sections.local_models import PLAIN_TEMPLATE, TransformersSpec
from bench_resources.config.sections.models import SPECS, PythonSpec
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.response_cache.engine import Engine


def engine_kind(spec: ModelSpec) -> EngineKind[Any] | None:
    """Find the engine kind of a model; None for baselines and recorded responses."""
    if isinstance(spec, ServerSpec) and spec.serve:
        return _SERVED_KIND
    return _ENGINES.get(spec.kind) if spec.kind in SPECS else installed_kind(spec.kind)


def resolve_local_paths(
    spec: TransformersSpec, resolve: Callable[[Path | str], Path]
) -> TransformersSpec:
    """Resolve relative paths against the folder of bench.toml."""
    places = {"path": spec.path, "base": spec.base, "processor": spec.processor}
    if spec.chat_template != PLAIN_TEMPLATE:
        places["chat_template"] = spec.chat_template
    resolved = {name: resolve(location) for name, location in places.items() if location}
    return spec.model_copy(
        update={name: str(place) for name, place in resolved.items() if place.exists()}
    )


def _open_transformers(spec: TransformersSpec, at: EngineContext) -> Engine:
    from bench_resources.models.transformers.batch_trial import BatchTrials
    from bench_resources.models.transformers.engine import TransformersEngine
    from bench_resources.models.transformers.image_digests import ImageDigests

    spec = resolve_local_paths(spec, at.resolve)
    file = at.resolve("processors.json")
    return TransformersEngine(
        spec,
        spec.path,
        at.read_image,
        digests=ImageDigests(file),
        trials=BatchTrials(file, tries=at.asks),
    )


def _open_server(spec: ServerSpec, at: EngineContext) -> Engine:
    if spec.path:
        spec = spec.model_copy(update={"path": str(at.resolve(spec.path))})
        from bench_resources.models.managed.engine import ServedEngine

        return ServedEngine(spec, at.name, at.read_image, at.resolve("servers"), spent=at.spent)
    from bench_resources.models.api.engine import ServerEngine

    return ServerEngine(spec, at.read_image, spent=at.spent)


def _open_python(spec: PythonSpec, at: EngineContext) -> Engine:
    from bench_resources.models.registry.python_model import PythonEngine

    return PythonEngine(spec, at)


_ENGINES: Mapping[str, EngineKind[Any]] = {
    "transformers": EngineKind(spec=TransformersSpec, engine=_open_transformers),
    "server": EngineKind(spec=ServerSpec, engine=_open_server, alone=False),
    "python": EngineKind(spec=PythonSpec, engine=_open_python, alone=False),
}
_SERVED_KIND: EngineKind[Any] = EngineKind(spec=ServerSpec, engine=_open_server)
