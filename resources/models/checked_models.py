"""Opens a model by name for a check: as an evaluation does, but with nothing remembered."""

from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TypeVar

from bench_assets.core.errors import BenchError, ModelError
from resources.checkpoints.identity import first_line
from resources.models.check import ModelCheck, Subject, asking, try_out
from resources.models.engines import engine_kind, placed
from resources.models.loaded_model import Loading
from resources.models.opening import recorded_of, seeing
from resources.models.probes import DrawnPictures
from resources.replies.discreet import Discreet
from resources.replies.earlier import Tokens
from resources.settings.bench_toml import Settings
from resources.settings.engine_kinds import Surroundings
from resources.settings.environment import known_secrets
from resources.settings.local_specs import LocalSpec, TransformersSpec
from resources.settings.model_specs import BlindSpec, PythonSpec, RecordedSpec
from resources.settings.sections import Asked, ModelSpec
from resources.settings.server_spec import ServerSpec
from resources.settings.stores import database_of

AnySpec = TypeVar("AnySpec", bound=ModelSpec)

_MAX_TOKENS = 32  # of a reply: its first words show whether a model sees
_TOGETHER = 3  # questions that are asked in one batch
_BATCH_TOKENS = 10**6


def check_model(name: str, settings: Settings) -> ModelCheck:
    """Load a model, ask it, and describe it; what goes wrong is part of the description.

    Args:
        name: Of bench.toml, an embedded model, or a watched checkpoint.
        settings: bench.toml.
    """
    found = ModelCheck(model=name)
    try:
        spec = settings.model(name)
        found = replace(found, kind=spec.kind, place=spec.place)
        blind = isinstance(spec, BlindSpec)
        asked = seeing(name, spec, settings) if isinstance(spec, BlindSpec) else name
        checked = _check(replace(found, model=asked), settings, blind=blind)
    except BenchError as why:
        return replace(found, error=known_secrets(settings.home).redacted(first_line(why)))
    return replace(checked, model=name)


def _check(found: ModelCheck, settings: Settings, *, blind: bool) -> ModelCheck:
    spec = settings.model(found.model)
    if isinstance(spec, RecordedSpec):
        replies, file = recorded_of(found.model, spec, settings)
        return replace(found, note=f"{len(replies)} replies in {file}; nothing else to try")
    kind, pictures = engine_kind(spec), DrawnPictures()
    if kind is None:
        return replace(found, note="says nothing of its own; nothing to try")
    at = Surroundings(
        name=found.model,
        read_image=pictures.read,
        resolve=settings.resolve,
        spent=lambda _: Tokens(),
        database=partial(database_of, settings) if settings.storage.variable else None,
    )
    try:
        if isinstance(spec, TransformersSpec):
            return _transformers(found, placed(spec, at.resolve), pictures, blind=blind)
        secrets = known_secrets(settings.home)
        with closing(Discreet(kind.engine(_short(spec), at), secrets)) as engine:
            return try_out(
                found,
                Subject(
                    ask=asking(engine),
                    pictures=pictures,
                    batched=not isinstance(spec, ServerSpec),
                    exactly=isinstance(spec, PythonSpec),
                    blind=blind,
                ),
            )
    except BenchError:
        raise
    except Exception as why:  # a stranger's code or files: they may raise whatever they like
        raise ModelError(f"{found.place}: {type(why).__name__}: {first_line(why)}") from why


def _transformers(
    found: ModelCheck, spec: TransformersSpec, pictures: DrawnPictures, *, blind: bool
) -> ModelCheck:
    from resources.local.engine import TransformersEngine
    from resources.local.loading import device_of, dtype_of
    from resources.local.model import load

    one = _short(spec).model_copy(update={"device": _first_device(spec), "devices": ()})
    loading = Loading(load)
    engine = TransformersEngine(one, one.path, pictures.read, loading.load)
    with closing(engine):
        subject = Subject(
            ask=asking(engine),
            pictures=pictures,
            loading=loading,
            exactly=(dtype_of(one), device_of(one.device)) == ("float32", "cpu"),
            blind=blind,
        )
        tried = try_out(found, subject)
        return replace(
            tried, loaded=loading.described(spec, engine.checkpoint), load_seconds=loading.seconds
        )


def _short(spec: AnySpec) -> AnySpec:
    """Ask for few tokens, and for several questions in a batch whatever their pictures weigh."""
    update: dict[str, object] = {}
    if isinstance(spec, Asked):
        update |= {"max_tokens": min(spec.max_tokens, _MAX_TOKENS)}
    if isinstance(spec, ServerSpec):
        update |= {"batch": False}  # which may take a day
    if isinstance(spec, LocalSpec):
        update |= {
            "batch_size": max(spec.batch_size, _TOGETHER),
            "batch_tokens": max(spec.batch_tokens, _BATCH_TOKENS),
        }
    return spec.model_copy(update=update)


def _first_device(spec: TransformersSpec) -> str:
    if spec.devices == "all":
        return "cuda"
    return spec.devices[0] if spec.devices else spec.device
