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
    """Make paths that exist absolute; relative ones start at the folder of bench.toml."""
    locations = {"path": spec.path, "base": spec.base, "processor": spec.processor}
    if spec.chat_template != PLAIN_TEMPLATE:
        locations["chat_template"] = spec.chat_template
    paths = {field: resolve(location) for field, location in locations.items() if location}
    existing = {field: str(path) for field, path in paths.items() if path.exists()}
    return spec.model_copy(update=existing)


def _open_transformers(spec: TransformersSpec, context: EngineContext) -> Engine:
    from bench_resources.models.transformers.batch_trial import BatchTrials
    from bench_resources.models.transformers.engine import TransformersEngine
    from bench_resources.models.transformers.image_digests import ImageDigests

    spec = resolve_local_paths(spec, context.resolve)
    file = context.resolve("processors.json")
    return TransformersEngine(
        spec,
        spec.path,
        context.read_image,
        digests=ImageDigests(file),
        trials=BatchTrials(file, tries=context.asks),
    )


def _open_server(spec: ServerSpec, context: EngineContext) -> Engine:
    if spec.path:
        spec = spec.model_copy(update={"path": str(context.resolve(spec.path))})
        from bench_resources.models.managed.engine import ServedEngine

        return ServedEngine(
            spec, context.name, context.read_image, context.resolve("servers"), spent=context.spent
        )
    from bench_resources.models.api.engine import ServerEngine

    return ServerEngine(spec, context.read_image, spent=context.spent)


def _open_python(spec: PythonSpec, context: EngineContext) -> Engine:
    from bench_resources.models.registry.python_model import PythonEngine

    return PythonEngine(spec, context)


_ENGINES: Mapping[str, EngineKind[Any]] = {
    "transformers": EngineKind(spec=TransformersSpec, engine=_open_transformers),
    "server": EngineKind(spec=ServerSpec, engine=_open_server, alone=False),
    "python": EngineKind(spec=PythonSpec, engine=_open_python, alone=False),
}
_SERVED_KIND: EngineKind[Any] = EngineKind(spec=ServerSpec, engine=_open_server)
