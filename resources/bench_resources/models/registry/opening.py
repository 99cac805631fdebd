"""Opens chat models and judges by name."""

from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import dagster as dg
from pydantic import PrivateAttr

from bench_assets.core.schema.chat import ChatModel
from bench_resources.config.bench_toml import Settings
from bench_resources.config.environment import known_secrets
from bench_resources.config.sections.base import SamplingSection
from bench_resources.config.sections.engine_kinds import EngineContext, EngineKind
from bench_resources.config.sections.models import (
    ElicitedSpec,
    RandomSpec,
    RecordedSpec,
    ScriptedSpec,
)
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.config.stores import open_response_store
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.engines import engine_kind
from bench_resources.models.registry.named_models import (
    ENCODER,
    ResolvedModel,
    resolve_name,
    with_seed,
)
from bench_resources.models.registry.setup import setup_of
from bench_resources.redaction.responses import RedactingEngine
from bench_resources.response_cache.caching_model import CachingModel, Progress
from bench_resources.response_cache.engine import Engine, PreparedEngine
from bench_resources.response_cache.rows import TokenCounts
from bench_resources.response_cache.throughput import ProgressStyle, RequestProgress

if TYPE_CHECKING:
    from bench_resources.response_cache.store import ResponseStore


class Models(dg.ConfigurableResource[Any]):
    """Every model and judge, by the name used as partition key."""

    settings: dg.ResourceDependency[Settings]
    image_store: ImageStore
    progress: ProgressStyle = "in the log"
    """Where progress is shown."""
    asks: bool = True
    """Whether requests are sent; if not, no weights are loaded for batch trials."""
    _resolved: dict[str, ResolvedModel] = PrivateAttr(default_factory=dict)
    _open_engines: dict[str, Engine] = PrivateAttr(default_factory=dict)

    @property
    def store(self) -> "ResponseStore":
        """The response cache."""
        return open_response_store(self.settings)

    @contextmanager
    def open(
        self, name: str, condition: str = "main", progress: Progress = lambda *_: None
    ) -> Generator[ChatModel]:
        """Open a model during a ``with`` block; of recorded responses, those of ``condition``.

        Raises:
            UnknownNameError: If no model has that name; lists the known ones.
            ModelError: If its weights or its server cannot be reached.
        """
        model = self.named(name)
        if model.of:
            with self.open(model.of.name, condition, progress) as inner:
                yield _derived_model(model, inner)
        elif kind := engine_kind(model.spec):
            with self._prepared_engine(kind, model) as engine:
                yield self._caching_model(model, engine, progress)
        else:
            yield _builtin_model(model, self.settings, condition)

    def named(self, name: str) -> ResolvedModel:
        """Find a model by name, once for this command or run; raises as ``resolve_name``."""
        if name not in self._resolved:
            self._resolved[name] = resolve_name(name, self.settings)
        return self._resolved[name]

    def know(self, models: Iterable[ResolvedModel]) -> None:
        """Use models that the command has resolved, and those behind them; skips encoders."""
        for model in models:
            if model.spec.kind != ENCODER:
                self._resolved[model.name] = model
            if model.of:
                self.know([model.of])

    @contextmanager
    def seeded(self, name: str, seed: int) -> Generator[None]:
        """Sample a model with another seed during a ``with`` block.

        Raises:
            UnknownNameError: If no model has that name.
            SettingsError: If it has no seed.
        """
        unseeded = dict(self._resolved)
        self.know([with_seed(self.named(name), seed, self.settings)])
        try:
            yield
        finally:
            self._resolved = unseeded

    def setup_of(self, name: str) -> str:
        """Digest of a model's setup, as ``setup.setup_of``."""
        return setup_of(name, self.settings, self.named)

    def fetch_images(self, name: str, digests: Iterable[str]) -> None:
        """Cache the images that an engine will read, if they are in an object store.

        Raises:
            UnknownNameError: If no model has that name.
        """
        if engine_kind(self.named(name).spec):
            self.image_store.place.fetch(digests)

    def _spent(self, identity: str) -> TokenCounts:
        return self.store.tokens_of(identity)

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Free memory when a run ends."""
        self.close()

    def close(self) -> None:
        """Free the memory of the engine that was kept open."""
        while self._open_engines:
            _, engine = self._open_engines.popitem()
            engine.close()

    def _caching_model(
        self, model: ResolvedModel, engine: Engine, progress: Progress
    ) -> CachingModel:
        """Put redaction and the cache in front of an engine, and prices into the progress."""
        spec, store = model.spec, self.store
        throughput = progress.throughput if isinstance(progress, RequestProgress) else None
        engine = RedactingEngine(engine, known_secrets(self.settings.home))
        if throughput and isinstance(spec, ServerSpec):
            throughput.set_prices(spec.price_in, spec.price_out)
        tags = spec.thinking_tags if isinstance(spec, SamplingSection) else None
        return CachingModel(
            model.name, engine, store, progress, throughput=throughput, thinking_tags=tags
        )

    @contextmanager
    def _prepared_engine(self, kind: EngineKind[Any], model: ResolvedModel) -> Generator[Engine]:
        """Make an engine ready for requests; one with weights stays open between assets."""
        # Other weights in the folder of a watched checkpoint have another name.
        watched_name = model.name if model.is_watched else ""
        key = f"{model.spec.kind} {model.spec.model_dump_json()} {watched_name}"
        context = EngineContext(
            name=model.name,
            asks=self.asks,
            read_image=self.image_store.place.read,
            resolve=self.settings.resolve,
            spent=self._spent,
        )
        engine = self._open_engines.get(key) or kind.engine(model.spec, context)
        if kind.alone and key not in self._open_engines:
            self.close()
            self._open_engines[key] = engine
        with nullcontext() if kind.alone else closing(engine):
            if isinstance(engine, PreparedEngine):
                engine.prepare()
            if model.content:
                from bench_resources.models.registry.locations import refuse_changed_checkpoint

                refuse_changed_checkpoint(model)
            yield engine


def _derived_model(model: ResolvedModel, inner: ChatModel) -> ChatModel:
    if isinstance(model.spec, ElicitedSpec):
        from bench_assets.core.schema.elicitation import Elicitation
        from bench_resources.models.registry.elicited_model import ElicitedModel

        return ElicitedModel(inner, model.name, Elicitation.parse(model.spec.elicit))
    from bench_resources.models.registry.baselines import BlindModel

    return BlindModel(inner, model.name)


def _builtin_model(model: ResolvedModel, settings: Settings, condition: str) -> ChatModel:
    spec = model.spec
    if isinstance(spec, RecordedSpec):
        from bench_resources.models.registry.recorded import open_recorded

        return open_recorded(model.name, spec, settings, condition)
    from bench_resources.models.registry import baselines

    if isinstance(spec, RandomSpec):
        return baselines.RandomBaseline(model.name, spec.seed)
    if isinstance(spec, ScriptedSpec):
        return baselines.ScriptedModel(model.name, lambda _: spec.says)
    return baselines.MostFrequentBaseline(model.name)
