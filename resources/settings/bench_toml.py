"""What a user configures: ``bench.toml`` in the folder that holds everything, ``BENCH_HOME``.

The only module that reads the environment.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field, PlainValidator, PrivateAttr, TypeAdapter, ValidationError

from bench_assets.core.errors import SettingsError, UnknownNameError
from bench_assets.core.secrets import LEAST, Secrets, is_hidden
from bench_assets.suite import AnySuiteSettings
from resources.checkpoints import folders as checkpoint_folders
from resources.checkpoints import hub_revisions
from resources.checkpoints.files import is_adapter
from resources.settings import models_toml
from resources.settings.benchmarks import BenchmarkName, PlainBenchmark
from resources.settings.checkpoint_settings import CheckpointSettings
from resources.settings.engine_kinds import read_model
from resources.settings.local_specs import TransformersSpec, VllmSpec
from resources.settings.model_specs import EMBEDDED_MODELS, ModelName
from resources.settings.models_toml import read_models
from resources.settings.people_settings import PeopleSettings
from resources.settings.refusals import refusal
from resources.settings.secrets import may_be_told, secrets_in
from resources.settings.sections import ModelSpec, Strict
from resources.settings.server_spec import ServerSpec
from resources.settings.soundness_settings import SoundnessSettings
from resources.settings.storage_settings import StorageSettings
from resources.settings.toml_file import read_toml

AnyModel: TypeAlias = Annotated[ModelSpec, PlainValidator(read_model)]

CHECKOUT = Path(__file__).resolve().parents[2]


class Settings(Strict):
    """``bench.toml``."""

    home: Path
    sources: dict[str, str] = Field(default_factory=dict)
    """Suite -> folder with its files, or address of its release (``hf:owner/name@revision``,
    ``https://...#sha256=...``); a suite that is not named uses its mini edition."""
    suites: dict[str, dict[str, Any]] = Field(default_factory=dict)
    benchmarks: dict[BenchmarkName, PlainBenchmark] = Field(default_factory=dict)
    models: dict[ModelName, AnyModel] = Field(default_factory=dict)
    checkpoints: CheckpointSettings = Field(default_factory=CheckpointSettings)
    soundness: SoundnessSettings = Field(default_factory=SoundnessSettings)
    people: PeopleSettings = Field(default_factory=PeopleSettings)
    storage: StorageSettings = Field(default_factory=StorageSettings)
    _given: frozenset[str] = PrivateAttr(default=frozenset())

    def with_given(self, models: Mapping[str, ModelSpec]) -> "Settings":
        """Add models that commands were given; what the file says of a name counts before them."""
        added = {name: spec for name, spec in models.items() if name not in self.models_of_file}
        both = self.model_copy(update={"models": {**self.models, **added}})
        both._given = self._given | added.keys()
        return both

    @property
    def given(self) -> frozenset[str]:
        """Names of the models that commands were given by where they are."""
        return self._given

    @property
    def models_of_file(self) -> dict[str, ModelSpec]:
        """The models that have a section in the file."""
        return {name: spec for name, spec in self.models.items() if name not in self._given}

    @property
    def file(self) -> Path:
        """Where these settings are written, or would be."""
        return self.home / "bench.toml"

    @property
    def replies_file(self) -> Path:
        """What remembers replies where no database is named."""
        return self.home / "replies.sqlite"

    def section(self, benchmark: str) -> str:
        """Where a benchmark's settings stand, for complaints."""
        return f"{self.file}, [benchmarks.{benchmark}]"

    def resolve(self, path: Path | str) -> Path:
        """Find a path that is written in bench.toml: relative ones start at its folder."""
        return self.home / Path(path).expanduser()

    @property
    def training(self) -> list[Path]:
        """What models were trained on, as far as the user says."""
        return [self.resolve(path) for path in self.soundness.training]

    def suite(self, name: str, settings_type: type[AnySuiteSettings]) -> AnySuiteSettings:
        """Read what is configured for a suite, in the suite's own type.

        Raises:
            SettingsError: If an entry is unknown or has the wrong type.
        """
        benchmark = self.benchmarks.get(name)
        judge = {"judge": benchmark.judge} if benchmark else {}
        try:
            return settings_type.model_validate(judge | self.suites.get(name, {}))
        except ValidationError as why:
            said = refusal(why, settings_type)
            raise SettingsError(f"{self.file}, [suites.{name}]: {said}") from None

    def model(self, name: str) -> ModelSpec:
        """Find a model by name: one of the file, an embedded one, or a watched checkpoint.

        Raises:
            UnknownNameError: If there is none of that name.
            ModelError: If it is the name of a checkpoint that is not there any more.
        """
        known = {**EMBEDDED_MODELS, **self.models}
        if name in known:
            return known[name]
        watched = self.checkpoints
        if watched.folders and checkpoint_folders.KEY.fullmatch(name):
            folders = [self.resolve(folder) for folder in watched.folders]
            found = checkpoint_folders.locate(name, folders, full_digest=watched.full_digest)
            base = self.base_of_checkpoints() if is_adapter(found) else ""
            return self._like({"path": str(found), "revision": "main", "base": base})
        if watched.repositories and hub_revisions.KEY.fullmatch(name):
            path, commit = hub_revisions.located_in(name, watched.repositories)
            return self._like({"path": path, "revision": commit, "base": ""})
        raise UnknownNameError(f"model in {self.file}", name, known)

    def base_of_checkpoints(self) -> str:
        """What adapters in watched folders are put on: what ``like`` says; "": as each says.

        Raises:
            SettingsError: If ``like`` is not of transformers or vllm.
            UnknownNameError: If it is no model at all.
        """
        base = self._liked().base
        return str(beside) if base and (beside := self.resolve(base)).is_dir() else base

    def _like(self, place: dict[str, Any]) -> TransformersSpec | VllmSpec:
        """Ask a checkpoint as the model is asked that it is to be like; its weights are its own."""
        liked = self._liked()
        no_gguf = {"gguf_file": None} if isinstance(liked, TransformersSpec) else {}
        return liked.model_copy(update=place | no_gguf)

    def _liked(self) -> TransformersSpec | VllmSpec:
        like = self.checkpoints.like
        spec = self.model(like) if like else TransformersSpec(kind="transformers", path="")
        if not isinstance(spec, TransformersSpec | VllmSpec):
            raise SettingsError(
                f"{self.file}, [checkpoints], like: {like} is a {spec.kind} model, not transformers"
                " or vllm"
            )
        return spec


def default_home() -> Path:
    """The folder that holds everything: ``$BENCH_HOME``, or ``bench_home`` in the checkout."""
    return Path(os.environ.get("BENCH_HOME") or CHECKOUT / "bench_home").absolute()


def environment_of(home: Path) -> dict[str, str]:
    """The environment of Dagster's own processes over a home."""
    return {**os.environ, "DAGSTER_HOME": str(home / "dagster"), "BENCH_HOME": str(home)}


def label_studio_environment() -> Path:
    """Where Label Studio is installed: ``$BENCH_LABEL_STUDIO``, or ``.venv-people`` beside us."""
    return Path(os.environ.get("BENCH_LABEL_STUDIO") or CHECKOUT / ".venv-people").absolute()


def let_waiting_threads_sleep() -> None:
    """Tell OpenMP, before torch loads it, not to spin while its threads wait for each other.

    On two cores that something else uses too, spinning makes a language model three times slower.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def load_settings(home: Path) -> Settings:
    """Read ``bench.toml`` in ``home``; without one, everything has its default.

    Raises:
        SettingsError: If the file is not TOML or an entry is not what it should be; never tells a
            value, which may be secret. If the home is no folder.
    """
    try:
        if home.exists() and not home.is_dir():
            raise SettingsError(f"{home}: not a folder; set BENCH_HOME to one, or to a new path")
    except OSError as why:
        raise SettingsError(f"{home}: cannot be read: {why.strerror}") from why
    file = home / "bench.toml"
    written = read_toml(file)
    if "home" in written:
        raise SettingsError(f"{file}, entry home: it is where this file lies, or BENCH_HOME says")
    try:
        settings = TypeAdapter(Settings).validate_python({**written, "home": home})
    except ValidationError as why:
        raise SettingsError(f"{file}, {refusal(why, Settings, written)}") from None
    return settings.with_given(read_models(home))


def secret(variable: str) -> str:
    """Read a secret from the environment by the name that the configuration gives it.

    Blanks around it are left out, as HTTP does in the value of a header.

    Raises:
        SettingsError: If the variable is not set, or holds what no header can; names the variable,
            unless its name may be the secret itself.
    """
    value = os.environ.get(variable, "").strip(" \t")
    named = f"variable {variable}" if may_be_told(variable) or value else "variable that is named"
    if not value:
        raise SettingsError(f"the environment {named} is not set")
    if unfit := [at for at, c in enumerate(value, 1) if not " " <= c <= "~"]:
        what = "a newline" if value[unfit[0] - 1] in "\r\n" else "what is no printable ASCII"
        raise SettingsError(
            f"the environment {named} holds {what} (character {unfit[0]} of {len(value)}), which no"
            " key has: set it again, to the key alone"
        )
    return value


def too_short(variable: str) -> str:
    """Say that the key in a variable is not looked for; "" if it is, or there is none."""
    key = os.environ.get(variable, "").strip()
    if not key or is_hidden(key):
        return ""
    return (
        f"the key in the environment variable {variable} is too short to be told from ordinary"
        f" words: it is not taken out of replies and messages; one of {LEAST} characters is"
    )


def keys_too_short(models: Mapping[str, ModelSpec]) -> list[str]:
    """Say the same of every model that a server answers for."""
    named = dict.fromkeys(s.api_key_env for s in models.values() if isinstance(s, ServerSpec))
    return [said for variable in named if variable and (said := too_short(variable))]


def known_secrets(home: Path) -> Secrets:
    """Gather what must not be told: the secrets of bench.toml, those it names, and the hub's token.

    A file that cannot be read has none.
    """
    written = [_read_or_nothing(home / name) for name in ("bench.toml", models_toml.NAME)]
    tokens = {f"{name}_env": name for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")}
    return secrets_in([*written, tokens], lambda variable: os.environ.get(variable, ""))


def _read_or_nothing(file: Path) -> dict[str, Any]:
    try:
        return read_toml(file)
    except SettingsError:
        return {}


def hidden_beside(section: object) -> Secrets:
    """The secrets of one section, and those it names in the environment."""
    return secrets_in(section, lambda variable: os.environ.get(variable, ""))
