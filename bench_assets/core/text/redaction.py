"""Redaction: removes keys from texts and URLs.

Only keys of high entropy are removed from texts (``is_strong``): a word, a date or a name would
take ordinary words with it. Such a key is found verbatim, reversed, escaped as JSON or in a URL, in
hex, and in base64 at any offset; also truncated, if its beginning or end in the text is itself of
high entropy and has ``MIN_PART_LENGTH`` characters or more.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus, unquote

MIN_PART_LENGTH = 12
REDACTED = "***"

_MIN_ENCODED_LENGTH = 16  # characters of base64, which encode 12 bytes of a key
_MIN_KEY_LENGTH = 12  # characters of a strong key

_PREFIXED = (
    r"(?:sk|pk|rk|hf|gh[a-z]|github_pat|glpat|gsk|xai|xox[a-z]|nvapi|pplx|r8)[_-][\w-]{12,}"
    r"|AIza[\w-]{20,}|AKIA[A-Z0-9]{12,}|eyJ[\w-]{8,}[\w.-]*"
)
_SHAPE = re.compile(_PREFIXED, re.ASCII)  # how keys of the well-known services begin
_WORD = re.compile(r"[^\s._:/-]+")
_CHUNK = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W0-9A-Za-z_]+|\W")

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SECRET_NAME = re.compile(
    r"(?:[\w.-]*[_.-])?(?:(?:api|access|subscription|private|secret)[_-]?keys?|secrets?|password"
    r"|passwd|pwd|passphrase|bearer|jwt|credentials?|authorization"
    r"|(?:access|auth|api|bearer|hf|refresh|session|private|personal|security)[_-]?token)",
    re.IGNORECASE,
)
"""Names of values that are always secret."""
_POSSIBLE_SECRET_NAME = re.compile(
    r"(?:[\w.-]*[_.-])?(?:keys?|pass|auth|sig|signature|sas|cookie|code|token)", re.IGNORECASE
)
"""Names of values that are secret if they are strong; ``sort_key = "timestamp"`` is not."""
_PINS = re.compile(r"(?:[\w.-]*cache[_-]key|sha256|revision)", re.IGNORECASE)

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,30}://[^\s\"'<>|\\]+", re.IGNORECASE)
_ADDRESS_PARTS = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*://)(?:(?P<user>[^/?#]*)@)?(?P<host>[^/?#]*)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_TEMPLATE = re.compile(r"\{\w*\}|\*\*\*")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def is_strong(key: str) -> bool:
    """Whether a key has so high an entropy that no ordinary text contains it.

    Such a key often changes between letters, cases and digits; words, dates and names rarely do.

    >>> is_strong("sk-Qm3x9ZpLw7Rk2Vt5"), is_strong("a3f1c9d27be8406f9b1d2c3e")
    (True, True)
    >>> is_strong("localhost"), is_strong("correct-horse-battery-staple"), is_strong("2026-11-24")
    (False, False, False)
    >>> is_strong("sk-no-key-required"), is_strong("Qwen2.5-VL-72B-Instruct")
    (False, False)
    """
    key = key.strip()
    if has_key_shape(key):
        return True
    chunks = [(len(word), len(_CHUNK.findall(word)) - 1) for word in _WORD.findall(key)]
    changes = sum(n for _, n in chunks)
    mixed = sum(length for length, n in chunks if n)
    return (
        len(key) >= _MIN_KEY_LENGTH and len(set(key)) >= 8 and changes >= 4 and mixed <= 5 * changes
    )


def is_key(name: str, value: str) -> bool:
    """Whether a named value is a key; under some names, only a strong value is.

    >>> is_key("api_key", "a word"), is_key("sort_key", "timestamp"), is_key("eos_token", "</s>")
    (True, False, False)
    """
    plain = _CAMEL.sub("_", name)
    if _PINS.fullmatch(plain):
        return False
    return bool(_SECRET_NAME.fullmatch(plain)) or (
        bool(_POSSIBLE_SECRET_NAME.fullmatch(plain)) and is_strong(value)
    )


def has_key_shape(text: str) -> bool:
    """Whether a text has the prefix of a well-known service's keys, and is not just words.

    >>> has_key_shape("hf_AbCdEfGhIjKlMnOp"), has_key_shape("hf_read_token_prod")
    (True, False)
    """
    in_words = text == text.lower() and not any(c.isdigit() for c in text)
    return bool(_SHAPE.fullmatch(text)) and not in_words


class Secrets:
    """Secret values to redact, each with the name for it in messages."""

    def __init__(self, values: Mapping[str, str] | Iterable[str] = ()) -> None:
        """Keep the strong values.

        Args:
            values: Value to name; without names, each is "a key".
        """
        named = values if isinstance(values, Mapping) else dict.fromkeys(values, "a key")
        strong = {value.strip(): name for value, name in named.items() if is_strong(value)}
        self._forms = [
            (name, form) for value, name in sorted(strong.items()) for form in _encode_secret(value)
        ]

    def __bool__(self) -> bool:
        """Whether there is anything to hide."""
        return bool(self._forms)

    def redacted(self, text: str) -> str:
        """Replace secrets, and revealing parts of them, by ``***``.

        >>> Secrets(["k3y-A/b1-23c4x5"]).redacted("no k3y-A/b1-23c4x5, no k3y-A%2Fb1-23c4x5")
        'no ***, no ***'
        """
        spans = [span for _, span in self._found(text)]
        return _hide_spans(text, sorted(spans)) if spans else text

    def redacted_bytes(self, data: bytes) -> bytes:
        """Redact bytes, which need not be UTF-8."""
        if not self._forms:
            return data
        text = data.decode("utf-8", "surrogateescape")
        return self.redacted(text).encode("utf-8", "surrogateescape")

    def redacted_value(self, value: Any) -> Any:  # noqa: ANN401
        """Redact every text in lists, tuples and mappings; other values stay unchanged."""
        if isinstance(value, str):
            return self.redacted(value)
        if isinstance(value, Mapping):
            return {self.redacted_value(n): self.redacted_value(v) for n, v in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self.redacted_value, value))
        return value

    def names_in(self, text: str) -> list[str]:
        """The names of the secrets that a text contains."""
        return sorted({name for name, _ in self._found(text)})

    def _found(self, text: str) -> list[tuple[str, tuple[int, int]]]:
        if len(text) < MIN_PART_LENGTH or not self._forms:
            return []
        lowered = text.lower()
        return [(name, span) for name, one in self._forms for span in one.spans(text, lowered)]


def redact_urls(text: str, *, pins: bool = False) -> str:
    """Replace the keys in all URLs of a text by ``***``.

    Args:
        text: A text that may contain URLs.
        pins: Whether to keep commits and digests in paths, as URLs of releases have them.

    >>> redact_urls("no server at http://me:pw@host/v1;key=aB3x9ZpLw7Rk?api-version=1&api_key=k")
    'no server at http://me:***@host/v1;key=***?api-version=1&api_key=***'
    """
    return _ADDRESS.sub(lambda found: replace_keys(found[0], lambda _: REDACTED, pins=pins), text)


def replace_keys(address: str, put: Callable[[str], str], *, pins: bool = False) -> str:
    """Replace the keys in every part of a URL: user, host, path, parameters, fragment.

    Args:
        address: ``scheme://...``; other text is returned unchanged.
        put: Maps a key to its replacement.
        pins: As in ``redact_urls``.
    """
    if not (found := _ADDRESS_PARTS.fullmatch(address)):
        return address

    def piece(match: re.Match[str]) -> str:
        text = match[0]
        name, equals, value = text.partition("=")
        if _TEMPLATE.search(text) or (pins and _COMMIT.fullmatch(text)):
            return text
        named = is_key(unquote(name), unquote(value)) or is_strong(unquote(value))
        if value and named and not _PINS.fullmatch(name):
            return f"{name}{equals}{put(value)}"
        return put(text) if is_strong(unquote(text)) and not _PINS.fullmatch(name) else text

    user, colon, password = (found["user"] or "").partition(":")
    if user and not _TEMPLATE.search(user) and (not colon or is_strong(user)):
        user = put(user)
    if password and not _TEMPLATE.search(password):
        password = put(password)
    before = f"{user}{colon}{password}@" if found["user"] is not None else ""
    host = re.sub(r"[^.:\[\]{}]+", piece, found["host"])
    return f"{found['scheme']}{before}{host}{re.sub('[^/?#&;]+', piece, found['rest'])}"


@dataclass(frozen=True, slots=True)
class _EncodedSecret:
    """A secret in one encoding."""

    written: str  # in lower case
    head: str  # shortest beginning that identifies it
    tail: str  # shortest end that identifies it

    def spans(self, text: str, lowered: str) -> Iterator[tuple[int, int]]:
        """Find the key, also cut off at either end: yields (start, end) of each occurrence."""
        head, tail = self.head, self.tail
        if head not in lowered and tail not in lowered:  # almost always
            return
        n = len(self.written)
        for found in re.finditer(re.escape(head), text, re.IGNORECASE):
            rest = text[found.end() : found.start() + n].lower()
            yield found.start(), found.end() + _n_common(self.written[len(head) :], rest)
        for found in re.finditer(re.escape(tail), text, re.IGNORECASE):
            rest = text[max(0, found.end() - n) : found.start()].lower()
            n_matched = _n_common(self.written[: -len(tail)][::-1], rest[::-1])
            yield found.start() - n_matched, found.end()


def _n_common(one: str, other: str) -> int:
    """Length of the common beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _encode_secret(value: str) -> list[_EncodedSecret]:
    escaped, decoded = json.dumps(value)[1:-1], unquote(value)
    plain = {value, decoded, value[::-1], decoded[::-1], escaped, escaped.replace("/", "\\/")}
    plain |= {quote(value), quote_plus(value), quote(value, safe="")}
    coded = {form for core in _base64_cores(decoded) for form in (core, core.translate(_URL_SAFE))}
    forms = [
        _encoded_secret(one, _identifying_length(one), _identifying_length(one[::-1]))
        for one in sorted(plain)
    ]
    forms += [
        _encoded_secret(one, _MIN_ENCODED_LENGTH, _MIN_ENCODED_LENGTH) for one in sorted(coded)
    ]
    ends = 2 * _identifying_length(decoded), 2 * _identifying_length(decoded[::-1])
    return [*forms, _encoded_secret(decoded.encode("utf-8", "surrogatepass").hex(), *ends)]


def _encoded_secret(written: str, head: int, tail: int) -> _EncodedSecret:
    lowered = written.lower()
    return _EncodedSecret(lowered, lowered[:head], lowered[-tail:])


def _identifying_length(key: str) -> int:
    """Length of a key's shortest beginning that is strong itself, so in no ordinary text."""
    public = key.find(".") + 1 if key.startswith("eyJ") else 0  # the header of a JWT
    return next(
        (n for n in range(public + MIN_PART_LENGTH, len(key)) if is_strong(key[public:n])), len(key)
    )


_URL_SAFE = str.maketrans("+/", "-_")


def _base64_cores(value: str) -> set[str]:
    """Base64 of the value at each of three byte offsets, without digits shared with neighbours."""
    written = value.encode("utf-8", "surrogatepass")
    cores = set()
    for offset, first in enumerate((0, 2, 3)):  # first digit without bits of the bytes before
        encoded = base64.b64encode(b"\0" * offset + written).decode().rstrip("=")
        cores.add(encoded[first : (offset + len(written)) * 8 // 6])
    return cores


def _hide_spans(text: str, spans: list[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in spans:
        if start >= at:
            parts += [text[at:start], REDACTED]
        at = max(at, end)
    return "".join([*parts, text[at:]])
