"""Secrets in bench.toml and the environment."""

import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote

from bench_assets.core.text.redaction import REDACTED, is_distinct, is_key, replace_keys

_FREE_FORM_ENTRIES = {"extra_body", "options", "extra"}  # whose tables may have any names
_REFERENCE = re.compile(r"env:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\}", re.ASCII)
_PASSWORD = re.compile(r"\bpassword\s*=\s*(?:'([^']+)|([^\s']+))|://[^:@/]*:(.+)@", re.IGNORECASE)
_WEB_ADDRESS = re.compile(r"https?://[^/?#]*/?")
_SCHEME = re.compile(r"(?:Bearer|Basic|Token)\s+", re.IGNORECASE)

ReadVariable = Callable[[str], str]
"""The value of an environment variable; "" if it is not set."""


def named_secrets(
    written: object, variable: ReadVariable, name: str = "", *, free: bool = False
) -> Iterator[tuple[str, str]]:
    """Find every secret: behind ``..._env``, under a name such as ``api_key``, in addresses.

    Args:
        written: Tables of bench.toml, or the environment.
        variable: Reads a variable that an entry names.
        name: Name of the entry.
        free: Whether tables in it may have any names, so that they inherit a secret one.

    Yields:
        Value, and the name of its variable or entry.
    """
    if isinstance(written, Mapping):
        free = free or name in _FREE_FORM_ENTRIES
        for inner, value in written.items():
            inner_name = name if free and is_key(name, "") else str(inner)
            yield from named_secrets(value, variable, inner_name, free=free)
    elif isinstance(written, list | tuple):
        for value in written:
            yield from named_secrets(value, variable, name, free=free)
    elif isinstance(written, str):
        variables = [named for found in _REFERENCE.findall(written) for named in found if named]
        variables += [written] if name.lower().endswith("_env") else []
        values = [(variable(named), named) for named in variables]
        values += [(written, name)] if is_key(name, written) else []
        parts = [(key, named) for value, named in values for key in _secret_parts(value.strip())]
        parts += [(key, name) for key in _keys_in_address(written)]
        yield from ((key.strip(), named) for key, named in parts if key.strip())


def _secret_parts(value: str) -> list[str]:
    """What is secret of a value: the password of a database's address, the path of a web address.

    Other addresses have the same host, and it would be redacted in all of them.
    """
    passwords = [key for found in _PASSWORD.findall(value) for key in found if key]
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
    replace_keys(text, lambda key: keys.append(key) or REDACTED)  # type: ignore[func-returns-value]
    return [*keys, *map(unquote, keys)]
