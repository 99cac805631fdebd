"""Engine wrapper that redacts secrets in responses."""

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, replace

from bench_assets.core.schema.chat import Decoding, ElicitsOptions, Request, Response, certain
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.text.redaction import REDACTED, Secrets
from bench_resources.response_cache.engine import Engine, KeyExtension

_LOG = logging.getLogger("bench_assets.redaction")


class EngineWrapper:
    """Base class of engines that wrap another engine; has its properties."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.identity = engine.identity

    @property
    def decoding(self) -> Decoding | None:
        """The engine's."""
        return self._engine.decoding

    @property
    def peak_memory(self) -> int | None:
        """The engine's."""
        return self._engine.peak_memory

    @property
    def elicits(self) -> Collection[str]:
        """The engine's, if it can choose options; else none."""
        return self._engine.elicits if isinstance(self._engine, ElicitsOptions) else ()

    def particulars(self, request: Request) -> str:
        """The engine's, if it is a ``KeyExtension``; else ""."""
        if isinstance(self._engine, KeyExtension):
            return self._engine.particulars(request)
        return ""

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()


class RedactingEngine(EngineWrapper):
    """Wraps an engine, and replaces secrets in its responses and errors by ``***``.

    The note of such a response has their number and names.
    """

    def __init__(self, engine: Engine, secrets: Secrets) -> None:
        super().__init__(engine)
        self._secrets = secrets

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Send requests, and redact the responses.

        Raises:
            ModelError: As the engine does, redacted.
        """
        try:
            for position, response in self._engine.stream(requests):
                yield position, redacted_response(certain(response), self._secrets, self.identity)
        except BenchError as error:
            error.args = tuple(self._secrets.redacted_value(error.args))
            raise


def redacted_response(response: Response, secrets: Secrets, where: str) -> Response:
    """Redact every text field of a response, including future ones."""
    values = {field.name: getattr(response, field.name) for field in fields(response)}
    hidden = {name: secrets.redacted_value(value) for name, value in values.items()}
    if hidden == values:
        return response
    return note_redaction(replace(response, **hidden), str(values), secrets, where)


def note_redaction(response: Response, said: str, secrets: Secrets, where: str) -> Response:
    """Add number and names of the redacted secrets to the response's note, and log a warning.

    Args:
        response: The redacted response.
        said: Its text before redaction.
        secrets: The known secrets.
        where: Identity of the model, for the warning.
    """
    n = secrets.redacted(said).count(REDACTED) - said.count(REDACTED)
    note = f"redacted: {', '.join(secrets.names_in(said))} ({n}x)"
    _LOG.warning("%s: a key in a response was replaced by ***; %s", where, note)
    return replace(response, note="; ".join(filter(None, [response.note, note])))
