"""One turn of many conversations: submitted in batches and collected."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from secrets import token_hex

import orjson

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import ImageError, ModelError
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.event_loop import Hand
from bench_resources.models.api.budget import Budget
from bench_resources.models.api.formats.base import ApiFormat
from bench_resources.models.batches.http import (
    BatchClient,
    GoneError,
    TooLargeError,
    UncertainError,
)
from bench_resources.models.batches.ledger import BatchLedger, OpenBatch
from bench_resources.models.batches.provider import BatchApi, Conversation
from bench_resources.response_cache.rows import TokenCounts

_log = logging.getLogger("bench_assets.server")
_MAX_WAIT = 60.0  # s between two polls of open batches


@dataclass(slots=True)
class _Chunk:
    lines: dict[str, bytes] = field(default_factory=dict)  # by custom_id
    n_bytes: int = 0


@dataclass(slots=True)
class BatchRound:
    """Submits the current turn of conversations; returns those with a further turn or a retry."""

    spec: ServerSpec
    form: ApiFormat
    api: BatchApi
    wire: BatchClient
    noted: BatchLedger
    budget: Budget
    _most: int = 0  # requests per batch after the server refused more; 0: the API's maximum
    _collected: list[OpenBatch] = field(default_factory=list)
    _resumed: set[str] = field(default_factory=set)  # tags of batches that an earlier run submitted
    _again: list[Conversation] = field(default_factory=list)
    # upper estimate of what submitted and waiting requests cost
    _reserved: TokenCounts = field(default_factory=TokenCounts)

    async def complete(
        self, conversations: Sequence[Conversation], hand: Hand, base_delay: float
    ) -> list[Conversation]:
        """Submit, wait, and hand over the finished conversations.

        Raises:
            ModelError: If the server refuses, or cannot be reached.
        """
        self._again, self._reserved = [], TokenCounts()
        waiting: dict[str, list[Conversation]] = defaultdict(list)
        out = await self._submit_missing(conversations, waiting, hand)
        going_on: list[Conversation] = []
        wait = base_delay
        while out:
            for batch in list(out):
                if await self._collect(batch, waiting, going_on, hand):
                    out.remove(batch)
            if out:
                await asyncio.sleep(wait)
                wait = min(wait * 1.5, _MAX_WAIT)
        return [*going_on, *self._again]

    def forget_collected(self) -> None:
        """Remove the collected batches from the ledger, once all results are stored."""
        for batch in self._collected:
            self.noted.forget(batch)

    async def _submit_missing(
        self,
        conversations: Sequence[Conversation],
        waiting: dict[str, list[Conversation]],
        hand: Hand,
    ) -> list[OpenBatch]:
        """Submit requests that are not in open batches; returns all batches to wait for."""
        before = {custom_id: batch for batch in await self._before() for custom_id in batch.ids}
        out: dict[str, OpenBatch] = {}
        chunk = _Chunk()
        for conversation in conversations:
            try:
                body = conversation.body(self.form, self.spec)
            except (ImageError, orjson.JSONEncodeError) as exc:
                await hand((conversation.position, Response(error=f"cannot be sent: {exc}")))
                continue
            if conversation.custom_id in waiting or conversation.custom_id in before:
                waiting[conversation.custom_id].append(conversation)
                if existing := before.get(conversation.custom_id):
                    out[existing.tag] = existing
                continue
            if reason := self._refusal_reason(conversation):
                if self._reserved == TokenCounts():
                    await hand((conversation.position, Response(error=reason)))
                else:
                    self._again.append(conversation)  # until the cost of earlier requests is known
                continue
            line = self.api.line(conversation.custom_id, body)
            if self._is_full(chunk, line):
                out |= await self._submit(chunk, waiting)
                chunk = _Chunk()
            waiting[conversation.custom_id].append(conversation)
            chunk.lines[conversation.custom_id] = line
            chunk.n_bytes += len(line) + 1
        out |= await self._submit(chunk, waiting)
        return list(out.values())

    async def _before(self) -> list[OpenBatch]:
        """Open batches of earlier runs and turns."""
        known = []
        for note in self.noted.all():
            if note.batch:
                known.append(note)
            elif batch := await self.api.find(self.wire, note.tag, len(note.ids), note.since):
                known.append(self.noted.name(note, batch))
            else:
                self.noted.forget(note)  # it never arrived
        self._resumed |= {batch.tag for batch in known}
        return known

    def _refusal_reason(self, one: Conversation) -> str:
        """Why a request may not be sent; reserves its estimated cost if it may."""
        if reason := self.budget.exhausted_reason():
            return reason
        most = one.most(self.spec)
        total = TokenCounts(
            prompt=self._reserved.prompt + most.prompt,
            completion=self._reserved.completion + most.completion,
        )
        if not self.budget.fits(total):
            return "not sent: it may cost more than is left of the budget"
        self._reserved = total
        return ""

    def _is_full(self, chunk: _Chunk, line: bytes) -> bool:
        n = min(self._most or self.api.most, self.api.most)
        return bool(chunk.lines) and (
            len(chunk.lines) >= n or chunk.n_bytes + len(line) > self.api.most_bytes
        )

    async def _submit(
        self, chunk: _Chunk, waiting: dict[str, list[Conversation]]
    ) -> dict[str, OpenBatch]:
        """Submit a batch; nothing if it was too large and is to be halved."""
        if not chunk.lines:
            return {}
        out = self.noted.note(token_hex(8), list(chunk.lines))
        try:
            batch = await self.api.submit(self.wire, list(chunk.lines.values()), out.tag)
        except TooLargeError:
            self._halve(out, waiting, "too large for the server")
            return {}
        except UncertainError as error:
            batch = await self.api.find(self.wire, out.tag, len(out.ids), out.since)
            if not batch:  # it may be listed later: the next run looks again before it submits
                raise ModelError(
                    f"{self.spec.place}: it is unknown if a batch arrived: {error}"
                ) from error
        except ModelError:
            self.noted.forget(out)
            raise
        _log.info("batch %s: %d requests submitted", batch, len(out.ids))
        return {out.tag: self.noted.name(out, batch)}

    def _halve(self, out: OpenBatch, waiting: dict[str, list[Conversation]], why: str) -> None:
        """Retry a batch that was too large in smaller ones."""
        if len(out.ids) == 1:
            raise ModelError(f"{self.spec.place}: a batch of one request: {why}")
        self._most = len(out.ids) // 2
        self._resubmit(out, waiting)

    async def _collect(
        self,
        out: OpenBatch,
        waiting: dict[str, list[Conversation]],
        going_on: list[Conversation],
        hand: Hand,
    ) -> bool:
        """Read the results of a batch if it ended; returns whether it did."""
        try:
            state = await self.api.look(self.wire, out.batch)
        except GoneError:
            if out.tag not in self._resumed:
                raise
            self._resubmit(out, waiting)  # an earlier run submitted it; the server no longer has it
            return True
        if not state.ended:
            _log.info("batch %s: %s for %.0f s", out.batch, state.says, time.time() - out.since)
            return False
        if state.too_much and len(out.ids) > 1:
            self._halve(out, waiting, state.failed)
            return True
        if not state.failed:
            await self._read(out, waiting, going_on, hand)
        reason = f": {state.failed}" if state.failed else ""
        nothing = Response(error=f"the batch ended ({state.says}) without a response{reason}")
        for custom_id in out.ids:
            await self._deliver(waiting.pop(custom_id, []), nothing, going_on, hand)
        self._collected.append(out)
        return True

    async def _read(
        self,
        out: OpenBatch,
        waiting: dict[str, list[Conversation]],
        going_on: list[Conversation],
        hand: Hand,
    ) -> None:
        """Hand over the results of a batch to their conversations."""
        seen: set[str] = set()
        async for custom_id, response in self.api.results(self.wire, out.batch, self.form):
            if custom_id in seen:
                raise ModelError(f"batch {out.batch}: two results of one request")
            seen.add(custom_id)
            await self._deliver(waiting.pop(custom_id, []), response, going_on, hand)

    def _resubmit(self, out: OpenBatch, waiting: dict[str, list[Conversation]]) -> None:
        self.noted.forget(out)
        for custom_id in out.ids:
            self._again += waiting.pop(custom_id, [])

    async def _deliver(
        self,
        answered: Sequence[Conversation],
        response: Response,
        going_on: list[Conversation],
        hand: Hand,
    ) -> None:
        self.budget.count(response)
        for delivered in answered:
            if final := delivered.take(response):
                await hand((delivered.position, final))
            else:
                going_on.append(delivered)
