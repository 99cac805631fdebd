"""Environment variables: home folder, secrets named in bench.toml.

The only module that reads it.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.text.redaction import LEAST, Secrets, is_hidden
from resources.config import models_toml
from resources.config.secrets import is_plain_variable, secrets_in
from resources.config.sections.base import ModelSpec
from resources.config.sections.servers import ServerSpec
from resources.config.toml_validation import read_toml

CHECKOUT = Path(__file__).resolve().parents[2]

_KEYS = (  # that libraries take from the environment by themselves
    *("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "RAY_AUTH_TOKEN"),
    *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    *("AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_SAS_KEY", "AZURE_STORAGE_CLIENT_SECRET"),
)


def default_home() -> Path:
    """The folder that holds everything: ``$BENCH_HOME``, or ``bench_home`` in the checkout."""
    return Path(os.environ.get("BENCH_HOME") or CHECKOUT / "bench_home").absolute()


def local_home(written: Path) -> Path:
    """A home as this machine has it: ``$BENCH_HOME``, or where the machine has it that wrote it."""
    return default_home() if os.environ.get("BENCH_HOME") else written


def environment_of(home: Path) -> dict[str, str]:
    """The environment of Dagster's own processes over a home."""
    return {**os.environ, "DAGSTER_HOME": str(home / "dagster"), "BENCH_HOME": str(home)}


def label_studio_environment() -> Path:
    """Environment of Label Studio: ``$BENCH_LABEL_STUDIO``, or ``.venv-annotation`` here."""
    return Path(os.environ.get("BENCH_LABEL_STUDIO") or CHECKOUT / ".venv-annotation").absolute()


def set_openmp_passive() -> None:
    """Configure OpenMP, before torch is loaded, not to spin while threads wait.

    On two cores that something else uses too, spinning makes a language model three times slower.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def read_secret(variable: str) -> str:
    """Read a secret from the environment by the name that the configuration gives it.

    Blanks around it are left out, as HTTP does in the value of a header.

    Raises:
        SettingsError: If the variable is not set, or holds what no header can; names the variable,
            unless its name may be the secret itself.
    """
    value = os.environ.get(variable, "").strip(" \t")
    named = (
        f"variable {variable}" if is_plain_variable(variable) or value else "variable that is named"
    )
    if not value:
        raise SettingsError(f"the environment {named} is not set")
    if unfit := [at for at, c in enumerate(value, 1) if not " " <= c <= "~"]:
        what = "a newline" if value[unfit[0] - 1] in "\r\n" else "what is no printable ASCII"
        raise SettingsError(
            f"the environment {named} holds {what} (character {unfit[0]} of {len(value)}), which no"
            " key has: set it again, to the key alone"
        )
    return value


def short_key_warning(variable: str) -> str:
    """Warning that a short key is not redacted; "" if it is, or there is none."""
    key = os.environ.get(variable, "").strip()
    if not key or is_hidden(key):
        return ""
    return (
        f"the key in the environment variable {variable} is too short to be told from ordinary"
        f" words: it is not taken out of responses and messages; one of {LEAST} characters is"
    )


def short_key_warnings(models: Mapping[str, ModelSpec]) -> list[str]:
    """The same for every model behind a server."""
    named = dict.fromkeys(s.api_key_env for s in models.values() if isinstance(s, ServerSpec))
    return [said for variable in named if variable and (said := short_key_warning(variable))]


def known_secrets(*homes: Path) -> Secrets:
    """Collect the secrets of bench.toml, those it names, and the hub's token.

    A file that cannot be read has none.
    """
    written = [one for home in homes for one in _written(home).values()]
    tokens = {f"{name}_env": name for name in _KEYS}
    return secrets_in([*written, tokens], lambda variable: os.environ.get(variable, ""))


def files_with_secrets(*homes: Path) -> list[Path]:
    """Files that may contain secrets: settings, and files of server addresses."""
    return [file for home in homes for file in _written(home)]


def _written(home: Path) -> dict[Path, object]:
    names = ("bench.toml", models_toml.MODELS_FILE)
    read = {home / name: _read_or_nothing(home / name) for name in names}
    written: dict[Path, object] = {**read}
    for models in (one.get("models") for one in read.values()):
        for section in models.values() if isinstance(models, dict) else ():
            named = section.get("addresses_file") if isinstance(section, dict) else None
            if isinstance(named, str):
                file = home / os.path.expanduser(named)  # noqa: PTH111 - raises nothing
                written[file] = _lines_or_nothing(file)
    return written


def _read_or_nothing(file: Path) -> dict[str, Any]:
    try:
        return read_toml(file)
    except SettingsError:
        return {}


def _lines_or_nothing(file: Path) -> list[str]:
    try:
        return [line.strip() for line in file.read_text("utf-8", "replace").splitlines()]
    except (OSError, ValueError):  # a name with a NUL
        return []


def section_secrets(section: object) -> Secrets:
    """The secrets of one section, and those it names in the environment."""
    return secrets_in(section, lambda variable: os.environ.get(variable, ""))
