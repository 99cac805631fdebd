"""``bench.toml`` of a home folder (``BENCH_HOME``), with validation across its sections."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import (
    AfterValidator,
    Field,
    PlainValidator,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
)

from bench_assets.core.schema.elicitation import Elicitation, ElicitedName, split_elicited_name
from bench_assets.core.schema.errors import ModelError, SettingsError, UnknownNameError
from bench_assets.evaluation.outcomes import Accepted
from bench_assets.evaluation.suite import AnySuiteSettings
from bench_assets.plugins import SUITES, find_owners
from bench_resources.checkpoints import hub_revisions
from bench_resources.checkpoints import watched_folders as checkpoint_folders
from bench_resources.checkpoints.files import is_adapter
from bench_resources.config.addresses import template_of
from bench_resources.config.engine_choice import EngineChoice, choose_engine
from bench_resources.config.known_benchmarks import NamedBenchmarks, named_benchmarks
from bench_resources.config.models_toml import read_models
from bench_resources.config.sections.annotation import AnnotationSettings
from bench_resources.config.sections.base import ModelSpec, StrictSection
from bench_resources.config.sections.benchmarks import (
    AuditSettings,
    BenchmarkName,
    FileBenchmarkSettings,
)
from bench_resources.config.sections.checkpoints import CheckpointSettings
from bench_resources.config.sections.cluster import ClusterSettings, StorageSettings
from bench_resources.config.sections.engine_kinds import UnusableSpec, read_model_section
from bench_resources.config.sections.local_models import (
    AutoSpec,
    TransformersSpec,
    VllmSpec,
)
from bench_resources.config.sections.models import (
    EMBEDDED_MODELS,
    DerivedSpec,
    ElicitedSpec,
    ModelName,
)
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.config.toml_validation import describe_validation_error, read_toml


def validate_cluster_storage(
    file: Path,
    storage: StorageSettings,
    cluster: ClusterSettings,
    models: Mapping[str, ModelSpec],
) -> None:
    """Check that remote runs share their stores and engines with this home.

    Raises:
        SettingsError: If shared stores are missing, or an engine depends on the machine.
    """
    if cluster.launcher == "local":
        return
    for name, spec in models.items():
        if isinstance(spec, AutoSpec):
            raise SettingsError(
                f'{file}, entry models.{name}.kind: "auto" depends on the machine, and [cluster]'
                f' launcher = "{cluster.launcher}" uses others; set "transformers" or "vllm"'
            )
    prefix = f'{file}, entry cluster.launcher: "{cluster.launcher}" starts runs on other machines'
    if not storage.database:
        raise SettingsError(
            f'{prefix}; [storage] database = "env:NAME" is missing. Without it their records would'
            " be missing on this machine"
        )
    if not storage.objects:
        raise SettingsError(
            f'{prefix}; [storage] objects = "s3://bucket/prefix" (or "file:///folder") is missing,'
            " without which their tables would be missing here and on the leaderboard"
        )


AnyModel: TypeAlias = Annotated[ModelSpec, PlainValidator(read_model_section)]


class Settings(StrictSection):
    """``bench.toml``."""

    home: Path
    accept: tuple[Accepted, ...] = ()
    """Outcomes that stop no number of any suite, at the top of the file; see a suite's `accept`."""
    drift: float = Field(0.05, ge=0, le=1)
    """Share of a table's rows that a build may lose or reject anew; `bench tables accept` lets one
    table pass."""
    sources: dict[str, Annotated[str, AfterValidator(partial(template_of, pins=True))]] = Field(
        default_factory=dict
    )
    """Suite to its folder, or to a release (``hf:owner/name@revision``,
    ``https://...#sha256=...``); default: the mini edition."""
    suites: dict[str, dict[str, Any]] = Field(default_factory=dict)
    benchmarks: dict[BenchmarkName, FileBenchmarkSettings] = Field(default_factory=dict)
    """Benchmarks without Python, except those in ``left_out``."""
    models: dict[ModelName, AnyModel] = Field(default_factory=dict)
    checkpoints: CheckpointSettings = Field(default_factory=CheckpointSettings)
    audit: AuditSettings = Field(default_factory=AuditSettings)
    annotation: AnnotationSettings = Field(default_factory=AnnotationSettings)
    storage: StorageSettings = Field(default_factory=StorageSettings)
    cluster: ClusterSettings = Field(default_factory=ClusterSettings)
    _given: frozenset[str] = PrivateAttr(default=frozenset())
    _left_out: dict[str, str] = PrivateAttr(default_factory=dict)
    _files: dict[str, Path] = PrivateAttr(default_factory=dict)

    def with_ad_hoc_models(self, models: Mapping[str, ModelSpec]) -> "Settings":
        """Add ad-hoc models; sections of the file take precedence."""
        added = {name: spec for name, spec in models.items() if name not in self.models_of_file}
        both = self.model_copy(update={"models": {**self.models, **added}})
        both._given = self._given | added.keys()
        return both

    @property
    def given(self) -> frozenset[str]:
        """Names of the ad-hoc models, which commands were given by location."""
        return self._given

    @property
    def left_out(self) -> dict[str, str]:
        """Benchmarks that cannot be used, with the reason.

        One with the name of an installed suite is left out, because its file and judge would be
        taken for that suite's.
        """
        return self._left_out

    @property
    def models_of_file(self) -> dict[str, ModelSpec]:
        """The models that have a section in the file."""
        return {name: spec for name, spec in self.models.items() if name not in self._given}

    @property
    def encoders(self) -> dict[str, Mapping[str, Any]]:
        """Encoders in the suites' sections, by name; not validated, see ``suite``."""
        tables = [suite.get("encoders") for suite in self.suites.values()]
        return {
            name: section if isinstance(section, dict) else {}
            for table in tables
            if isinstance(table, dict)
            for name, section in table.items()
        }

    @property
    def file(self) -> Path:
        """Path of bench.toml, which may not exist."""
        return self.home / "bench.toml"

    @property
    def responses_file(self) -> Path:
        """File of the response cache, if no database is configured."""
        return self.home / "responses.sqlite"

    def section(self, benchmark: str) -> str:
        """Section of a benchmark, for messages."""
        return f"{self._files.get(benchmark, self.file)}, [benchmarks.{benchmark}]"

    def resolve(self, path: Path | str) -> Path:
        """Resolve a path written in bench.toml, relative to its folder."""
        return self.home / Path(path).expanduser()

    @property
    def training(self) -> list[Path]:
        """Configured training data."""
        return [self.resolve(path) for path in self.audit.training]

    def suite(self, name: str, settings_type: type[AnySuiteSettings]) -> AnySuiteSettings:
        """Read the settings of a suite, in the suite's own type.

        Raises:
            SettingsError: If an entry is unknown or has the wrong type.
        """
        benchmark = self.benchmarks.get(name)
        own = {"judge": benchmark.judge, "reader": benchmark.reader} if benchmark else {}
        try:
            chosen = settings_type.model_validate(own | self.suites.get(name, {}))
            accept = tuple(dict.fromkeys((*self.accept, *chosen.accept)))
            review = str(self.resolve(chosen.review)) if chosen.review else ""
            return chosen.model_copy(update={"accept": accept, "review": review})
        except ValidationError as error:
            problem = describe_validation_error(error, settings_type)
            raise SettingsError(f"{self.file}, [suites.{name}]: {problem}") from None

    def model(self, name: str) -> ModelSpec:
        """Find a model by name: one of the file, an embedded one, or a watched checkpoint.

        Raises:
            UnknownNameError: If there is no model of that name.
            ModelError: If it is a checkpoint that does not exist any more, or its kind or weights
                cannot be used here.
        """
        known = {**EMBEDDED_MODELS, **self.models}
        if name in known:
            spec = known[name]
            if isinstance(spec, UnusableSpec):
                raise ModelError(f"{self.file}, model {name}: {spec.place}")
            return chosen.spec if (chosen := self.engine_of(name)) else spec
        if elicited := split_elicited_name(name):
            return self._elicited(elicited)
        watched = self.checkpoints
        if watched.folders and checkpoint_folders.KEY.fullmatch(name):
            folders = [self.resolve(folder) for folder in watched.folders]
            found = checkpoint_folders.find_checkpoint(
                name, folders, full_digest=watched.full_digest
            )
            base = self.base_of_checkpoints() if is_adapter(found) else ""
            return self._like({"path": str(found), "revision": "main", "base": base})
        if watched.repositories and hub_revisions.KEY.fullmatch(name):
            path, commit = hub_revisions.find_revision(name, watched.repositories)
            if isinstance(self.watched_spec(), ServerSpec):
                raise SettingsError(
                    f"{self.file}, [checkpoints]: {name}: servers are started for folders, not for"
                    " repositories; watch a folder that they are copied to"
                )
            return self._like({"path": path, "revision": commit, "base": ""})
        only = f"{name} is an encoder" if name in self.encoders else ""
        raise UnknownNameError(f"model in {self.file}", name, known, also=only)

    def engine_of(self, name: str) -> EngineChoice | None:
        """The engine chosen for a model with ``kind = "auto"``; None for every other model.

        Raises:
            ModelError: If no engine can run it.
        """
        spec = self.models.get(name)
        if not isinstance(spec, AutoSpec):
            return None
        try:
            return choose_engine(spec.model_dump(), self.resolve(spec.path))
        except ModelError as error:
            raise ModelError(f"{self.file}, model {name}: {error}") from error

    def base_model(self, spec: ModelSpec, name: str = "") -> ModelSpec:
        """Model at the end of a chain of ``of`` settings.

        Raises:
            SettingsError: If a kind occurs twice in the chain.
            UnknownNameError: If one of them does not exist.
        """
        kinds = set[str]()
        while isinstance(spec, DerivedSpec):
            kinds.add(spec.kind)
            inner = self.model(spec.of)
            if inner.kind in kinds:
                raise SettingsError(
                    f"{self.file}, model {name or spec.of}: {spec.of} is {inner.kind} already"
                )
            spec = inner
        return spec

    def _elicited(self, name: ElicitedName) -> ElicitedSpec:
        spec = ElicitedSpec(
            kind="elicited", of=name.model, elicit=str(Elicitation.parse(name.elicit))
        )
        self.base_model(spec)
        return spec

    def base_of_checkpoints(self) -> str:
        """Base model of adapters in watched folders, from ``like``; "": each adapter's own.

        Raises:
            SettingsError: If checkpoints cannot have the settings of ``like``.
            UnknownNameError: If the model ``like`` does not exist.
        """
        liked = self.watched_spec()
        base = liked.base if isinstance(liked, TransformersSpec) else ""
        return str(resolved) if base and (resolved := self.resolve(base)).is_dir() else base

    def _like(self, place: dict[str, Any]) -> TransformersSpec | ServerSpec:
        """Settings of a checkpoint: those of ``like``, with its own weights."""
        liked = self.watched_spec()
        if isinstance(liked, ServerSpec):
            return liked.model_copy(update={"path": place["path"]})
        return liked.model_copy(update={**place, "gguf_file": None})

    def watched_spec(self) -> TransformersSpec | ServerSpec:
        """Settings of watched checkpoints, from ``like`` and ``serve``.

        Raises:
            SettingsError: If they cannot be combined.
            UnknownNameError: If the model ``like`` does not exist.
        """
        like, serve = self.checkpoints.like, self.checkpoints.serve
        spec = self.model(like) if like else TransformersSpec(kind="transformers", path="")
        if serve and not like:
            return self._server_spec(serve, {})
        if isinstance(spec, ServerSpec) and spec.serve and not serve:
            return spec
        if isinstance(spec, ServerSpec) and spec.serve and not isinstance(spec, VllmSpec):
            values = spec.model_dump(exclude_unset=True, by_alias=True)
            return self._server_spec(serve, values)
        if serve or not isinstance(spec, TransformersSpec):
            wanted = (
                "a server with serve" if serve else "transformers, vllm, or a server with serve"
            )
            raise SettingsError(
                f"{self.file}, [checkpoints], like: {like} is a {spec.kind} model, not {wanted}"
            )
        return spec

    def _server_spec(self, serve: str, said: Mapping[str, Any]) -> ServerSpec:
        section = {**said, "kind": "server", "path": ".", "serve": serve}
        try:
            return ServerSpec.model_validate(section)
        except ValidationError as error:
            raise SettingsError(
                f"{self.file}, [checkpoints], serve: {describe_validation_error(error, ServerSpec)}"
            ) from None


