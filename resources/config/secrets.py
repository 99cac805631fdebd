"""Secrets in bench.toml and the environment."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from urllib.parse import parse_qsl, unquote, urlsplit

from bench_assets.core.text.redaction import HIDDEN, NAMED, Secrets, is_hidden

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TOKEN = re.compile(r"(?:.*[_.-])?token", re.IGNORECASE)
_OPENS = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[\w.~+/=-]{12,}", re.ASCII)  # no <|end|>
_FREE = {"extra_body", "options", "extra"}  # entries below which a section may have any names
_NOT_SECRET = re.compile(r"(.*cache[_-])key", re.IGNORECASE)
_PREFIXED = (
    r"(?:sk|pk|rk|hf|gh[a-z]|github_pat|glpat|gsk|xai|xox[a-z]|nvapi|pplx|r8)[_-][\w-]{12,}"
    r"|AIza[\w-]{20,}|AKIA[A-Z0-9]{12,}|eyJ[\w-]{8,}[\w.-]*"
)
_RANDOM = r"[0-9a-f]{24,}|(?=\w*[a-z])(?=\w*[A-Z])(?=\w*\d)[A-Za-z0-9]{20,}"
_SHAPE = re.compile(_PREFIXED, re.ASCII)  # how keys of the well-known services begin
_LIKELY = re.compile(rf"{_PREFIXED}|{_RANDOM}", re.ASCII)  # digests and commits look so as well
_IN_TEXT = re.compile(rf"(?<![\w-])(?:{_PREFIXED}|{_RANDOM.partition('|')[2]})(?![\w-])", re.ASCII)
_OF_ENVIRONMENT = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)", re.ASCII)
_PASSWORD = re.compile(r"\bpassword\s*=\s*('(?:[^'\\]|\\.)*'|\S+)", re.IGNORECASE)
_SCHEME = re.compile(r"(?:Bearer|Basic|Token)\s+", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_WORDS = re.compile(r"[a-z]{1,12}(_[a-z]{1,12}){2,}", re.ASCII)  # hf_read_token_prod
_PLAIN_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", re.ASCII)

ReadVariable = Callable[[str], str]
"""The value of an environment variable; "" if it is not set."""


def secrets_in(written: object, variable: ReadVariable) -> Secrets:
    """Find every secret: behind ``..._env``, under a name such as ``api_key``, in addresses."""
    return Secrets(_found(written, "", variable))


def redact_key_shapes(text: str) -> str:
    """Redact texts shaped like a key in a message about settings.

    >>> redact_key_shapes("no model named 'hf_AbCdEfGhIjKlMnOp'")
    "no model named '***'"
    """
    return _IN_TEXT.sub(HIDDEN, text)


def require_variable_name(text: str) -> str:
    """Check that a text can be the name of an environment variable, and is no key.

    >>> require_variable_name("MY_API_KEY")
    'MY_API_KEY'

    Raises:
        ValueError: If it cannot, or is; does not tell what it is.
    """
    if text and (not _VARIABLE.fullmatch(text) or _looks_like_a_key(text)):
        raise ValueError(
            "expected the NAME of an environment variable with the key; the value"
            " looks like the key itself: take it out of the file, and have it replaced if others"
            " could read it"
        )
    return text


def _looks_like_a_key(text: str) -> bool:
    """Whether a text has the shape of a key, and is no name of plain words.

    >>> _looks_like_a_key("hf_AbCdEfGhIjKlMnOp"), _looks_like_a_key("hf_read_token_prod")
    (True, False)
    """
    return bool(_LIKELY.fullmatch(text)) and not _WORDS.fullmatch(text)


def is_plain_variable(variable: str) -> bool:
    """Whether a name of a variable is certainly a name, such as ``MY_KEY``, and no key.

    >>> is_plain_variable("MY_KEY"), is_plain_variable("k3yk3yk3y"), is_plain_variable("9A8F7E6D")
    (True, False, False)
    """
    runs = max(map(len, variable.split("_")))
    return bool(_PLAIN_VARIABLE.fullmatch(variable)) and runs < 16 and variable.isascii()


def key_in_command(command: str) -> str:
    """Name the option or the variable by which a command is given a key; "" if none is.

    >>> key_in_command("vllm serve --api-key sk-12345"), key_in_command("env HF_TOKEN=a1b2c3 x")
    ('--api-key', 'HF_TOKEN')
    >>> key_in_command("vllm serve --api-key EMPTY --max-tokens=16000000")
    ''
    """
    words = shlex.split(command)
    options = [(said, value) for said, value in pairwise(words) if said.startswith("-")]
    joined = [tuple(word.split("=", 1)) for word in words if "=" in word]
    for said, value in (*options, *joined):
        named = said.lstrip("-").replace("-", "_")
        if is_hidden(value) and "{" not in value and _is_secret(named, value):
            return said
    return ""


def _is_secret(name: str, value: str) -> bool:
    """Whether what stands under a name is secret; under some only what looks like a key is."""
    plain = _CAMEL.sub("_", name)
    if NAMED.fullmatch(plain):
        return not _NOT_SECRET.fullmatch(plain)
    return bool(_TOKEN.fullmatch(plain) and _OPENS.fullmatch(value))


def _found(
    written: object, name: str, variable: ReadVariable, *, free: bool = False
) -> Iterator[str]:
    if isinstance(written, Mapping):
        free = free or name in _FREE
        for inner, value in written.items():
            below = name if free and _is_secret(name, "") else str(inner)
            yield from _found(value, below, variable, free=free)
    elif isinstance(written, list | tuple):
        for value in written:
            yield from _found(value, name, variable, free=free)
    elif isinstance(written, str):
        yield from _in_text(written, name, variable)
    elif isinstance(written, int) and _is_secret(name, ""):
        yield str(written)


def _in_text(text: str, name: str, variable: ReadVariable) -> Iterator[str]:
    if named := _OF_ENVIRONMENT.fullmatch(text):
        yield from _in_database(variable(named[1]))
    if name.lower().endswith("_env"):
        yield from _opened(variable(text))
        yield text if not _VARIABLE.fullmatch(text) or _looks_like_a_key(text) else ""
    elif _is_secret(name, text) or _SHAPE.fullmatch(text):
        yield from _opened(text)
    if _SCHEME.match(text):
        yield _SCHEME.sub("", text, count=1)
    yield from _in_address(text)


def _in_database(address: str) -> Iterator[str]:
    """The password of a database's address, in both ways in which one is written."""
    yield from _in_address(address)
    before, at, _ = address.partition("://")[2].rpartition("@")
    yield before.partition(":")[2] if at else ""  # as it is written, beside as it is meant
    yield from (one[1].strip("'") for one in _PASSWORD.finditer(address))


def _opened(secret: str) -> Iterator[str]:
    """A secret; of one that is an address, only what comes after the name of the computer.

    Its beginning is that of many addresses, and would be taken out of all of them.
    """
    match = re.match(r"https?://[^/?#]*", secret)
    yield _SCHEME.sub("", secret[match.end() :].lstrip("/") if match else secret, count=1)


def _in_address(text: str) -> Iterator[str]:
    """User, password and secret query values of an address."""
    if "://" not in text:
        return
    try:
        address = urlsplit(text)
    except ValueError:  # such as [ in the name of the computer
        return
    who, at, _ = address.netloc.rpartition("@")
    name, colon, password = who.partition(":")
    yield unquote(password if colon else name) if at else ""
    for field, value in parse_qsl(address.query):
        if _is_secret(field, value) or field == "code" or _LIKELY.fullmatch(value):
            yield value
