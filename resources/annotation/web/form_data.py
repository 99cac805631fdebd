"""Form data sent by browsers, parsed with size limits.

What was filled in, field by field: from what browsers send to values, and back again.
"""

import re
from asyncio import timeout
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

from starlette.requests import ClientDisconnect, Request

from bench_assets.annotation.answers.validation import misfits
from bench_assets.annotation.tasks import AnnotationTask, Field, Values
from resources.annotation.web.rendering import RefusedError
from resources.annotation.web.store import ShownUnit

_PATIENCE = 120  # s that a body may take
_MOST_FIELDS = 1000
_NAME = re.compile(rb'(?:^|;)\s*name="([^"]*)"', re.IGNORECASE)
_FILE = re.compile(rb"(?:^|;)\s*filename\*?=", re.IGNORECASE)
_BOUNDARY = re.compile(r'boundary="?([^";,]{1,70})"?', re.IGNORECASE)


@dataclass(slots=True)
class SubmittedForm:
    """What was filled in, by field; and the files."""

    texts: Mapping[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    files: dict[str, bytes] = field(default_factory=dict)  # those that hold anything

    def first(self, name: str) -> str:
        """The first entry of a field; "" if there is none."""
        given = self.texts.get(name, [])
        return given[0] if given else ""


async def read_sent(request: Request, most: int) -> SubmittedForm:
    """Read what a task sends.

    Args:
        request: Its body is read here.
        most: Bytes that it may have.

    Raises:
        RefusedError: If it is larger, too slow, or no task.
    """
    kind = request.headers.get("content-type", "")
    body = await _body(request, most)
    if kind.lower().startswith("application/x-www-form-urlencoded"):
        return _urlencoded(body)
    boundary = _BOUNDARY.search(kind)
    if kind.lower().startswith("multipart/form-data") and boundary:
        return _multipart(body, boundary[1].encode())
    raise RefusedError(415, "This is not what a page of ours sends.")


async def _body(request: Request, most: int) -> bytes:
    too_large = RefusedError(413, f"This is too large: at most {most / 2**20:.0f} MB can be sent.")
    announced = request.headers.get("content-length", "0")
    if announced.isascii() and announced.isdigit() and int(announced[:20]) > most:
        raise too_large
    body = bytearray()
    try:
        async with timeout(_PATIENCE):
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise too_large
    except (TimeoutError, ClientDisconnect) as why:
        raise RefusedError(408, "This took too long to arrive: please send it again.") from why
    return bytes(body)


def _urlencoded(body: bytes) -> SubmittedForm:
    sent = SubmittedForm()
    try:
        pairs = parse_qsl(
            body.decode("utf-8", "replace"), keep_blank_values=True, errors="replace",
            max_num_fields=_MOST_FIELDS,
        )  # fmt: skip
    except ValueError as why:
        raise RefusedError(413, "This has more fields than any task of ours.") from why
    for name, value in pairs:
        sent.texts[name].append(as_typed(value))
    return sent


def _multipart(body: bytes, boundary: bytes) -> SubmittedForm:
    sent = SubmittedForm()
    for n, (head, data) in enumerate(_parts(body, boundary)):
        name = _NAME.search(head)
        if name is None or n >= _MOST_FIELDS:
            raise RefusedError(400, "This is not what a page of ours sends.")
        key = unquote(name[1].decode("utf-8", "replace"))
        if not _FILE.search(head):
            sent.texts[key].append(as_typed(data.decode("utf-8", "replace")))
        elif data:
            sent.files[key] = data
    return sent


def _parts(body: bytes, boundary: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Each part's Content-Disposition without its kind, and its data (RFC 7578)."""
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary)[1:]:
        if part.startswith(b"--"):
            return
        head, _, data = part.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        said = (line for line in lines if line.lower().startswith(b"content-disposition:"))
        yield next(said, b"").partition(b";")[2], data
    raise RefusedError(400, "This did not arrive whole: please send it again.")


def as_typed(text: str) -> str:
    r"""Take line ends as they were typed: browsers send each as two characters.

    >>> as_typed("one\r\ntwo")
    'one\ntwo'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")


LISTED = ("texts", "points")
"""Kinds whose entries are typed a line each."""


def values_of(task: AnnotationTask, sent: SubmittedForm) -> Values:
    """Take the values of a task's fields out of what was sent; what is empty is absent."""
    found = {one.name: _given(one, sent) for one in task.fields}
    return {name: given for name, given in found.items() if given}


def complaints(task: AnnotationTask, unit: ShownUnit, values: Values) -> dict[str, str]:
    """Say by field what does not fit; nothing if all does."""
    found: dict[str, str] = {}
    for one in task.fields:
        alone = AnnotationTask(name=task.name, title="", instructions="", fields=(one,))
        given = {one.name: values[one.name]} if one.name in values else {}
        if wrong := misfits(given, alone, unit.choices):
            found[one.name] = _in_words(one, wrong)
    return found


def typed(one: Field, values: Values) -> str:
    """Write what is in a text area, as it is typed there."""
    given = values.get(one.name, ())
    return "\n".join(given) if one.kind in LISTED else (given[0] if given else "")


def choices_of(task: AnnotationTask, unit: ShownUnit) -> Mapping[str, tuple[str, ...]]:
    """The choices of each field, the unit's own where it has some."""
    return {one.name: unit.choices.get(one.name, one.choices) for one in task.fields}


def _given(one: Field, sent: SubmittedForm) -> tuple[str, ...]:
    given = sent.texts.get(one.name, [])
    if one.kind in LISTED:
        lines = (line.strip() for text in given for line in text.split("\n"))
        return tuple(dict.fromkeys(line for line in lines if line))
    if one.kind == "choices":
        return tuple(dict.fromkeys(given))
    return tuple(text for text in given if text.strip())


def _in_words(one: Field, wrong: list[str]) -> str:
    """Say it without the field's name, which stands above it."""
    said = "; ".join(text.removeprefix(f"{one.name}: ").removeprefix(one.name) for text in wrong)
    said = said.strip()
    if said == "is empty":
        return "Please choose." if one.kind.startswith("choice") else "Please fill this in."
    return said[:1].upper() + said[1:] + "."
