"""Strict decoding of response bodies, including failures sent with HTTP 200."""

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from bench_assets.core.reading.reasoning import ANSWERS, Tags, strip_reasoning
from bench_assets.core.schema.chat import Response, token_count
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.backoff import UNLIMITED_TRIES, Failure
from bench_resources.http.errors import classify_error
from bench_resources.models.api.formats.base import ApiFormat

FAILED = {"failed", "failure", "fail", "error", "cancelled", "canceled", "aborted", "abort"}
"""Words for the status of a failed request."""
_PENDING = {"queued", "pending", "in_progress", "processing", "running", "starting"}
"""Words for the status of a request that has no response yet."""

# Codes by which relays and vendors report success, without leading zeros.
_SUCCESS_CODES = {"", "1", "200", "1000", "10000", "20000"}
_SUCCESS_WORDS = {"ok", "success", "succeeded", "successful"}


def is_empty(value: object) -> bool:
    """Whether a value is empty at every depth, as the empty errors of some relays are.

    >>> is_empty({"message": " ", "code": 0, "details": [{}]}), is_empty({"code": 7})
    (True, False)
    """
    if isinstance(value, dict):
        return all(map(is_empty, value.values()))
    if isinstance(value, list):
        return all(map(is_empty, value))
    return not (value.strip() if isinstance(value, str) else value)


def reports_failure(received: Mapping[str, Any]) -> bool:
    """Whether the fields of a body report a failure, in the words of relays and vendors.

    Only meaningful for a body without a text.

    >>> reports_failure({"code": 500, "msg": "no"}), reports_failure({"code": 0, "msg": "success"})
    (True, False)
    """
    minimax_code = as_object(received.get("base_resp")).get("status_code")
    codes = (received.get("code"), received.get("error_code"), minimax_code)
    return (
        any(map(_is_failure_code, codes))
        or received.get("success") in (False, "false")
        or _is_failure_status(received.get("status"))
        or not all(is_empty(received.get(field)) for field in ("errors", "detail"))
    )


def _is_failure_code(code: object) -> bool:
    """Whether a value is a code other than those of success."""
    if isinstance(code, bool) or not isinstance(code, int | str):
        return False
    return str(code).strip().lower().lstrip("0") not in _SUCCESS_CODES | _SUCCESS_WORDS


def _is_failure_status(status: object) -> bool:
    """Whether a status is a word for a failure, or an HTTP status of an error."""
    if isinstance(status, str):
        return status.lower() in FAILED
    return isinstance(status, int) and 400 <= status < 600


_COMPLETE = {"", "stop"}  # finish reasons that do not explain an empty text
_TAGS: Tags = ("<think>", "</think>")


class NoResponseError(Exception):
    """The body is JSON, but not what the API documents.

    Args:
        message: What is missing or wrong.
        error: The server's error message inside the body, if any.
        overloaded: Whether the server is, so that only its section limits the retries.
    """

    def __init__(self, message: str, *, error: object = None, overloaded: bool = False) -> None:
        super().__init__(message)
        self.error = error
        self.overloaded = overloaded


def decode_response(
    api_format: ApiFormat, data: bytes, seconds: float, headers: Mapping[str, str]
) -> Response | Failure:
    """Decode the body of a response with status 200, which may hold a failure."""
    try:
        received = orjson.loads(data)
    except ValueError as exc:
        classified = classify_error(200, data, headers)
        return Failure(what=f"the response is not JSON ({exc})", detail=classified.detail, tries=2)
    body = received if isinstance(received, dict) else {}
    if error := _find_error(received, api_format.response_field):
        return classify_error(_status_of(error), data, headers, error)
    try:
        _require_finished(body)
        response = api_format.decode(body, seconds)
    except NoResponseError as exc:
        if error := exc.error or (body if reports_failure(body) else None):
            return classify_error(_status_of(error), data, headers, error)
        classified = classify_error(200, data, headers)
        tries = UNLIMITED_TRIES if exc.overloaded else 2
        return Failure(what=str(exc), detail=classified.detail, tries=tries)
    if reports_failure(body) and _is_unexplained_empty(response):
        return classify_error(_status_of(body), data, headers, body)
    return response


def map_finish_reason(reason: object, stored_reasons: Mapping[str, str], field: str) -> str:
    """Map a finish reason of a server to the stored one.

    Raises:
        NoResponseError: If it is not one of a complete response.
    """
    if not isinstance(reason, str):
        raise NoResponseError(f"{field} is not a text")
    stored_reason = stored_reasons.get(reason.lower())
    if stored_reason is None:
        raise NoResponseError(f"the response was broken off: {field} {reason[:40]!r}")
    return stored_reason


def prepend_reasoning(
    reasoning: str, text: str, tags: Tags | None = None, *, cut_off: bool = False
) -> str:
    """Prepend separate reasoning to the text.

    Tags inside the reasoning are broken up, so that only the outer ones delimit it. ``tags`` are
    those of this model; None: the usual ones. If ``cut_off``, the reasoning is unfinished, and no
    text follows it.

    >>> prepend_reasoning("A? B.", "B"), prepend_reasoning("A? ", "", cut_off=True)
    ('<think>A? B.</think>B', '<think>A? ')
    """
    opening, closing = tags or _TAGS
    if not (reasoning or cut_off):
        return text
    if not cut_off:
        # Reasoning may end with the beginning of the closing tag: "see [1]" before "]]".
        escaped = _escape_tags(reasoning + closing[:-1], (opening, closing)) + closing[-1:]
        return f"{opening}{escaped}{text}"
    # A marked answer at the very end would end the reasoning.
    escaped = _escape_tags(reasoning, (opening, closing, *(pair.closing for pair in ANSWERS)))
    return f"{opening}{escaped}" if opening else f"{escaped}{closing}"


