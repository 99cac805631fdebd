"""Results of batches: responses that pass where those of single requests do, and errors."""

from dataclasses import replace
from typing import Any

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import ModelError
from resources.models.api.formats.base import ApiFormat
from resources.models.api.formats.response_body import read
from resources.models.api.formats.strict_json import parsed

_SHOWN = 300  # characters of a server's message


def object_of(line: bytes) -> dict[str, Any]:
    """Parse a line of results.

    Raises:
        ModelError: If it is no JSON object: then nobody knows whose result it is.
    """
    try:
        said = parsed(line)
    except ValueError as why:
        raise ModelError(f"the results of a batch have a line that is not JSON ({why})") from why
    if not isinstance(said, dict):
        raise ModelError("the results of a batch have a line that is no JSON object")
    return said


def responded(form: ApiFormat, body: bytes) -> Response:
    """Read a response as if it had come by itself; how long it took nobody says."""
    outcome = read(form, body, 0.0, {})
    if isinstance(outcome, Response):
        return replace(outcome, seconds=None)
    return Response(error=f"in a batch: {outcome}")


def unasked(kind: object, message: object) -> Response:
    """What became of a request without a response.

    >>> unasked("batch_expired", "too late").error, unasked("canceled", "").error
    ('in a batch: batch_expired: too late', 'in a batch: canceled')
    """
    said = ": ".join(str(part)[:_SHOWN] for part in (kind, message) if part)
    return Response(error=f"in a batch: {said or 'no word of it'}")