def load_settings(home: Path) -> Settings:
    """Read ``bench.toml`` in ``home``; without one, everything has its default.

    Raises:
        SettingsError: If the home is not a folder, the file is not TOML or an entry is invalid. The
            message shows no text of an entry, because it may be secret.
    """
    try:
        if home.exists() and not home.is_dir():
            raise SettingsError(f"{home}: not a folder; set BENCH_HOME to one, or to a new path")
    except OSError as error:
        raise SettingsError(f"{home}: cannot be read: {error.strerror}") from error
    file = home / "bench.toml"
    written = read_toml(file)
    if "home" in written:
        raise SettingsError(
            f"{file}, entry home: unknown. The home is this file's folder, or BENCH_HOME"
        )
    named, own = named_benchmarks(home), written.get("benchmarks", {})
    if named.sections and isinstance(own, dict):
        written = {**written, "benchmarks": {**named.sections, **own}}
    try:
        settings = TypeAdapter(Settings).validate_python({**written, "home": home})
    except ValidationError as error:
        raise SettingsError(
            f"{file}, {describe_validation_error(error, Settings, written)}"
        ) from None
    validate_cluster_storage(file, settings.storage, settings.cluster, settings.models)
    return _without_duplicates(settings, named, own).with_ad_hoc_models(read_models(home))


