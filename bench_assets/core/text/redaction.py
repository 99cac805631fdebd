"""Takes secrets out of texts, however they are spelled there.

A key of at least ``LEAST`` characters is taken out wherever it stands: as it is, escaped as JSON,
URLs, HTML and Python do it (in any mixture), in base64 at any offset, and cut, also as base64: its
first or last ``PART`` characters are enough. A shorter one would take ordinary words with it. With
a letter and a digit and at least ``SHORTEST`` characters, it is taken out where it stands alone;
else, such as "x" and "test", it is left where it is, and whoever hands it over has to say so
(``is_hidden``).
"""

import base64
import html.entities
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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

_ESCAPES = ("\\u00", "\\x", "\\_", "\\-", "%", "&", "\0")  # of what most keys are made of
_BETWEEN = r"\0{0,3}"  # as UTF-16 and UTF-32 look when they are read as something else
_CODED = 16  # characters of base64, which are twelve of a key's
_WRAPPED = r"(?:\\{1,4}[rn]|%0[ad]|\s){0,4}"  # lines of mail are broken
_IN_BASE64 = {"+": r"(?:\+|-|%2b|\\u002b)", "/": r"(?:\\{0,4}/|_|%2f|\\u002f)"}


def is_hidden(key: str) -> bool:
    """Whether a key is taken out of texts.

    >>> is_hidden("sk-12345"), is_hidden("a1b2"), is_hidden("test"), is_hidden("x")
    (True, True, False, False)
    """
    key = key.strip()
    mixed = any(c.isalpha() for c in key) and any(c.isdigit() for c in key)
    return len(key) >= LEAST or (len(key) >= SHORTEST and mixed)


class Secrets:
    """What must not be told; knows no more than its values."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        kept = sorted({value.strip() for value in values if is_hidden(value)})
        self._keys = [_Key.of(value) for value in kept]

    def __bool__(self) -> bool:
        """Whether there is anything to hide."""
        return bool(self._keys)

    def redacted(self, text: str) -> str:
        """Put ``***`` where a secret, or a part that tells it, stands.

        >>> Secrets(["sk-a/b-12345"]).redacted("no sk-a/b-12345, no sk-a%2Fb%2D12345")
        'no ***, no ***'
        """
        lowered = text.lower()
        spans = [span for key in self._keys if key.may_be_in(lowered) for span in key.spans(text)]
        return _without(text, sorted(spans)) if spans else text

    def redacted_bytes(self, data: bytes) -> bytes:
        """The same for bytes, which need not be text."""
        if not self._keys:
            return data
        text = data.decode("utf-8", "surrogateescape")
        return self.redacted(text).encode("utf-8", "surrogateescape")

    def redacted_value(self, value: Any) -> Any:  # noqa: ANN401
        """The same for every text in lists, tuples and mappings; all else stays as it is."""
        if isinstance(value, str):
            return self.redacted(value)
        if isinstance(value, Mapping):
            return {self.redacted_value(n): self.redacted_value(v) for n, v in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self.redacted_value, value))
        return value


def without_named(text: str) -> str:
    """Take out of addresses and JSON in a text, however short it is, what is named as a secret is.

    >>> without_named('http://me:pw@host/v1?api-version=1&key=k|{"api_key": "k"}')
    'http://***@host/v1?api-version=1&key=***|{"api_key": "***"}'
    """
    text = re.sub(r"(?<=://)[^/?#@\s]*@", f"{HIDDEN}@", text)
    text = re.sub(rf"(?i)([?&](?:{NAMED.pattern}|code)=)[^&#|\s\"']+", rf"\1{HIDDEN}", text)
    quoted = rf'(?i)("(?:{NAMED.pattern})": ?")(?:[^"\\]|\\.)*"'
    return re.sub(quoted, rf'\1{HIDDEN}"', text)


@dataclass(frozen=True, slots=True)
class _Run:
    """A row of characters, each with the ways in which it may be written, of which a part tells."""

    units: tuple[str, ...]  # a pattern each
    part: int  # so many of its first or last are enough
    between: str  # what may stand between two of them
    around: str  # what may stand beside them and tells of them; "" for nothing
    head: re.Pattern[str]
    tail: re.Pattern[str]

    @classmethod
    def of(cls, units: Sequence[str], part: int, between: str, around: str = "") -> "_Run":
        ends = (between.join(units[:part]), between.join(units[-part:]))
        head, tail = (re.compile(end, re.IGNORECASE) for end in ends)
        return cls(tuple(units), part, between, around, head, tail)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where it stands: from its beginning as far as it goes, and back from its end."""
        for found in self.head.finditer(text):
            yield self._with_around(text, found.start(), self._forward(text, found.end()))
        if len(self.units) > self.part:
            for found in self.tail.finditer(text):
                yield self._with_around(text, self._backward(text, found.start()), found.end())

    def _forward(self, text: str, end: int) -> int:
        for unit in self.units[self.part :]:
            more = re.compile(self.between + unit, re.IGNORECASE).match(text, end)
            if not more:
                break
            end = more.end()
        return end

    def _backward(self, text: str, start: int) -> int:
        for unit in reversed(self.units[: -self.part]):
            before = re.compile(rf"{unit}{self.between}\Z", re.IGNORECASE)
            less = before.search(text, max(0, start - 24), start)
            if not less:
                break
            start = less.start()
        return start

    def _with_around(self, text: str, start: int, end: int) -> tuple[int, int]:
        if not self.around:
            return start, end
        before = re.compile(self.around).match(text, max(0, start - 1), start)
        after = re.compile(f"{self.around}?=*").match(text, end)
        return start - bool(before), after.end() if after else end


