"""Caching model: sends only requests that are not cached."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

from bench_assets.core.reading.reasoning import Tags
from bench_assets.core.schema.chat import (
    NOT_CACHED,
    Decoding,
    ElicitsOptions,
    Request,
    Response,
    escape_surrogates,
)
from bench_assets.core.schema.elicitation import elicited_decoding
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.provenance import response_key, row_digest
from bench_resources.response_cache.engine import VALIDATION_VERSION, Engine, validate_arrivals
from bench_resources.response_cache.rows import ResponseAverages
from bench_resources.response_cache.throughput import Throughput

if TYPE_CHECKING:
    from bench_resources.response_cache.sessions import RequestSession
    from bench_resources.response_cache.store import ResponseStore

Progress: TypeAlias = Callable[[int, int, int], None]  # done, of those cached, total


class CachingModel:
    """A chat model that sends only uncached requests to its engine."""

    def __init__(
        self,
        name: str,
        engine: Engine,
        store: "ResponseStore",
        progress: Progress = lambda done, cached, total: None,
        throughput: Throughput | None = None,
        thinking_tags: Tags | None = None,
    ) -> None:
        """Add a name, a cache and thinking tags to an engine, which is prepared."""
        self.name = name
        self._engine = engine
        self._identity = engine.identity
        decoding = _decoding_text(engine.decoding)
        self.elicits = engine.elicits if isinstance(engine, ElicitsOptions) else ()
        self._store = store
        self._progress = progress
        self._throughput = throughput or Throughput()
        self._thinking_tags = thinking_tags
        self._sends_requests = True
        tags = f"thinking={' '.join(thinking_tags)}" if thinking_tags else ""
        self.signature = "|".join(filter(None, (engine.identity, decoding, tags)))

    def cached(self) -> "CachingModel":
        """The same model, whose uncached requests have an ``error`` instead of being sent."""
        cache_only = CachingModel(
            self.name, self._engine, self._store, thinking_tags=self._thinking_tags
        )
        cache_only._sends_requests = False
        return cache_only

    def averages(self) -> ResponseAverages:
        """Means over the model's cached responses with its default decoding."""
        return self._store.averages(self._identity, _decoding_text(self._engine.decoding))

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Respond to each request, in order, from the cache if possible.

        Equal requests are sent once. Failures and refusals are not stored.

        Raises:
            ModelError: If the model cannot be reached; or if there is no response, not even a
                cached one, and not all requests were permanently refused.
        """
        keys = [self._key(request) for request in requests]
        responses = self._store.find(list(dict.fromkeys(keys)))
        requests_by_key = dict(zip(keys, requests, strict=True))
        missing = {key: requests_by_key[key] for key in requests_by_key if key not in responses}
        counter = _ProgressCounter(self._progress, len(responses), len(missing))
        if missing and self._sends_requests:
            responses |= self._send_missing(missing, counter)
            self._require_response(responses.values())
        elif missing:
            responses |= dict.fromkeys(missing, Response(error=NOT_CACHED))
        return [replace(responses[key], thinking_tags=self._thinking_tags) for key in keys]

    def _send_missing(
        self, missing: dict[str, Request], counter: "_ProgressCounter"
    ) -> dict[str, Response]:
        """Send missing requests, and wait for those that another process is sending."""
        responses: dict[str, Response] = {}
        while waiting_keys := [key for key in missing if key not in responses]:
            with self._store.request_session(waiting_keys) as session:
                responses |= session.found
                if session.found:
                    counter.add(len(session.found))
                self._stream(session, missing, responses, counter)
        return responses

    def _require_response(self, responses: Collection[Response]) -> None:
        """Raise if there is no response, unless all requests were permanently refused."""
        reasons = [response.error or response.refusal for response in responses]
        if all(reasons) and not all(response.refusal for response in responses):
            raise ModelError(f"{self.name}: all {len(reasons)} requests failed: {reasons[0]}")

    def _stream(
        self,
        session: "RequestSession",
        missing: dict[str, Request],
        responses: dict[str, Response],
        counter: "_ProgressCounter",
    ) -> None:
        """Send the requests that this process leases, and store their responses."""
        if not session.ours:
            return
        keys, new_responses = list(session.ours), []
        requests = [missing[key] for key in keys]
        started = perf_counter()
        for position, response in validate_arrivals(self._engine.stream(requests), len(requests)):
            key = keys[position]
            responses[key] = response
            new_responses.append(response)
            self._throughput.count_arrival(response)
            if response.error or response.refusal:
                session.give_up(key)
            else:
                session.keep(*self._row(key, requests[position], response))
            counter.add(1)
        self._throughput.count_batch(
            new_responses, perf_counter() - started, self._engine.peak_memory
        )

    def _row(self, key: str, request: Request, response: Response) -> tuple[dict[str, Any], str]:
        """Build a row of the store, and the turns of its prompt."""
        row = {
            "key": key,
            "model": self._identity,
            "decoding": self._decoding(request),
            "prompt": request.prompt.sha256,
            "sample": request.sample,
            "text": response.text,
            "finish_reason": response.finish_reason,
            "prompt_tokens": response.prompt_tokens,
            "completion_tokens": response.completion_tokens,
            "image_tokens": " ".join(map(str, response.image_tokens)),
            "seconds": response.seconds,
            "note": response.note,
            "gate": VALIDATION_VERSION,
            "served": response.served,
        }
        return {**row, "digest": row_digest(row)}, escape_surrogates(request.prompt.to_json())

    def _decoding(self, request: Request) -> str:
        """Decoding parameters of a request, as in the store."""
        parameters, temperature = self._engine.decoding, request.temperature
        if temperature is None:
            text = _decoding_text(parameters)
        elif parameters:
            text = str(replace(parameters, temperature=temperature))
        else:
            text = f"t={temperature:g}"
        return elicited_decoding(text, request.elicit)

    def _key(self, request: Request) -> str:
        return response_key(self._identity, self._decoding(request), request)


class _ProgressCounter:
    """Counts responses and reports their number; equal requests count once."""

    def __init__(self, report: Progress, n_cached: int, n_missing: int) -> None:
        self._report = report
        self._n_cached, self._n_total = n_cached, n_cached + n_missing
        self._n_done = 0
        self.add(n_cached)

    def add(self, n: int) -> None:
        """Count further responses, and report."""
        self._n_done += n
        self._report(self._n_done, self._n_cached, self._n_total)


def _decoding_text(decoding: Decoding | None) -> str:
    return str(decoding) if decoding else ""
