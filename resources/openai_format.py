"""The OpenAI chat API as bytes: what is sent, and what comes back."""

import base64
import io
import re
import time
from email.utils import mktime_tz, parsedate_tz
from typing import Any

import orjson
from PIL import Image as Picture

from bench_assets.core.chat import Image, Reply, Request, Turn
from bench_assets.core.errors import ImageError
from resources.engine import ReadImage
from resources.retrying import AS_OFTEN_AS_ALLOWED, Failure
from resources.server_spec import ServerSpec

_QUOTED = 300  # characters of a server's message that are worth showing
_REFUSALS = {301, 302, 307, 308, 401, 403, 404, 405}
_MEDIA_TYPES = {
    rb"\xff\xd8\xff": "jpeg",
    rb"\x89PNG\r\n\x1a\n": "png",
    rb"GIF8": "gif",
    rb"RIFF.{4}WEBP": "webp",
}


def message(turn: Turn, read_image: ReadImage) -> dict[str, Any]:
    """One turn of a conversation; only texts become one string, which more servers take.

    Raises:
        ImageError: If a picture cannot be read, or has to be converted and does not decode.
    """
    texts = [part for part in turn.parts if isinstance(part, str)]
    if len(texts) == len(turn.parts):
        return {"role": turn.role, "content": "\n".join(texts)}
    parts = [
        {"type": "image_url", "image_url": {"url": data_uri(read_image(part.sha256))}}
        if isinstance(part, Image)
        else {"type": "text", "text": part}
        for part in turn.parts
    ]
    return {"role": turn.role, "content": parts}


def data_uri(picture: bytes) -> str:
    """Write a picture into a URI: its very bytes where servers read the format, else as PNG.

    >>> data_uri(b"GIF89a")
    'data:image/gif;base64,R0lGODlh'

    Raises:
        ImageError: If it has to be converted and does not decode.
    """
    media = next((m for s, m in _MEDIA_TYPES.items() if re.match(s, picture, re.DOTALL)), "")
    sent = picture if media else _as_png(picture)
    return f"data:image/{media or 'png'};base64,{base64.b64encode(sent).decode('ascii')}"


def body(spec: ServerSpec, request: Request, messages: list[dict[str, Any]]) -> bytes:
    """Write a whole request. A seed is that of the first draw; the n-th after it has seed + n.

    Raises:
        orjson.JSONEncodeError: If a text is not valid Unicode.
    """
    temperature = spec.temperature if request.temperature is None else request.temperature
    fields = {
        "model": spec.model,
        "messages": messages,
        "temperature": temperature,
        "max_tokens": spec.max_tokens,
    }
    if spec.top_p != 1.0:
        fields["top_p"] = spec.top_p
    if spec.seed is not None:
        fields["seed"] = spec.seed + request.sample
    return orjson.dumps(fields | spec.extra_body)


def reply(data: bytes, seconds: float) -> Reply | Failure:
    """Read a reply; reasoning that the server keeps apart goes in front of its text."""
    try:
        received = orjson.loads(data)
        choice = received["choices"][0]
        text = _text(choice["message"])
        usage = received.get("usage") or {}
        return Reply(
            text=text,
            finish_reason=choice.get("finish_reason") or "",
            prompt_tokens=usage.get("prompt_tokens"),
            completion_tokens=usage.get("completion_tokens"),
            seconds=seconds,
        )
    except orjson.JSONDecodeError as why:
        return Failure(what=f"the reply is not JSON ({why})", detail=_quoted(data), tries=2)
    except (AttributeError, KeyError, IndexError, TypeError):
        what = "the reply has no text at choices[0].message.content"
        return Failure(what=what, detail=_quoted(data), tries=2)


def failure(status: int, data: bytes, asked_to_wait: str, key: str) -> Failure:
    """Read what a server says instead of replying.

    Args:
        status: Its HTTP status; 429 and 500 upwards may pass.
        data: Its message, quoted in part and without ``key``.
        asked_to_wait: Its Retry-After header, or "".
        key: The secret that we sent along, or "".
    """
    detail = _quoted(data)
    return Failure(
        what=f"HTTP {status}",
        detail=detail.replace(key, "***") if key else detail,
        tries=AS_OFTEN_AS_ALLOWED if status == 429 or status >= 500 else 1,
        wait=retry_after(asked_to_wait),
        refused=status in _REFUSALS,
    )


def retry_after(header: str) -> float:
    """Read a Retry-After header, seconds or a date, as s from now; 0.0 if it makes no sense.

    >>> retry_after("1.5"), retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), retry_after("soon")
    (1.5, 0.0, 0.0)
    """
    if re.fullmatch(r"\s*\d+(\.\d+)?\s*", header):
        return float(header)
    date = parsedate_tz(header)
    return max(mktime_tz(date) - time.time(), 0.0) if date else 0.0


def _as_png(picture: bytes) -> bytes:
    written = io.BytesIO()
    try:
        with Picture.open(io.BytesIO(picture)) as opened:
            opened.convert("RGB").save(written, "PNG")
    except (OSError, ValueError) as why:
        raise ImageError(f"a picture does not decode: {why}") from why
    return written.getvalue()


def _text(message: dict[str, Any]) -> str:
    text = message.get("content") or ""
    thought = message.get("reasoning_content") or message.get("reasoning")
    if not isinstance(text, str):
        raise TypeError
    return f"<think>{thought}</think>{text}" if thought else text


def _quoted(data: bytes) -> str:
    """What a server says about an error: its message, or the beginning of whatever it sent."""
    try:
        error = orjson.loads(data)["error"]
        said = error if isinstance(error, str) else error["message"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        said = data.decode("utf-8", "replace")
    return " ".join(str(said).split())[:_QUOTED]
