"""How replies are read, whatever the API: strictly, what is not certainly a reply is none."""

import re
from collections.abc import Mapping
from typing import Any

from bench_assets.core.certain import token_count
from bench_assets.core.chat import Reply
from resources.server.errors import failure
from resources.server.formats.format import Format
from resources.server.formats.strict_json import parsed
from resources.server.retrying import AS_OFTEN_AS_ALLOWED, Failure


class NoReplyError(Exception):
    """The body is JSON, but not what the API documents; says what is missing.

    Args:
        what: What is missing.
        error: The server's own word for it, if there is one inside the body.
        overloaded: Whether the same request may do later on.
    """

    def __init__(self, what: str, *, error: object = None, overloaded: bool = False) -> None:
        super().__init__(what)
        self.error = error
        self.overloaded = overloaded


def read(form: Format, data: bytes, seconds: float, headers: Mapping[str, str]) -> Reply | Failure:
    """Read the body of an answer with status 200: whatever it is, a reply or a failure.

    Args:
        form: The API.
        data: The body.
        seconds: How long it took.
        headers: Its headers.
    """
    try:
        received = parsed(data)
    except ValueError as why:
        seen = failure(200, data, headers)
        return Failure(what=f"the reply is not JSON ({why})", detail=seen.detail, tries=2)
    if error := _error_inside(received, form.holds):
        return failure(_status_of(error), data, headers, error)
    try:
        return form.reply(received if isinstance(received, dict) else {}, seconds)
    except NoReplyError as why:
        if why.error:
            return failure(_status_of(why.error), data, headers, why.error)
        seen = failure(200, data, headers)
        tries = AS_OFTEN_AS_ALLOWED if why.overloaded else 2
        return Failure(what=str(why), detail=seen.detail, tries=tries)


def end_of(reason: object, ends: Mapping[str, str], field: str) -> str:
    """Translate why a reply ended into the words that are stored.

    Raises:
        NoReplyError: If it is none of those with which a reply is whole.
    """
    if not isinstance(reason, str):
        raise NoReplyError(f"{field} is no text")
    end = ends.get(reason.lower())
    if end is None:
        raise NoReplyError(f"the reply was broken off: {field} {reason[:40]!r}")
    return end


def with_thought(thought: str, text: str, *, cut_off: bool = False) -> str:
    """Put what a server keeps apart as reasoning in front of the text, as most models write it.

    >>> with_thought("A? B.", "B"), with_thought("A? ", "", cut_off=True), with_thought("", "B")
    ('<think>A? B.</think>B', '<think>A? ', 'B')
    """
    if cut_off:
        return f"<think>{thought}"
    return f"<think>{thought}</think>{text}" if thought else text


def fields_of(value: object) -> Mapping[str, Any]:
    """A JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def total(first: object, *more: object) -> int | None:
    """Add up numbers of tokens; None if the first is none, 0 for any other that is none.

    >>> total(5, None, 2), total(None, 2)
    (7, None)
    """
    known = token_count(first)
    return None if known is None else known + sum(token_count(tokens) or 0 for tokens in more)


def _error_inside(received: object, holds: str) -> object:
    """An error that came with status 200: beside the replies, or instead of them."""
    inner = received[0] if isinstance(received, list) and received else received
    if not isinstance(inner, dict):
        return None
    instead = holds not in inner and ("message" in inner or "detail" in inner)
    return inner.get("error") or (inner if instead else None)


def _status_of(error: object) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and re.fullmatch(r"[45]\d\d", code, re.ASCII):
        return int(code)
    return code if isinstance(code, int) and 400 <= code < 600 else 200
