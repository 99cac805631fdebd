"""Addresses in settings: when one is read, a key in it is moved to an environment variable.

``https://host/{MY_KEY}/v1`` names the variable itself. Only this template is stored, shown and
compared; only a request has the key.
"""

import re
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, TypeAlias
from urllib.parse import quote

from pydantic import AfterValidator

from bench_assets.core.text.redaction import REDACTED, is_key, replace_keys
from bench_resources.config.environment import KEY_PREFIX, export_key, read_secret

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)
_QUERY_KEY = re.compile(rf"(?<==)\{{{KEY_PREFIX}\w+\}}|env:{KEY_PREFIX}\w+", re.ASCII)
_ENV_REFERENCE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)", re.ASCII)
_SAFE = "%!$&'()*+,;=:~"
_URL = re.compile(r"[a-z][a-z0-9+.-]{0,30}://[^\s,]+", re.IGNORECASE)
_ENTRY = re.compile(
    r"""(?<![\w.-])(?P<name>[\w.-]+)(?P<separator>["']?\s*[=:]\s*["'])(?P<value>[^"']+)"""
)


def is_loopback(host: str) -> bool:
    """Whether a host is a loopback address.

    >>> is_loopback("127.0.0.1"), is_loopback("127.0.0.1.example.org"), is_loopback("0.0.0.0")
    (True, False, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def template_of(address: str) -> str:
    """Move the keys in an address to environment variables; names of these in braces remain."""
    return replace_keys(
        address, lambda key: f"{{{export_key(key, address.replace(key, REDACTED))}}}"
    )


Address: TypeAlias = Annotated[str, AfterValidator(template_of)]
"""An address in the settings, parsed to its template."""


def fill_keys(template: str) -> str:
    """Fill the keys into a template, for a request; raises as ``read_secret``."""
    return _PLACEHOLDER.sub(lambda match: quote(read_secret(match[1]), safe=_SAFE), template)


def shown_address(template: str) -> str:
    """Mask the moved keys of a query or of fields, on which no identity depends."""
    return _QUERY_KEY.sub(REDACTED, template)


def template_of_value(value: Any, name: str = "") -> Any:  # noqa: ANN401 - any TOML value
    """Move the keys in a value to environment variables.

    A key is replaced by ``env:NAME``, in an address by ``{NAME}``. ``name`` is that of the value's
    entry; if it is the name of a key, texts in the value's tables are keys too.
    """
    if isinstance(value, dict):
        inherited = name if is_key(name, "") else ""
        return {
            inner_name: template_of_value(inner, inherited or inner_name)
            for inner_name, inner in value.items()
        }
    if isinstance(value, list):
        return [template_of_value(inner, name) for inner in value]
    if isinstance(value, str) and not _ENV_REFERENCE.fullmatch(value):
        if is_key(name, value):
            return f"env:{export_key(value, name)}"
        return template_of(value)
    return value


def fill_value_keys(value: Any) -> Any:  # noqa: ANN401 - as above
    """Fill the keys into a value, for a request; raises as ``read_secret``."""
    if isinstance(value, dict):
        return {name: fill_value_keys(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [fill_value_keys(inner) for inner in value]
    if not isinstance(value, str):
        return value
    if reference := _ENV_REFERENCE.fullmatch(value):
        return read_secret(reference[1])
    return fill_keys(value) if "://" in value else value


def template_of_argument(text: str) -> str:
    """Move the keys in an argument of a command line to variables, in addresses and entries.

    >>> template_of_argument("--model"), template_of_argument("http://127.0.0.1:1/v1#m")
    ('--model', 'http://127.0.0.1:1/v1#m')
    """
    return _ENTRY.sub(_template_of_entry, _URL.sub(lambda url: template_of(url[0]), text))


def _template_of_entry(entry: re.Match[str]) -> str:
    name, separator, value = entry.groups()
    return f"{name}{separator}{template_of_value(value, name)}"


def is_release_address(text: str) -> bool:
    """Whether a source is an address, not a folder.

    >>> is_release_address("hf:a/b@main"), is_release_address("https://x.org/a.zip")
    (True, True)
    >>> is_release_address("data/codis")
    False
    """
    return text.startswith(("hf:", "http://", "https://"))


def source_of(location: str | Path) -> str:
    """Normalize a source named by a command: template of an address, or absolute path."""
    text = str(location)
    return template_of(text) if is_release_address(text) else str(Path(text).absolute())