@dataclass(frozen=True, slots=True)
class _Key:
    """One secret, and what finds it."""

    pieces: tuple[str, ...]  # small letters; a text in such with none of them has no secret
    runs: tuple[_Run, ...]

    @classmethod
    def of(cls, value: str) -> "_Key":
        units = [f"(?:{'|'.join(_forms(character))})" for character in value]
        usual = re.fullmatch(r"[\w.~-]+", value, re.ASCII)
        escapes = [*_ESCAPES, *([] if usual else ["\\"]), *(["+"] if " " in value else [])]
        if len(value) < LEAST:
            alone = rf"(?<![a-z0-9]){_BETWEEN.join(units)}(?![a-z0-9])"
            return cls((value.lower(), *escapes), (_Run.of([alone], 1, ""),))
        pieces, runs = [value[:PART], value[-PART:]], [_Run.of(units, PART, _BETWEEN)]
        for core in sorted(_base64_cores(value)):
            coded = [_IN_BASE64.get(c, c) for c in core]
            runs.append(_Run.of(coded, _CODED, _WRAPPED, r"[\w+/-]"))
            for end in (core[:_CODED], core[-_CODED:]):
                pieces.append(max(re.split("[+/]", end), key=len))
        return cls((*(piece.lower() for piece in pieces), *escapes), tuple(runs))

    def may_be_in(self, lowered: str) -> bool:
        """Whether it is worth looking closely, which takes a hundred times as long."""
        return any(piece in lowered for piece in self.pieces)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the secret stands, whole or a part that tells it."""
        for run in self.runs:
            yield from run.spans(text)


def _forms(character: str) -> Iterator[str]:
    code, utf_16 = ord(character), character.encode("utf-16-be", "surrogatepass").hex()
    yield re.escape(character)
    yield "".join(rf"\\{{1,4}}u{utf_16[at : at + 4]}" for at in range(0, len(utf_16), 4))
    yield "".join(
        rf"%(?:25){{0,3}}{byte:02x}" for byte in character.encode("utf-8", "surrogatepass")
    )
    yield rf"&(?:amp;){{0,3}}#(?:0{{0,4}}{code}|x0{{0,4}}{code:x});?"
    if code < 256:
        yield rf"\\{{1,4}}x{code:02x}"
    if not character.isalnum():
        yield rf"\\{{1,4}}{re.escape(character)}"
    if name := html.entities.codepoint2name.get(code):
        yield f"&(?:amp;){{0,3}}{name};?"
    if character == " ":
        yield r"\+"


def _base64_cores(value: str) -> set[str]:
    """What is the same in the base64 of every text with the value in it, for the three offsets."""
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