def _without_duplicates(
    settings: Settings, named: NamedBenchmarks, of_file: Collection[str]
) -> Settings:
    owners = find_owners(SUITES) if settings.benchmarks else {}
    own = {name: one for name, one in settings.benchmarks.items() if name not in owners}
    reduced = settings.model_copy(update={"benchmarks": own})
    reduced._files = {name: file for name, file in named.files.items() if name not in of_file}
    reduced._left_out = {
        **{name: why for name, why in named.left_out.items() if name not in of_file},
        **{
            name: f"there is another suite of this name: {owners[name]}; rename the section"
            for name in settings.benchmarks.keys() - own.keys()
        },
    }
    return reduced


_WATCHED = "*@????????"  # a checkpoint's name ends in eight digits of its content digest


def model_pools(settings: Settings) -> dict[str, str]:
    """Model, or a pattern of models -> the pool that its runs hold instead of ``gpu``.

    ``pool_of`` in [cluster] takes precedence over a model's own section.

    Raises:
        SettingsError: If a section names an unknown pool.
    """
    named = {
        name: spec.pool
        for name, spec in settings.models.items()
        if isinstance(spec, ServerSpec) and spec.pool
    }
    for name, pool in named.items():
        _refuse_unknown(pool, f"models.{name}", settings)
    watched = settings.checkpoints
    if watched.folders and (watched.like or watched.serve):
        with suppress(ModelError):  # its kind is not installed: no checkpoint is evaluated
            liked = settings.watched_spec()
            if isinstance(liked, ServerSpec) and liked.pool:
                named[_WATCHED] = liked.pool
    return named | settings.cluster.pool_of


def _refuse_unknown(pool: str, section: str, settings: Settings) -> None:
    known = settings.cluster.limits
    if pool not in known:
        raise SettingsError(
            f"{settings.file}, entry {section}.pool: there is no pool {pool}; known:"
            f" {', '.join(sorted(known))}; set its number of runs, as in [cluster]"
            f" pools = {{ {pool} = 2 }}"
        )
