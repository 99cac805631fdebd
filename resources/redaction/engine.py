"""Engine wrapper that redacts secrets in responses."""

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, replace

from bench_assets.core.judging.request_streaming import AT_ONCE
from bench_assets.core.schema.chat import Decoding, ElicitsOptions, Request, Response, certain
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.text.redaction import Secrets
from resources.response_cache.engine import BatchSizeHint, Engine, KeyExtension

_LOG = logging.getLogger("bench_assets.redaction")


class RedactingEngine:
    """Runs another engine; ``***`` stands where its responses or errors hold a secret.

    The note of such a response names the secret, and each is counted and warned of.
    """

    def __init__(self, engine: Engine, secrets: Secrets) -> None:
        self._engine = engine
        self._secrets = secrets
        self._n_redacted = 0

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
    def at_once(self) -> int:
        """The engine's batch size, if it has one."""
        return self._engine.at_once if isinstance(self._engine, BatchSizeHint) else AT_ONCE

    @property
    def elicits(self) -> Collection[str]:
        """The engine's, if it says so."""
        return self._engine.elicits if isinstance(self._engine, ElicitsOptions) else ()

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Answer requests.

        Raises:
            ModelError: As the engine does.
        """
        try:
            for position, response in self._engine.stream(requests):
                yield position, self._discreet(certain(response))
        except BenchError as why:
            why.args = tuple(self._secrets.redacted_value(why.args))
            raise

    def particulars(self, request: Request) -> str:
        """The engine's, if it looks further."""
        if isinstance(self._engine, KeyExtension):
            return self._engine.particulars(request)
        return ""

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()

    def _discreet(self, response: Response) -> Response:
        """Redact every text field of a response, including future ones."""
        said = {field.name: getattr(response, field.name) for field in fields(response)}
        hidden = {name: self._secrets.redacted_value(value) for name, value in said.items()}
        if hidden == said:
            return response
        names = ", ".join(self._secrets.names_in(repr(said)))
        self._n_redacted += 1
        _LOG.warning(
            "%s: a response contained the value of %s, *** stands in its place (%d so far)",
            self._engine.identity, names, self._n_redacted,
        )  # fmt: skip
        hidden["note"] = "; ".join(filter(None, [hidden["note"], f"redacted: {names}"]))
        return replace(response, **hidden)
