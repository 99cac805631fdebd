"""Error responses of model servers: message, kind of failure, advice; bounded bodies."""

import re
from collections.abc import Mapping

import aiohttp
import orjson

from bench_assets.core.schema.chat import (
    CONTENT_FILTER,
    CONTEXT_FULL,
    IMAGE_REFUSED,
    REQUEST_REFUSED,
)
from bench_resources.http.backoff import (
    UNKNOWN_FIELD,
    UNLIMITED_TRIES,
    Failure,
    is_transient_status,
    wait_of,
)

_SHOWN = 300  # characters of a server's message that are worth showing
_READ = 65_536  # bytes of a body in which a title or a wait is looked for
_MATCHED = 4_000  # characters of a message that are matched
_DEEPEST = 6  # levels of JSON in which a message is looked for
_MOST_ERRORS = 3  # messages of a list that are shown
_NAMES = (  # fields that may hold a message
    *("error", "message", "detail", "msg", "metadata", "raw"),
    *("errors", "error_msg", "base_resp", "status_msg"),
)


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_TOO_LONG = _any_of(
    # Bounded repeats, because unbounded ones would take quadratic time.
    r"context[_ ]?(length|size|window|limit)[\w' ]{0,80}exceed",
    r"exceed[\w' ]{0,80}context",
    r"maximum (allowed )?(context|prompt|input|model) length",
    r"longer than the (model|maximum)",
    r"(prompt|input)( \w+)? (is )?too (long|large)",
    r"reduce the length",
    r"maximum number of tokens allowed",
    r"token count[\w ]{0,80}exceeds",
    r"model token limit",
    r"range of input length",
    r"too large for model",
    r"(configured|available) context size",
)
_FILTERED = _any_of(
    r"content[_ ]?filter",
    r"content management policy",
    r"moderation",
    r"flagged",
    r"inappropriate content",
    r"data_inspection_failed",
    r"content (was )?blocked",
    r"guardrail",
    r"prohibited[ _]content",
    r"(unsafe|sensitive|harmful)[ _]content",
    r"safety (system|filter|polic)",
    r"violat.{0,40}polic",
    r"敏感|违规|不安全",
)
_IMAGE_REFUSED = _any_of(
    r"(image|vision|multimodal)\b.{0,40}\b(not supported|unsupported)",
    r"(not support|unsupported).{0,20}\bimage",
    r"(failed|unable|not|cannot) (to )?"
    r"(load|decode|process|read|identify|open)( input| the| an)? image",
    r"invalid[ _]image|image[ _](parse|too|format)|image\b.{0,20}\binvalid",
    r"image\b.{0,60}\b(exceeds?|too (large|small|big|many)|at least|at most|maximum|minimum)",
    r"(too many|at most \d+|more than \d+|maximum of \d+) image",
    r"image\b.{0,60}\bdo(es)? not meet",
)
_LOADING = _any_of(r"\bloading\b", r"\bstarting\b", r"warming up", r"not ready", r"initiali[sz]ing")
_NO_BACKEND = _any_of(  # messages of gateways whose backend is down
    r"connection (error|refused|attempts failed)", r"cannot connect to host", r"no healthy upstream"
)

_NO_KEY = "set api_key_env to the environment variable that holds a key of this server"
_NO_MONEY = "the account of this key has no credit left"
_IMAGE_LIMIT = (  # vLLM's
    "start the server with a larger --limit-mm-per-prompt, such as '{\"image\": 8}', or without it"
)
_NO_MODEL = "set model to a name that GET <base_url>/models lists"
_NO_SUCH_PATH = (
    "set base_url to the part before /chat/completions, or before the path of its format; it"
    " usually ends in /v1"
)
_REDIRECTED = "set base_url to the address that it redirects to"

_ADVICE: tuple[tuple[re.Pattern[str], str], ...] = (
    (_any_of(r"at most 0 image"), _IMAGE_LIMIT),
    (
        _any_of(r"use .?max_completion_tokens"),
        'set max_tokens_field = "max_completion_tokens" in the section of the model',
    ),
    (
        _any_of(r"max_(completion_)?tokens\b.{0,40}(too large|at most|less than)"),
        "set a smaller max_tokens in the section of the model",
    ),
    (
        _any_of(
            r"(unsupported|unrecognized|unknown|unexpected)( request)?[ _]"
            r"(parameter|value|field|argument|name)",
            r"extra inputs",
            r"extra_forbidden",
            r"cannot find field",
            r"argument not supported",
            r"property .{0,60} unsupported",
            r"cannot both be specified",
            r"deprecated for this model",
        ),
        UNKNOWN_FIELD,
    ),
    (
        _any_of(
            r"api[ _-]?key", r"unauthori[sz]ed", r"authenticat", r"credential", r"no_db_connection"
        ),
        _NO_KEY,
    ),
    (
        _any_of(
            r"(models?|deployment)\b.{0,80}\b(not|no)\b.{0,20}\b(exist|found)",
            r"\bmodel: ",
            r"(invalid|not a valid) model",
            r"pinned to",
        ),
        _NO_MODEL,
    ),
    (
        _any_of(
            r"insufficient[_ ](quota|balance|credit|fund)",
            r"billing_",
            r"credit balance",
            r"spend(ing)?[_ ]limit",
            r"API usage limits",
        ),
        _NO_MONEY,
    ),
)
_FILTERING = {200, 400, 403, 422, 451}
_ADVISED = {400, 401, 402, 403, 404, 422, 429}  # statuses whose message may name a setting
_ADVICE_BY_STATUS = dict.fromkeys((301, 302, 307, 308), _REDIRECTED) | {
    401: _NO_KEY,
    402: _NO_MONEY,
    403: "the key in api_key_env may not use this model",
    404: _NO_SUCH_PATH,
    405: _NO_SUCH_PATH,
}