def as_object(value: object) -> Mapping[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sum_tokens(first: object, *more: object) -> int | None:
    """Sum token counts; None if the first is missing, 0 for any other that is missing.

    >>> sum_tokens(5, None, 2), sum_tokens(None, 2)
    (7, None)
    """
    count = token_count(first)
    return None if count is None else count + sum(token_count(value) or 0 for value in more)


def _find_error(received: object, response_field: str) -> object:
    """An error sent with status 200, beside the responses or instead of them; else None."""
    body = received[0] if isinstance(received, list) and received else received
    if not isinstance(body, dict):
        return None
    if not is_empty(body.get("error")):
        return body["error"]
    if response_field not in body and ("message" in body or "detail" in body):
        return body
    return None if is_empty(body.get("errors")) else body["errors"]


def _require_finished(body: Mapping[str, Any]) -> None:
    """Raise for a status that says that the request failed, or still waits."""
    status = body.get("status")
    if isinstance(status, str) and status.lower() in FAILED | _PENDING:
        raise NoResponseError(f"the response has the status {status[:40]!r}", overloaded=True)


def _is_unexplained_empty(response: Response) -> bool:
    """Whether the text is empty for no stated reason."""
    return response.finish_reason in _COMPLETE and not strip_reasoning(response.text).strip()


def _status_of(error: object) -> int:
    """The HTTP status that an error names; 200 for none."""
    for code in map(as_object(error).get, ("code", "error_code", "status")):
        if isinstance(code, int | str) and re.fullmatch(r"[45]\d\d", str(code), re.ASCII):
            return int(code)
    return 200


def _escape_tags(reasoning: str, tags: Sequence[str]) -> str:
    """Insert a blank into each tag; write one of a single character as its code point."""
    for tag in tags:
        if len(tag) == 1:
            reasoning = reasoning.replace(tag, f"U+{ord(tag):04X}")
    longer_tags = "|".join(re.escape(tag) for tag in tags if len(tag) > 1)
    if not longer_tags:
        return reasoning
    return re.sub(rf"(?=(?:{longer_tags}))(.)", r"\1 ", reasoning, flags=re.DOTALL)


_log = logging.getLogger("bench_assets.server")
_NAME_LENGTH = 100  # characters of a name that are kept
_VERSION = re.compile(r"[-@:_](latest|v?\d{3,}(-\d+)*)$")
_reported: set[tuple[str, str]] = set()
"""Requested and answering model of each warning of this process."""


class ServedModelCheck:
    """Checks which model answered: another one is logged once, or refused behind a router.

    A dated version of the requested model is not logged. A router sends requests for a model that
    it does not know to any server.
    """

    def __init__(self, spec: ServerSpec) -> None:
        self._model = spec.model
        self._is_routed = spec.is_routed

    def identity(self, answered: object, build: object = None) -> str:
        """Serving identity: "gpt-4o-2024-08-06 fp_44709d6fcb", or ""; warns once of another model.

        Args:
            answered: The name of the model, with its snapshot.
            build: The server's own name for its configuration, OpenAI's ``system_fingerprint``.

        Raises:
            NoResponseError: If a name is not a text, or another model answered behind a router.
        """
        name = _printable(answered, "the name of the model that answered")
        if self._is_routed and name not in (self._model, f"{self._model}@main"):
            raise NoResponseError(
                f"answered by the model {name or 'without a name'} (expected {self._model})."
                " Set model to the server's own name of it"
            )
        is_same = name in ("", self._model, f"{self._model}@main")  # as `transformers serve` does
        if not (is_same or is_model_version(name, self._model) or (self._model, name) in _reported):
            _reported.add((self._model, name))
            _log.warning("requested the model %s, answered by %s", self._model, name)
        return " ".join(filter(None, (name, _printable(build, "system_fingerprint"))))


def _printable(value: object, label: str) -> str:
    """The printable start of a text; "" for None. ``label`` names it in an error."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise NoResponseError(f"{label} is not a text")
    return "".join(filter(str.isprintable, value[:_NAME_LENGTH])).strip()


def is_model_version(answered: str, requested: str) -> bool:
    """Whether a model name is the requested one, apart from folder, case, date or "latest".

    >>> is_model_version("gpt-4o-2024-08-06", "gpt-4o"), is_model_version("gpt-4o-mini", "gpt-4o")
    (True, False)
    >>> is_model_version("llama3:latest", "llama3")
    True
    >>> is_model_version("gpt-4o-2024-08-06", "gpt-4o-2024-05-13")
    False
    """
    answered_name = _without_folder(answered)
    requested_name = _without_folder(requested).removesuffix("-latest")
    return requested_name in (answered_name, _VERSION.sub("", answered_name))


def _without_folder(name: str) -> str:
    return name.rsplit("/", 1)[-1].lower()
