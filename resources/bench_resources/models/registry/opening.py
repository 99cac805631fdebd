"""Opens chat models and judges by name."""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
from pydantic import PrivateAttr

from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.elicitation import Elicitation
from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_assets.evaluation.elicited_model import ElicitedModel
from bench_resources.checkpoints import watched_folders as checkpoint_folders
from bench_resources.config.ad_hoc_models import refuse_changed_checkpoint
from bench_resources.config.bench_toml import Settings
from bench_resources.config.environment import known_secrets
from bench_resources.config.sections.base import ModelSpec, PriceSection, SamplingSection
from bench_resources.config.sections.engine_kinds import EngineContext, EngineKind
from bench_resources.config.sections.models import DerivedSpec, ElicitedSpec, RecordedSpec
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.config.settings_resource import SettingsResource
from bench_resources.config.stores import open_response_store
from bench_resources.images.store import ImageStore
from bench_resources.models.api.budget import WithinBudget, has_budget
from bench_resources.models.registry.baselines import (
    BlindModel,
    MostFrequentBaseline,
    RandomBaseline,
    ScriptedModel,
)
from bench_resources.models.registry.engines import engine_kind
from bench_resources.models.registry.recorded import (
    EvaluatedModel,
    RecordedJudge,
    RecordedResponse,
    group_by_model,
    read_responses,
)
from bench_resources.redaction.engine import RedactingEngine
from bench_resources.response_cache.caching_model import CachingModel, Progress
from bench_resources.response_cache.engine import Engine
from bench_resources.response_cache.throughput import ProgressStyle, Throughput

if TYPE_CHECKING:
    from bench_resources.response_cache.store import ResponseStore


@dataclass(frozen=True, slots=True, kw_only=True)
class _OpeningOptions:
    condition: str
    progress: Progress
    throughput: Throughput | None
    until: ExitStack  # closes engines that are not kept


