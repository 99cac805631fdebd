"""Engine wrapper that redacts secrets in responses."""

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, replace

from bench_assets.core.judging.request_streaming import AT_ONCE
from bench_assets.core.schema.chat import Decoding, ElicitsOptions, Request, Response, certain
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.text.redaction import HIDDEN, Secrets
from resources.response_cache.engine import BatchSizeHint, Engine, KeyExtension

_LOG = logging.getLogger("bench_assets.redaction")


class EngineWrapper:
    """An engine around another, whose properties it has."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def identity(self) -> str:
        """The engine's."""
        return self._engine.identity

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
        """The engine's, if it says so."""
        return self._engine.elicits if isinstance(self._engine, ElicitsOptions) else ()

    def particulars(self, request: Request) -> str:
        """The engine's, if it looks further."""
        if isinstance(self._engine, KeyExtension):
            return self._engine.particulars(request)
        return ""

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()


class RedactingEngine(EngineWrapper):
    """Runs another engine; ``***`` stands where its responses or errors hold a secret.

    The note of such a response counts and names them.
    """

    def __init__(self, engine: Engine, secrets: Secrets) -> None:
        super().__init__(engine)
        self._secrets = secrets

    @property
    def at_once(self) -> int:
        """The engine's batch size, if it has one."""
        return self._engine.at_once if isinstance(self._engine, BatchSizeHint) else AT_ONCE

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Answer requests.

        Raises:
            ModelError: As the engine does.
        """
        try:
            for position, response in self._engine.stream(requests):
                yield position, redacted_response(certain(response), self._secrets, self.identity)
        except BenchError as why:
            why.args = tuple(self._secrets.redacted_value(why.args))
            raise


def redacted_response(response: Response, secrets: Secrets, where: str) -> Response:
    """Redact every text field of a response, including future ones."""
    said = {field.name: getattr(response, field.name) for field in fields(response)}
    hidden = {name: secrets.redacted_value(value) for name, value in said.items()}
    if hidden == said:
        return response
    return note_redaction(replace(response, **hidden), str(said), secrets, where)


def note_redaction(response: Response, said: str, secrets: Secrets, where: str) -> Response:
    """Count and name what was redacted in the response's note, and warn of it.

    Args:
        response: With ``***`` already.
        said: What it was made of.
        secrets: What was redacted.
        where: Of the model, in the warning.
    """
    n = secrets.redacted(said).count(HIDDEN) - said.count(HIDDEN)
    note = f"redacted: {', '.join(secrets.names_in(said))} ({n}x)"
    _LOG.warning("%s: *** stands in a response in place of a key; %s", where, note)
    return replace(response, note="; ".join(filter(None, [response.note, note])))
