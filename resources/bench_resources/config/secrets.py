"""Secrets in bench.toml and the environment."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from urllib.parse import unquote

from bench_assets.core.text.redaction import (
    REDACTED,
    Secrets,
    has_key_shape,
    is_key,
    is_strong,
    replace_keys,
)

_FREE_FORM_ENTRIES = {
    "extra_body",
    "options",
    "extra",
}  # entries below which a section may have any names
_TEXT = re.compile(r"(?<![\w-])[\w-]{12,}(?![\w-])", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]+", re.ASCII)
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)
_ENV_REFERENCE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)", re.ASCII)
_PASSWORD = re.compile(r"\bpassword\s*=\s*('(?:[^'\\]|\\.)*'|\S+)", re.IGNORECASE)
_KEYWORD = re.compile(r"\b(?:host|dbname|user|password|service)\s*=", re.IGNORECASE)
_SCHEME = re.compile(r"(?:Bearer|Basic|Token)\s+", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_MAY_BE_KEY = re.compile(r"(?=.{8}|.*\d)(?=.*[A-Za-z])[^{]{4,}")  # no EMPTY, no {name}
_PLAIN_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", re.ASCII)

ReadVariable = Callable[[str], str]
"""The value of an environment variable; "" if it is not set."""


def secrets_in(written: object, variable: ReadVariable) -> Secrets:
    """Find every secret: behind ``..._env``, under a name such as ``api_key``, in addresses."""
    return Secrets(dict(named_secrets(written, variable)))


def named_secrets(written: object, variable: ReadVariable) -> Iterator[tuple[str, str]]:
    """Yield every secret with its name: of its environment variable, or of its entry."""
    for value, name in _find_secrets(written, "", variable):
        if value.strip():
            yield value.strip(), name


def redact_key_shapes(text: str) -> str:
    """Redact texts shaped like a key in a message about settings; digests stay.

    >>> redact_key_shapes("no model named 'hf_AbCdEfGhIjKlMnOp'")
    "no model named '***'"
    """

    def shown(found: re.Match[str]) -> str:
        return REDACTED if is_strong(found[0]) and not _DIGEST.fullmatch(found[0]) else found[0]

    return _TEXT.sub(shown, text)


def require_variable_name(text: str) -> str:
    """Check that a text is the name of an environment variable, and does not look like a key.

    >>> require_variable_name("MY_API_KEY")
    'MY_API_KEY'

    Raises:
        ValueError: If it is not, or does; the message does not show it.
    """
    if text and (not _VARIABLE.fullmatch(text) or is_strong(text)):
        raise ValueError(
            "expected the NAME of an environment variable with the key; the value"
            " looks like the key itself: remove it from the file, and revoke it if others could"
            " read the file"
        )
    return text


def is_plain_variable(variable: str) -> bool:
    """Whether the name of a variable is certainly a name, such as ``MY_KEY``, and not a key.

    >>> is_plain_variable("MY_KEY"), is_plain_variable("k3yk3yk3y"), is_plain_variable("9A8F7E6D")
    (True, False, False)
    """
    runs = max(map(len, variable.split("_")))
    return bool(_PLAIN_VARIABLE.fullmatch(variable)) and runs < 16 and variable.isascii()


def key_in_command(command: str) -> str:
    """Option or variable that passes a key to a command; "" if there is none.

    >>> key_in_command("vllm serve --api-key sk-12345"), key_in_command("env HF_TOKEN=a1b2c3 x")
    ('--api-key', 'HF_TOKEN')
    >>> key_in_command("vllm serve --api-key EMPTY --max-tokens=16000000")
    ''
    """
    words = shlex.split(command)
    options = [(option, value) for option, value in pairwise(words) if option.startswith("-")]
    joined = [tuple(word.split("=", 1)) for word in words if "=" in word]
    for option, value in (*options, *joined):
        named = option.lstrip("-").replace("-", "_")
        if _MAY_BE_KEY.fullmatch(value) and is_key(named, value):
            return option
    return ""


def _find_secrets(
    written: object, name: str, variable: ReadVariable, *, free: bool = False
) -> Iterator[tuple[str, str]]:
    if isinstance(written, Mapping):
        free = free or name in _FREE_FORM_ENTRIES
        for inner, value in written.items():
            inner_name = name if free and is_key(name, "") else str(inner)
            yield from _find_secrets(value, inner_name, variable, free=free)
    elif isinstance(written, list | tuple):
        for value in written:
            yield from _find_secrets(value, name, variable, free=free)
    elif isinstance(written, str):
        yield from _secrets_in_text(written, name, variable)
    elif isinstance(written, int) and is_key(name, ""):
        yield str(written), name


def _secrets_in_text(text: str, name: str, variable: ReadVariable) -> Iterator[tuple[str, str]]:
    if named := _ENV_REFERENCE.fullmatch(text):
        yield from ((key, named[1]) for key in _database_password(variable(named[1])))
    if name.lower().endswith("_env"):
        yield from ((key, text) for key in _secret_part(variable(text)))
        yield ("" if _VARIABLE.fullmatch(text) and not is_strong(text) else text), name
    elif is_key(name, text) or has_key_shape(text):
        yield from ((key, name) for key in _secret_part(text))
    if _SCHEME.match(text):
        yield _SCHEME.sub("", text, count=1), name
    yield from ((variable(found), found) for found in _PLACEHOLDER.findall(text))
    yield from ((key, name) for key in _keys_in_address(text))


def _database_password(address: str) -> Iterator[str]:
    """The password in a database's address, a URL or keywords; any other text is a key itself."""
    if "://" not in address and not _KEYWORD.search(address):
        yield address
    yield from _keys_in_address(address)
    before, at, _ = address.partition("://")[2].rpartition("@")
    yield before.partition(":")[2] if at else ""  # as written, possibly percent-encoded
    yield from (one[1].strip("'") for one in _PASSWORD.finditer(address))


def _secret_part(secret: str) -> Iterator[str]:
    """A secret; of a secret URL only the part after the host.

    Other URLs have the same host, and it would be redacted in all of them.
    """
    match = re.match(r"https?://[^/?#]*", secret)
    yield _SCHEME.sub("", secret[match.end() :].lstrip("/") if match else secret, count=1)


def _keys_in_address(text: str) -> list[str]:
    """The keys in an address, as written and percent-decoded."""
    keys: list[str] = []
    replace_keys(text, lambda key: keys.append(key) or REDACTED)  # type: ignore[func-returns-value]
    return [*keys, *map(unquote, keys)]
