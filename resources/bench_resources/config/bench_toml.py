"""``bench.toml`` of a home folder (``BENCH_HOME``), with validation across its sections."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field, PlainValidator, PrivateAttr, TypeAdapter, ValidationError

from bench_assets.core.schema.errors import SettingsError
from bench_assets.evaluation.outcomes import Accepted
from bench_assets.evaluation.suite import AnySuiteSettings
from bench_assets.plugins import SUITES, find_owners
from bench_resources.config.addresses import Address, source_of
from bench_resources.config.environment import expand_user
from bench_resources.config.known_benchmarks import NamedBenchmarks, named_benchmarks
from bench_resources.config.models_toml import read_models
from bench_resources.config.sections.base import ModelSpec, StrictSection
from bench_resources.config.sections.benchmarks import (
    AuditSettings,
    BenchmarkName,
    FileBenchmarkSettings,
)
from bench_resources.config.sections.cluster import ClusterSettings, StorageSettings
from bench_resources.config.sections.engine_kinds import read_model_section
from bench_resources.config.sections.local_models import AutoSpec
from bench_resources.config.sections.models import EMBEDDED_ENCODERS, ModelName
from bench_resources.config.sections.watched import AnnotationSettings, CheckpointSettings
from bench_resources.config.toml_validation import describe_validation_error, read_toml


def _require_shared_stores(
    file: Path, storage: StorageSettings, cluster: ClusterSettings, models: Mapping[str, ModelSpec]
) -> None:
    """Check that runs on other machines have the stores and the engines of this home."""
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
    """Outcomes that do not stop the metrics of any suite; values as in a suite's `accept`. Write it
    above all sections."""
    drift: float = Field(0.05, ge=0, le=1)
    """Largest share of the rows of a raw file or table that a build may lose or newly reject.
    `bench tables accept` accepts a larger one once."""
    sources: dict[str, Address] = Field(default_factory=dict)
    """Folder of each suite, or its release (``hf:owner/name@revision``,
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
    _of_file: "Settings | None" = PrivateAttr(default=None)
    _named_sources: dict[str, str] = PrivateAttr(default_factory=dict)
    _ad_hoc_models: frozenset[str] = PrivateAttr(default=frozenset())
    _left_out: dict[str, str] = PrivateAttr(default_factory=dict)
    _files: dict[str, Path] = PrivateAttr(default_factory=dict)

    def with_overrides(
        self,
        *,
        sources: Mapping[str, str | Path] | None = None,
        suites: Mapping[str, Mapping[str, Any]] | None = None,
        models: Mapping[str, Any] | None = None,
        accept: Sequence[str] = (),
        training: Sequence[str | Path] = (),
    ) -> "Settings":
        """Copy the settings with the entries of one command, which replace those of the file.

        But ``accept`` adds to the file's, and models of the file take precedence over ``models``.
        """
        named_sources = {suite: source_of(source) for suite, source in (sources or {}).items()}
        merged_suites = dict(self.suites)
        for suite, entries in (suites or {}).items():
            merged_suites[suite] = {**merged_suites.get(suite, {}), **entries}
        update: dict[str, Any] = {
            "sources": {**self.sources, **named_sources},
            "suites": merged_suites,
            "accept": (*self.accept, *accept),
        }
        if training:
            paths = [str(Path(path).absolute()) for path in training]
            update["audit"] = AuditSettings(training=paths)
        overridden = self.model_copy(update=update)
        overridden._of_file = self.of_file
        overridden._named_sources = {**self._named_sources, **named_sources}
        specs = {name: read_model_section(section) for name, section in (models or {}).items()}
        return overridden._with_ad_hoc_models(specs)

    @property
    def of_file(self) -> "Settings":
        """The settings without the overrides of a command."""
        return self._of_file or self

    @property
    def named_sources(self) -> dict[str, str]:
        """Sources that a command named instead of the file's, by suite."""
        return self._named_sources

    def _with_ad_hoc_models(self, models: Mapping[str, ModelSpec]) -> "Settings":
        """Add models; those of the file take precedence."""
        added = {name: spec for name, spec in models.items() if name not in self.models_of_file}
        merged = self.model_copy(update={"models": {**self.models, **added}})
        merged._ad_hoc_models = self._ad_hoc_models | added.keys()
        return merged

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
        return {name: spec for name, spec in self.models.items() if name not in self._ad_hoc_models}

    @property
    def encoders(self) -> dict[str, Mapping[str, Any]]:
        """Sections of encoders, by name: embedded ones, and those in the suites' sections."""
        encoders: dict[str, Mapping[str, Any]] = {**EMBEDDED_ENCODERS}
        for suite in self.suites.values():
            sections = suite.get("encoders")
            if isinstance(sections, dict):
                for name, section in sections.items():
                    encoders[name] = section if isinstance(section, dict) else {}
        return encoders

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
        return self.home / expand_user(path)

    @property
    def training(self) -> list[Path]:
        """Configured training data."""
        return [self.resolve(path) for path in self.audit.training]

    def suite(self, name: str, settings_type: type[AnySuiteSettings]) -> AnySuiteSettings:
        """Read the settings of a suite, in its own type; what all suites accept is added.

        Raises:
            SettingsError: If an entry is unknown or has the wrong type.
        """
        benchmark = self.benchmarks.get(name)
        entries = {"judge": benchmark.judge, "reader": benchmark.reader} if benchmark else {}
        entries |= self.suites.get(name, {})
        try:
            suite_settings = settings_type.model_validate(entries)
        except ValidationError as error:
            problem = describe_validation_error(error, settings_type)
            raise SettingsError(f"{self.file}, [suites.{name}]: {problem}") from None
        accept = tuple(dict.fromkeys((*self.accept, *suite_settings.accept)))
        return suite_settings.model_copy(update={"accept": accept})


def load_settings(home: Path) -> Settings:
    """Read ``bench.toml`` in ``home``, if it exists, with the benchmarks and models beside it.

    Raises:
        SettingsError: If the home is not a folder, a file is unreadable or not TOML, or an entry is
            invalid. The message shows no text of an entry, because it may be secret.
    """
    try:
        if home.exists() and not home.is_dir():
            raise SettingsError(f"{home}: not a folder; set BENCH_HOME to one, or to a new path")
    except OSError as error:
        raise SettingsError(f"{home}: cannot be read: {error.strerror}") from error
    file = home / "bench.toml"
    content = read_toml(file)
    if "home" in content:
        raise SettingsError(
            f"{file}, entry home: unknown. The home is this file's folder, or BENCH_HOME"
        )
    home_benchmarks = named_benchmarks(home)
    own_sections = content.get("benchmarks", {})
    if home_benchmarks.sections and isinstance(own_sections, dict):
        content = {**content, "benchmarks": {**home_benchmarks.sections, **own_sections}}
    try:
        settings = TypeAdapter(Settings).validate_python({**content, "home": home})
    except ValidationError as error:
        raise SettingsError(
            f"{file}, {describe_validation_error(error, Settings, content)}"
        ) from None
    _require_shared_stores(file, settings.storage, settings.cluster, settings.models)
    settings = _without_duplicates(settings, home_benchmarks, own_sections)
    return settings._with_ad_hoc_models(read_models(home))


def _without_duplicates(
    settings: Settings, home_benchmarks: NamedBenchmarks, own_names: Collection[str]
) -> Settings:
    """Leave out benchmarks with the name of an installed suite, and record what is left out.

    ``own_names`` are the benchmarks of bench.toml, which take precedence over ``home_benchmarks``.
    """
    owners = find_owners(SUITES) if settings.benchmarks else {}
    usable = {k: v for k, v in settings.benchmarks.items() if k not in owners}
    reduced = settings.model_copy(update={"benchmarks": usable})
    reduced._files = {k: v for k, v in home_benchmarks.files.items() if k not in own_names}
    reduced._left_out = {k: v for k, v in home_benchmarks.left_out.items() if k not in own_names}
    for name in settings.benchmarks.keys() & owners.keys():
        reduced._left_out[name] = (
            f"there is another suite of this name: {owners[name]}; rename the section"
        )
    return reduced
