"""Redaction of secrets by their exact values, and the entries and parts of addresses that are keys.

What is a key is stated: by the settings that name its variable, by the name of an entry or of a
parameter of a URL, or by its place before the host. No text is searched for what looks like a key.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, unquote

REDACTED = "***"

_DISTINCT = re.compile(r"(?=.*(?:\d|[a-z][A-Z])).{12,}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SECRET_NAME = re.compile(
    r"(?:[\w.-]*[_.-])?(?:(?:api|access|subscription|private|secret)[_-]?keys?|secrets?|password"
    r"|passwd|pwd|passphrase|bearer|jwt|credentials?|authorization"
    r"|(?:access|auth|api|bearer|hf|refresh|session|private|personal|security)[_-]?token)",
    re.IGNORECASE,
)
"""Names of values that are always secret."""
_POSSIBLE_SECRET_NAME = re.compile(
    r"(?:[\w.-]*[_.-])?(?:(?<!cache[_-])keys?|pass|auth|sig|signature|sas|cookie|code|token)",
    re.IGNORECASE,
)
"""Names of values that are secret if distinct and one word; ``sort_key = "timestamp"`` is not."""
_ADDRESS = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*://)(?:(?P<user>[^/?#]*)@)?(?P<host>[^/?#]*)"
    r"(?P<path>[^?]*)(?P<query>.*)",
    re.IGNORECASE | re.DOTALL,
)
_TEMPLATE = re.compile(r"\{\w*\}|\*\*\*")


def is_distinct(value: str) -> bool:
    """Whether a value is no ordinary word: 12 characters or more, with a digit or like "aB".

    >>> is_distinct("a3f1c9d27be8406f"), is_distinct("localhost"), is_distinct("not-a-secret")
    (True, False, False)
    """
    return bool(_DISTINCT.fullmatch(value))


def is_key(name: str, value: str) -> bool:
    """Whether a named value is a key; under some names, only a distinct value is.

    >>> is_key("api_key", "a word"), is_key("sort_key", "timestamp"), is_key("eos_token", "</s>")
    (True, False, False)
    """
    plain = _CAMEL.sub("_", name)
    return bool(_SECRET_NAME.fullmatch(plain)) or (
        bool(_POSSIBLE_SECRET_NAME.fullmatch(plain)) and " " not in value and is_distinct(value)
    )


class Secrets:
    """Secret values to redact; ``names`` has the name for each in messages, by value."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        """Keep the distinct ones of the values in ``names``, as texts, JSON and URLs spell them."""
        distinct = {value: name for value, name in (names or {}).items() if is_distinct(value)}
        spelled = {form: name for value, name in distinct.items() for form in _spellings(value)}
        self._names = {form: spelled[form] for form in sorted(spelled, key=len, reverse=True)}

    def __bool__(self) -> bool:
        """Whether there is anything to hide."""
        return bool(self._names)

    def redacted(self, text: str) -> str:
        """Replace secrets by ``***``.

        >>> Secrets({"k3y-A/b1-23c4x5": "MY_KEY"}).redacted("not k3y-A%2Fb1-23c4x5")
        'not ***'
        """
        for spelling in self._names:
            text = text.replace(spelling, REDACTED)
        return text

    def redacted_bytes(self, data: bytes) -> bytes:
        """Redact bytes, which need not be UTF-8."""
        for spelling in self._names:
            data = data.replace(spelling.encode("utf-8", "surrogateescape"), REDACTED.encode())
        return data

    def redacted_value(self, value: Any) -> Any:  # noqa: ANN401
        """Redact every text in lists, tuples and mappings; other values stay unchanged."""
        if isinstance(value, str):
            return self.redacted(value)
        if isinstance(value, Mapping):
            return {self.redacted_value(k): self.redacted_value(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self.redacted_value, value))
        return value

    def names_in(self, text: str) -> list[str]:
        """The names of the secrets that a text contains."""
        return sorted({name for spelling, name in self._names.items() if spelling in text})


def _spellings(value: str) -> set[str]:
    """Spellings of a value: verbatim, and as JSON, Python and URLs escape it."""
    escaped, decoded = json.dumps(value)[1:-1], unquote(value)
    return {
        *(value, decoded, escaped, escaped.replace("/", "\\/")),
        *(json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]),
        *(quote(decoded), quote_plus(decoded), quote(decoded, safe="")),
    }


def replace_keys(address: str, substitute: Callable[[str], str]) -> str:
    """Replace the keys of a URL: its password, or its user if alone, and values of parameters.

    Args:
        address: ``scheme://...``; other text is returned unchanged.
        substitute: Maps a key to its replacement; not called for "{NAME}" or "***".

    >>> replace_keys("http://me:pw@h/v1;key=aB3x9ZpLw7Rk?v=1&api_key=k", lambda _: "***")
    'http://me:***@h/v1;key=***?v=1&api_key=***'
    """
    parts = _ADDRESS.fullmatch(address)
    if parts is None:
        return address

    def replace(key: str) -> str:
        return substitute(key) if key and not _TEMPLATE.search(key) else key

    def replace_value(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"]
        return f"{name}={replace(value)}" if is_key(unquote(name), unquote(value)) else match[0]

    user_info = ""
    if parts["user"] is not None:
        user, colon, password = parts["user"].partition(":")
        if not password:  # the user is the key
            user = replace(user)
        user_info = f"{user}{colon}{replace(password)}@"
    path = re.sub(r"(?P<name>[^/#&;=]+)=(?P<value>[^/#&;]*)", replace_value, parts["path"])
    query = re.sub(r"(?P<name>[^?#&;=]+)=(?P<value>[^#&;]*)", replace_value, parts["query"])
    return f"{parts['scheme']}{user_info}{parts['host']}{path}{query}"