def classify_error(
    status: int, data: bytes, headers: Mapping[str, str], error: object = None
) -> Failure:
    """Classify an error response; ``error`` is an error inside a body with status 200."""
    received = _parse_json(data) if error is None else {"error": error}
    message = (error_message(received) or _page_text(data))[:_MATCHED]
    detail = " ".join(message.split())[:_SHOWN]
    message_and_codes = f"{message} {_codes(received)[:_MATCHED]}"
    summary = f"HTTP {status}" if status != 200 else "an error instead of a response (HTTP 200)"
    if status != 429 and _TOO_LONG.search(message_and_codes):
        summary = f"too long for the model's context (HTTP {status})"
        return Failure(what=summary, detail=detail, refusal=CONTEXT_FULL)
    if status in _FILTERING and _FILTERED.search(message_and_codes):
        summary = f"blocked by a content filter (HTTP {status})"
        return Failure(what=summary, detail=detail, refusal=CONTENT_FILTER)
    if advice := _advice(status, message_and_codes):
        return Failure(what=summary, detail=detail, refused=True, advice=advice)
    if status != 429 and _IMAGE_REFUSED.search(message_and_codes):
        return Failure(what=summary, detail=detail, refusal=IMAGE_REFUSED)
    if not is_transient_status(status):
        refusal = REQUEST_REFUSED if 400 <= status < 500 else ""
        tries = 2 if refusal or status == 200 else 1
        return Failure(what=summary, detail=detail, tries=tries, refusal=refusal)
    return Failure(
        what=summary,
        detail=detail,
        tries=UNLIMITED_TRIES,
        wait=wait_of(headers, data[:_READ].decode("utf-8", "replace")),
        unreachable=status >= 500 and bool(_NO_BACKEND.search(message_and_codes)),
        loading=status == 503 and bool(_LOADING.search(message_and_codes)),
    )


def error_message(body: object, depth: int = _DEEPEST) -> str:
    """The message in a JSON body; "" without one.

    >>> error_message({"error": {"message": "no", "code": 1}}), error_message({"error": "no"})
    ('no', 'no')
    >>> error_message({"detail": [{"loc": ["body", "top_k"], "msg": "no"}]})
    'body.top_k: no'
    """
    if isinstance(body, str):
        return body.strip()
    if not depth or not isinstance(body, list | dict):
        return ""
    if isinstance(body, list):
        return "; ".join(
            filter(None, (error_message(error, depth - 1) for error in body[:_MOST_ERRORS]))
        )
    message = ": ".join(filter(None, (error_message(body.get(name), depth - 1) for name in _NAMES)))
    field = body.get("loc")
    return f"{'.'.join(map(str, field))}: {message}" if isinstance(field, list) else message


def _advice(status: int, message_and_codes: str) -> str:
    """The setting to change; "" if the request itself is wrong, or a retry may succeed."""
    if status in _ADVISED:
        for pattern, advice in _ADVICE:
            if pattern.search(message_and_codes) and (status != 429 or advice == _NO_MONEY):
                return advice
    return _ADVICE_BY_STATUS.get(status, "")


def _codes(received: object) -> str:
    """Error codes beside the message, such as "context_length_exceeded"."""
    body = received[0] if isinstance(received, list) and received else received
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    levels = [level for level in (body, error, details) if isinstance(level, dict)]
    codes = [level.get(name) for level in levels for name in ("code", "type", "error_code")]
    return " ".join(code for code in codes if isinstance(code, str))


def _parse_json(data: bytes) -> object:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None


def _page_text(data: bytes) -> str:
    """The title of a web page, as proxies send them, or the beginning of the text."""
    text = data[:_READ].decode("utf-8", "replace")
    title = re.search(r"<title>([^<]*)</title>", text, re.IGNORECASE)
    return f"a web page: {title[1].strip()}" if title else text


MOST_BYTES = 16 * 2**20  # bytes of a body; a million tokens take a third of it


async def read_body(response: aiohttp.ClientResponse) -> bytes | None:
    """Read a body of at most ``MOST_BYTES``; close the connection and return None if larger.

    Raises:
        aiohttp.ClientError: If the connection breaks, or the body cannot be decompressed.
    """
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MOST_BYTES:
            response.close()
            return None
    return bytes(body)
