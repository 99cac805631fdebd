"""Engine wrapper that redacts secrets in responses."""

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, replace

from bench_assets.core.schema.chat import (
    Decoding,
    ElicitsOptions,
    Request,
    Response,
    validate_response,
)
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.text.redaction import Secrets
from bench_resources.response_cache.engine import Engine

_LOG = logging.getLogger("bench_assets.redaction")


class RedactingEngine:
    """Wraps an engine, and replaces secrets in its responses and errors by ``***``.

    The note of a redacted response has the names of the secrets.
    """

    def __init__(self, engine: Engine, secrets: Secrets) -> None:
        self._engine, self._secrets = engine, secrets
        self.identity = engine.identity

    @property
    def decoding(self) -> Decoding | None:
        """The engine's decoding parameters."""
        return self._engine.decoding

    @property
    def peak_memory(self) -> int | None:
        """The engine's peak memory, in bytes."""
        return self._engine.peak_memory

    @property
    def elicits(self) -> Collection[str]:
        """The engine's methods of choosing an option; none if it cannot choose."""
        return self._engine.elicits if isinstance(self._engine, ElicitsOptions) else ()

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Send requests, and redact the responses.

        Raises:
            ModelError: If the engine raises it; its message is redacted.
        """
        try:
            for index, response in self._engine.stream(requests):
                yield index, self._redact(validate_response(response))
        except BenchError as error:
            error.args = tuple(self._secrets.redacted_value(error.args))
            raise

    def _redact(self, response: Response) -> Response:
        values = {field.name: getattr(response, field.name) for field in fields(response)}
        redacted = {name: self._secrets.redacted_value(value) for name, value in values.items()}
        if redacted == values:
            return response
        names = self._secrets.names_in(str(values))
        return note_redaction(replace(response, **redacted), names, self.identity)


def note_redaction(response: Response, names: Sequence[str], model: str) -> Response:
    """Add the names of the redacted secrets to a response's note, and log a warning."""
    note = f"redacted: {', '.join(names)}"
    _LOG.warning("%s: a key in a response was replaced by ***; %s", model, note)
    return replace(response, note="; ".join(filter(None, [response.note, note])))
