"""Environment variables: ``BENCH_HOME``, and secrets named in bench.toml.

Clients read others: Ray in ``cluster.ray_cluster``, proxies in ``models.api.engine``.
"""

import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.provenance import text_digest
from bench_assets.core.text.redaction import REDACTED, Secrets, is_distinct, is_key, replace_keys

MODELS_FILE = "models.toml"
IMPORTS_FILE = "imports.json"

KEY_PREFIX = "BENCH_KEY_"
"""Prefix of the variables with keys from addresses."""

_NAME = re.compile(r"(?=[A-Za-z_])[A-Za-z0-9]{0,19}(_[A-Za-z0-9]{0,19})*")
_PLAIN_NAME = re.compile(r"(?=[A-Z])[A-Z0-9]{1,15}(_[A-Z0-9]{1,15})*")
_FREE_FORM_ENTRIES = {"extra_body", "options", "extra"}  # whose tables may have any names
_REFERENCE = re.compile(r"env:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\}", re.ASCII)
_PASSWORD = re.compile(r"\bpassword\s*=\s*(?:'([^']+)|([^\s']+))|://[^:@/]*:(.+)@", re.IGNORECASE)
_WEB_ADDRESS = re.compile(r"https?://[^/?#]*/?")
_SCHEME = re.compile(r"(?:Bearer|Basic|Token)\s+", re.IGNORECASE)


def default_home() -> Path:
    """The home folder: ``$BENCH_HOME``, or ``bench_home`` in the working directory."""
    return Path(os.environ.get("BENCH_HOME") or "bench_home").absolute()


def expand_user(path: Path | str) -> Path:
    """Expand ``~`` at the beginning of a path; that of a user without a home stays."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def add_module_folders(home: Path) -> None:
    """Let Python find modules beside the home and in the working directory, after all others."""
    folders = map(str, (Path.cwd(), home.parent))
    sys.path += [folder for folder in folders if folder not in sys.path]


def local_home(recorded: Path) -> Path:
    """Path of a home on this machine: ``$BENCH_HOME``, or the path on the machine that wrote it."""
    return default_home() if os.environ.get("BENCH_HOME") else recorded


def environment_of(home: Path) -> dict[str, str]:
    """Environment variables of Dagster's processes for a home."""
    return {**os.environ, "DAGSTER_HOME": str(home / "dagster"), "BENCH_HOME": str(home)}


def find_program(name: str) -> str | None:
    """Find a program in PATH, or beside the running Python."""
    return shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))


def set_openmp_passive() -> None:
    """Configure OpenMP, before torch is loaded, not to spin while threads wait.

    On two busy cores, spinning makes a language model three times slower.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def read_secret(variable: str) -> str:
    """Read a secret from the environment by the name that the configuration gives it.

    Surrounding spaces and tabs are removed, as HTTP does for the value of a header.

    Raises:
        SettingsError: If the variable is not set, or contains a character that no header can; names
            the variable, unless its name may be the secret itself.
    """
    value = os.environ.get(variable, "").strip(" \t")
    if not value:
        name = variable if _PLAIN_NAME.fullmatch(variable) else "of this entry"
        raise SettingsError(f"the environment variable {name} is not set")
    for position, character in enumerate(value, 1):
        if not " " <= character <= "~":
            fault = "a newline" if character in "\r\n" else "an invalid character"
            raise SettingsError(
                f"the environment variable {variable} holds {fault} (character {position} of"
                f" {len(value)}), which no key contains. Set it to the key alone"
            )
    return value


def require_variable_name(text: str) -> str:
    """Return a text that is empty, a set variable, or like a name: words below 20 characters.

    >>> require_variable_name("MY_API_KEY")
    'MY_API_KEY'

    Raises:
        ValueError: For any other text, which the message does not show.
    """
    if text and not _NAME.fullmatch(text) and text not in os.environ:
        raise ValueError(
            "expected the NAME of an environment variable with the key; the value"
            " looks like the key itself: remove it from the file, and revoke it if others could"
            " read the file"
        )
    return text


def export_key(key: str, seed: str) -> str:
    """Store a key in the environment of this process and its children; returns the variable's name.

    The name has a digest of the key, or of ``seed`` if the key is weak: a digest would reveal it.
    """
    digest = text_digest(key if is_distinct(key) else seed)
    name = f"{KEY_PREFIX}{digest[:8].upper()}"
    os.environ[name] = key
    return name


def weak_key_warnings(home: Path) -> list[str]:
    """Warnings about keys that a home's settings name or contain, and that are not redacted."""
    secrets = _find_secrets([_read_or_empty(file) for file in files_with_secrets(home)])
    weak_names = dict.fromkeys(name for value, name in secrets if not is_distinct(value))
    return [
        f"the key in {name} could be an ordinary text: it is not redacted in responses and"
        " messages. Use a random key of 16 or more letters and digits"
        for name in weak_names
    ]


