"""Redaction: takes secrets out of texts.

A key of at least ``LEAST`` characters is taken out wherever it stands: as it is, escaped as JSON or
as a URL, and in base64 at any offset; also cut, if at least its first or last ``PART`` characters
are there. A shorter one would take ordinary words with it: with a letter and a digit and at least
``SHORTEST`` characters, it is taken out as a whole word; any other, such as "x" and "test", stays,
and the caller has to mark it (``is_hidden``).
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus

LEAST = 8  # characters
PART = 12
SHORTEST = 4
HIDDEN = "***"

NAMED = re.compile(
    r"(?:[\w.-]*[_.-])?(?:(?:api|access|subscription|private|secret)?[_-]?keys?|secrets?|password"
    r"|passwd|pwd|pass|passphrase|bearer|jwt|credentials?|authorization|auth|sig|signature|sas|cookie"
    r"|(?:access|auth|api|bearer|hf|id|refresh|session|private|personal|security)[_-]?token)|token",
    re.IGNORECASE,
)
"""Names of what is secret; of tokens only those that open doors, not those that models read."""

_CODED = 16  # characters of base64, which are twelve of a key's


def is_hidden(key: str) -> bool:
    """Whether a key is taken out of texts.

    >>> is_hidden("sk-12345"), is_hidden("a1b2"), is_hidden("test"), is_hidden("x")
    (True, True, False, False)
    """
    key = key.strip()
    mixed = any(c.isalpha() for c in key) and any(c.isdigit() for c in key)
    return len(key) >= LEAST or (len(key) >= SHORTEST and mixed)


class Secrets:
    """Secret values to redact."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        kept = sorted({value.strip() for value in values if is_hidden(value)})
        self._forms = [form for value in kept for form in _forms(value)]

    def __bool__(self) -> bool:
        """Whether there is anything to hide."""
        return bool(self._forms)

    def redacted(self, text: str) -> str:
        """Replace secrets, and revealing parts of them, by ``***``.

        >>> Secrets(["sk-a/b-12345"]).redacted("no sk-a/b-12345, no sk-a%2Fb-12345")
        'no ***, no ***'
        """
        lowered = text.lower()
        spans = [span for form in self._forms for span in form.spans(text, lowered)]
        return _without(text, sorted(spans)) if spans else text

    def redacted_bytes(self, data: bytes) -> bytes:
        """The same for bytes, which need not be text."""
        if not self._forms:
            return data
        text = data.decode("utf-8", "surrogateescape")
        return self.redacted(text).encode("utf-8", "surrogateescape")

    def redacted_value(self, value: Any) -> Any:  # noqa: ANN401
        """The same for every text in lists, tuples and mappings; other values stay unchanged."""
        if isinstance(value, str):
            return self.redacted(value)
        if isinstance(value, Mapping):
            return {self.redacted_value(n): self.redacted_value(v) for n, v in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self.redacted_value, value))
        return value


def without_named(text: str) -> str:
    """Redact values in addresses and JSON whose name marks a secret, of any length.

    >>> without_named('http://me:pw@host/v1?api-version=1&key=k|{"api_key": "k"}')
    'http://***@host/v1?api-version=1&key=***|{"api_key": "***"}'
    """
    text = re.sub(r"(?<=://)[^/?#@\s]*@", f"{HIDDEN}@", text)
    text = re.sub(rf"(?i)([?&](?:{NAMED.pattern}|code)=)[^&#|\s\"']+", rf"\1{HIDDEN}", text)
    quoted = rf'(?i)("(?:{NAMED.pattern})": ?")(?:[^"\\]|\\.)*"'
    return re.sub(quoted, rf'\1{HIDDEN}"', text)


@dataclass(frozen=True, slots=True)
class _Form:
    """A secret in one encoding."""

    written: str  # in lower case
    part: int  # characters of its beginning or end that tell it; 0: a whole word does

    def spans(self, text: str, lowered: str) -> Iterator[tuple[int, int]]:
        """Position: from its beginning as far as it matches, and backwards from its end."""
        head, tail = self.written[: self.part], self.written[-self.part :]
        if head not in lowered and tail not in lowered:  # almost always
            return
        if not self.part:
            word = rf"(?<![a-z0-9]){re.escape(self.written)}(?![a-z0-9])"
            yield from (found.span() for found in re.finditer(word, text, re.IGNORECASE))
            return
        n = len(self.written)
        for found in re.finditer(re.escape(head), text, re.IGNORECASE):
            rest = text[found.end() : found.start() + n].lower()
            yield found.start(), found.end() + _n_common(self.written[len(head) :], rest)
        for found in re.finditer(re.escape(tail), text, re.IGNORECASE):
            rest = text[max(0, found.end() - n) : found.start()].lower()
            back = _n_common(self.written[: -len(tail)][::-1], rest[::-1])
            yield found.start() - back, found.end()


def _n_common(one: str, other: str) -> int:
    """Length of the common beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _forms(value: str) -> list[_Form]:
    if len(value) < LEAST:
        return [_Form(value.lower(), 0)]
    escaped = json.dumps(value)[1:-1]
    plain = {value, escaped, escaped.replace("/", "\\/"), quote(value), quote_plus(value)}
    plain.add(quote(value, safe=""))
    coded = {form for core in _base64_cores(value) for form in (core, core.translate(_URL_SAFE))}
    forms = [(form, PART) for form in plain] + [(form, _CODED) for form in coded]
    return [_Form(form.lower(), part) for form, part in sorted(forms)]


_URL_SAFE = str.maketrans("+/", "-_")


def _base64_cores(value: str) -> set[str]:
    """Common base64 of the value at the three offsets."""
    written = value.encode("utf-8", "surrogatepass")
    cores = set()
    for offset, first in enumerate((0, 2, 3)):  # the first digit that no byte before it is in
        whole = base64.b64encode(b"\0" * offset + written).decode().rstrip("=")
        cores.add(whole[first : (offset + len(written)) * 8 // 6])
    return cores


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in spans:
        if start >= at:
            parts += [text[at:start], HIDDEN]
        at = max(at, end)
    return "".join([*parts, text[at:]])