class Models(dg.ConfigurableResource[Any]):
    """Every model and judge, by the name used as partition key."""

    settings: SettingsResource
    image_store: ImageStore
    progress: ProgressStyle = "in the log"
    """Where progress is shown."""
    asks: bool = True
    """Whether requests are sent; if not, no weights are loaded for batch trials."""
    _kept: dict[str, Engine] = PrivateAttr(default_factory=dict)

    @property
    def store(self) -> "ResponseStore":
        """The response cache."""
        return open_response_store(self.settings.load())

    @contextmanager
    def open(
        self,
        name: str,
        condition: str = "main",
        progress: Progress = lambda *_: None,
        throughput: Throughput | None = None,
    ) -> Generator[ChatModel]:
        """Open a model during a ``with`` block.

        Raises:
            UnknownNameError: If no model has that name; lists the known ones.
            ModelError: If its weights or its server cannot be reached.
        """
        with ExitStack() as stack:
            asking = _OpeningOptions(
                condition=condition, progress=progress, throughput=throughput, until=stack
            )
            yield self._opened(name, asking)

    def bring(self, name: str, images: Iterable[str]) -> None:
        """Prefetch images for a model from the object store, if there is one.

        Raises:
            UnknownNameError: If no model has that name.
        """
        if engine_kind(self.settings.load().model(name)):
            self.image_store.place.bring(images)

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Free memory when a run ends."""
        self.close()

    def close(self) -> None:
        """Free the memory of the kept engine."""
        while self._kept:
            self._kept.popitem()[1].close()

    def _opened(self, name: str, asking: _OpeningOptions) -> ChatModel:
        settings = self.settings.load()
        spec = settings.model(name)
        if isinstance(spec, DerivedSpec):
            inner = self._opened(inner_model(name, spec, settings), asking)
            if isinstance(spec, ElicitedSpec):
                return ElicitedModel(inner, name, Elicitation.parse(spec.elicit))
            return BlindModel(inner, name)
        if kind := engine_kind(spec):
            store, at = open_response_store(settings), self._engine_context(name, settings)
            engine = self._engine(kind, spec, at, asking.until)
            _refuse_other_content(name, spec, engine, settings)
            secrets = known_secrets(settings.home)
            if isinstance(spec, PriceSection) and asking.throughput:
                share = spec.share_of_price
                asking.throughput.at_prices(spec.price_in * share, spec.price_out * share)
            return CachingModel(
                name,
                _apply_budget(RedactingEngine(engine, secrets), spec, at),
                store,
                asking.progress,
                asking.throughput,
                spec.thinking_tags if isinstance(spec, SamplingSection) else None,
            )
        return _BUILTIN_MODELS[spec.kind](name, spec, settings, asking.condition)

    def _engine(
        self, kind: EngineKind[Any], spec: ModelSpec, at: EngineContext, until: ExitStack
    ) -> Engine:
        """Keep one engine with weights open between assets."""
        watched = at.name if checkpoint_folders.KEY.fullmatch(at.name) else ""
        key = f"{spec.kind} {spec.model_dump_json()} {watched}"  # its folder may be overwritten
        if key in self._kept:
            return self._kept[key]
        engine = kind.engine(spec, at)
        if kind.alone:
            self.close()
            self._kept[key] = engine
        else:
            until.callback(engine.close)
        return engine

    def _engine_context(self, name: str, settings: Settings) -> EngineContext:
        return EngineContext(
            name=name,
            asks=self.asks,
            read_image=self.image_store.place.read,
            resolve=settings.resolve,
            spent=lambda identity: open_response_store(settings).tokens_of(identity),
        )


def _refuse_other_content(name: str, spec: ModelSpec, engine: Engine, settings: Settings) -> None:
    """Refuse a checkpoint that was overwritten since it was found.

    Its name includes its content. From here on the engine verifies it.
    """
    if name in settings.given:
        refuse_changed_checkpoint(name, spec)
    elif checkpoint_folders.KEY.fullmatch(name) and name not in settings.models:
        pinned = engine.identity
        if settings.model(name) != spec:
            raise ModelError(f"{name}: was moved or overwritten during the run; it is now {pinned}")


def _apply_budget(engine: Engine, spec: ModelSpec, at: EngineContext) -> Engine:
    """Apply the budget of a section; the server engine applies it itself."""
    if isinstance(spec, PriceSection) and has_budget(spec) and not isinstance(spec, ServerSpec):
        return WithinBudget(engine, spec, at.spent)
    return engine


def inner_model(name: str, spec: DerivedSpec, settings: Settings) -> str:
    """The name of the model behind a blind or elicited one.

    Raises:
        SettingsError: If that model is derived in the same way already, or recorded: its responses
            are the same without images.
    """
    if isinstance(settings.base_model(spec, name), RecordedSpec):
        raise SettingsError(
            f"{settings.file}, model {name}: {spec.of} is recorded and cannot be asked otherwise."
            " Record its responses without images as a model of their own"
        )
    return spec.of


def _recorded(name: str, spec: RecordedSpec, settings: Settings, condition: str) -> ChatModel:
    responses, file = read_recorded(name, spec, settings)
    if spec.field == "judge_response":
        return RecordedJudge(name, responses, file)
    return EvaluatedModel(name, responses, file, condition)


def read_recorded(
    name: str, spec: RecordedSpec, settings: Settings
) -> tuple[list[RecordedResponse], Path]:
    """Read the recorded responses of a model; returns them and the file.

    Raises:
        SettingsError: If the file has no such model, or several and none is named.
        SourceError: If the file cannot be read.
    """
    file = settings.resolve(spec.file)
    responses = group_by_model(read_responses(file), nameless=spec.model or name)
    model_name = spec.model or next(iter(responses), "")
    if model_name not in responses or (len(responses) > 1 and not spec.model):
        available = ", ".join(sorted(responses)) or "none"
        raise SettingsError(
            f"{settings.file}, model {name}: set model to one of {file}, which has {available}"
        )
    return responses[model_name], file


_BUILTIN_MODELS: Mapping[str, Callable[[str, Any, Settings, str], ChatModel]] = {
    "random": lambda name, spec, *_: RandomBaseline(name, spec.seed),
    "most_frequent": lambda name, *_: MostFrequentBaseline(name),
    "scripted": lambda name, spec, *_: ScriptedModel(name, lambda _: spec.says),
    "recorded": _recorded,
}