def known_secrets(*homes: Path) -> Secrets:
    """Collect the secrets that settings of homes contain or name, and those of the environment.

    Unreadable files are skipped. An existing path, or a part of a home's path, is no secret.
    """
    tables = [_read_or_empty(file) for file in files_with_secrets(*homes)]
    secrets = _find_secrets([*tables, dict(os.environ)])
    return Secrets({value: name for value, name in secrets if not _is_path(value, homes)})


def _is_path(text: str, homes: Iterable[Path]) -> bool:
    """Whether a text is an existing path, or a part of a home's path."""
    is_existing = text.startswith("/") and os.path.exists(text)  # noqa: PTH110 - takes any text
    return is_existing or any(text in str(home) for home in homes)


def section_secrets(section: object) -> Secrets:
    """The secrets of one section, and those it names in the environment."""
    return Secrets(dict(_find_secrets(section)))


def files_with_secrets(*homes: Path) -> list[Path]:
    """Files of settings, which may contain secrets or not exist."""
    return [home / name for home in homes for name in ("bench.toml", MODELS_FILE)]


def _read_or_empty(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}


def _find_secrets(
    content: object, name: str = "", *, free_form: bool = False
) -> Iterator[tuple[str, str]]:
    """Find secrets: in variables that entries name, under names such as ``api_key``, in addresses.

    Args:
        content: Tables of bench.toml, or the environment.
        name: Name of the entry.
        free_form: Whether names in its tables are any texts; their texts are secrets below the
            name of a secret.

    Yields:
        Value, and the name of its variable or entry.
    """
    if isinstance(content, Mapping):
        free_form = free_form or name in _FREE_FORM_ENTRIES
        for key, value in content.items():
            inner_name = name if free_form and is_key(name, "") else str(key)
            yield from _find_secrets(value, inner_name, free_form=free_form)
    elif isinstance(content, list | tuple):
        for value in content:
            yield from _find_secrets(value, name, free_form=free_form)
    elif isinstance(content, str):
        yield from _text_secrets(content, name)


def _text_secrets(text: str, name: str) -> Iterator[tuple[str, str]]:
    """Find the secrets of a text, as ``_find_secrets`` does."""
    variables = [group for groups in _REFERENCE.findall(text) for group in groups if group]
    if name.lower().endswith("_env"):
        variables.append(text)
    values = [(os.environ.get(variable, ""), variable) for variable in variables]
    if is_key(name, text):
        values.append((text, name))
    secrets = [(part, origin) for value, origin in values for part in _secret_parts(value.strip())]
    secrets += [(key, name) for key in _keys_in_address(text)]
    for secret, origin in secrets:
        if secret.strip():
            yield secret.strip(), origin


def _secret_parts(value: str) -> list[str]:
    """The secret parts of a value: passwords, path and keys of an address, or the whole value.

    The host is not secret: it would be redacted in all addresses that share it.
    """
    passwords = [group for groups in _PASSWORD.findall(value) for group in groups if group]
    parts = [*passwords, *map(unquote, passwords)]
    if _WEB_ADDRESS.match(value):
        path = _WEB_ADDRESS.sub("", value, count=1)
        return [*parts, path, *filter(is_distinct, path.split("/"))]
    if "://" in value:
        return [*parts, *_keys_in_address(value)]
    return parts or [_SCHEME.sub("", value, count=1)]


def _keys_in_address(text: str) -> list[str]:
    """The keys in an address, as written and percent-decoded."""
    keys: list[str] = []

    def collect(key: str) -> str:
        keys.append(key)
        return REDACTED

    replace_keys(text, collect)
    return [*keys, *map(unquote, keys)]
