"""Strict parsing of response bodies; failures sent with HTTP 200.

What stands beside a response and says that it is none: servers that fail as if all were well.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bench_assets.core.parsing.reasoning import ANSWERS, Tags, without_reasoning
from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.response_validation import token_count
from resources.http.backoff import AS_OFTEN_AS_ALLOWED, Failure
from resources.http.errors import failure
from resources.models.api.formats.base import ApiFormat
from resources.models.api.formats.strict_json import parsed

FAILED = {"failed", "failure", "fail", "error", "cancelled", "canceled", "aborted", "abort"}
"""Words for what came of a request that came to nothing."""

# Codes with which relays and vendors say that all is well, without noughts in front.
_WELL = {"", "1", "200", "1000", "10000", "20000", "ok", "success", "succeeded", "successful"}


def is_nothing(said: object) -> bool:
    """Whether nothing is said, however deep: relays in Go write an error that was none like that.

    >>> is_nothing({"message": "", "code": None, "details": [{}]}), is_nothing({"code": 7})
    (True, False)
    """
    if isinstance(said, dict):
        return all(map(is_nothing, said.values()))
    if isinstance(said, list):
        return all(map(is_nothing, said))
    return not (said.strip() if isinstance(said, str) else said)


def says_failure(received: Mapping[str, Any]) -> bool:
    """Whether the fields of a body say that it failed, in the words of relays and vendors.

    Beside a text they mean little. Beside none they say why there is none.

    >>> says_failure({"code": 500, "msg": "no"}), says_failure({"code": 0, "msg": "success"})
    (True, False)
    """
    minimax, status = received.get("base_resp"), received.get("status")
    codes = [received.get("code"), received.get("error_code")]
    codes += [minimax.get("status_code")] if isinstance(minimax, dict) else []
    return (
        any(map(_is_failure, codes))
        or received.get("success") in (False, "false")
        or (status.lower() in FAILED if isinstance(status, str) else _is_status(status))
        or not all(is_nothing(received.get(name)) for name in ("errors", "detail"))
    )


def _is_failure(code: object) -> bool:
    """Whether a code is none of those of success; what is no code at all says nothing."""
    known = isinstance(code, int | str) and not isinstance(code, bool)
    return known and str(code).strip().lower().lstrip("0") not in _WELL


def _is_status(said: object) -> bool:
    return isinstance(said, int) and 400 <= said < 600


_WHOLE = {"", "stop"}  # ends that do not say why there is no text
_TAGS: Tags = ("<think>", "</think>")


class NoResponseError(Exception):
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


def read(
    form: ApiFormat, data: bytes, seconds: float, headers: Mapping[str, str]
) -> Response | Failure:
    """Read the body of an answer with status 200: whatever it is, a response or a failure.

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
        return Failure(what=f"the response is not JSON ({why})", detail=seen.detail, tries=2)
    if error := _error_inside(received, form.holds):
        return failure(_status_of(error), data, headers, error)
    body = received if isinstance(received, dict) else {}
    try:
        response = form.response(body, seconds)
    except NoResponseError as why:
        if error := why.error or (says_failure(body) and body):
            return failure(_status_of(error), data, headers, error)
        seen = failure(200, data, headers)
        tries = AS_OFTEN_AS_ALLOWED if why.overloaded else 2
        return Failure(what=str(why), detail=seen.detail, tries=tries)
    if says_failure(body) and _is_silent(response):
        return failure(_status_of(body), data, headers, body)
    return response


def end_of(reason: object, ends: Mapping[str, str], field: str) -> str:
    """Translate why a response ended into the words that are stored.

    Raises:
        NoResponseError: If it is none of those with which a response is whole.
    """
    if not isinstance(reason, str):
        raise NoResponseError(f"{field} is no text")
    end = ends.get(reason.lower())
    if end is None:
        raise NoResponseError(f"the response was broken off: {field} {reason[:40]!r}")
    return end


def with_thought(
    thought: str, text: str, tags: Tags | None = None, *, cut_off: bool = False
) -> str:
    """Put what a server keeps apart as reasoning in front of the text, as most models write it.

    Marks that the thought speaks of are broken up, so that who takes it off takes off just it.

    Args:
        thought: The reasoning.
        text: The response.
        tags: What this model's thoughts are known by, where not by the usual tags.
        cut_off: Whether the thought has no end, and no response follows it.

    >>> with_thought("A? B.", "B"), with_thought("A? ", "", cut_off=True), with_thought("", "B")
    ('<think>A? B.</think>B', '<think>A? ', 'B')
    """
    opening, closing = tags or _TAGS
    if not (thought or cut_off):
        return text
    if not cut_off:
        # A thought may end as the closing mark begins: "see [1]" before "]]".
        told = _broken_up(thought + closing[:-1], (opening, closing)) + closing[-1:]
        return f"{opening}{told}{text}"
    # A marked answer at the very end would end the thought.
    told = _broken_up(thought, (opening, closing, *(form.closing for form in ANSWERS)))
    return f"{opening}{told}" if opening else f"{told}{closing}"


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
    """An error that came with status 200: beside the responses, or instead of them."""
    inner = received[0] if isinstance(received, list) and received else received
    if not isinstance(inner, dict):
        return None
    if not is_nothing(error := inner.get("error")):
        return error
    instead = holds not in inner and ("message" in inner or "detail" in inner)
    return inner if instead else None


def _is_silent(response: Response) -> bool:
    """Whether nothing was answered, and the end of it does not say why."""
    return response.finish_reason in _WHOLE and not without_reasoning(response.text).strip()


def _status_of(error: object) -> int:
    """The HTTP status that an error names; 200 for none."""
    for code in map(fields_of(error).get, ("code", "error_code", "status")):
        if isinstance(code, int | str) and re.fullmatch(r"[45]\d\d", str(code), re.ASCII):
            return int(code)
    return 200


def _broken_up(thought: str, marks: Sequence[str]) -> str:
    """Put a blank into each mark; one of a single character is written as its number."""
    for mark in marks:
        if len(mark) == 1:
            thought = thought.replace(mark, f"U+{ord(mark):04X}")
    longer = "|".join(re.escape(mark) for mark in marks if len(mark) > 1)
    return re.sub(rf"(?=(?:{longer}))(.)", r"\1 ", thought, flags=re.DOTALL) if longer else thought
