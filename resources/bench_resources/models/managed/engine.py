"""Engine of a local checkpoint behind servers, started by bench or already running."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from time import monotonic

from bench_assets.core.schema.chat import CONTEXT_FULL, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.content_checksums import require_unchanged, verify_loaded
from bench_resources.checkpoints.files import read_object
from bench_resources.checkpoints.identity import Checkpoint, pin_served
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.event_loop import Arrival
from bench_resources.models.api.engine import ServerEngine, Spent, no_tokens
from bench_resources.models.managed.replicas import ServerReplicas
from bench_resources.response_cache.engine import ReadImage

_POLL_SECONDS = (
    0.1  # s between two checks of the files while responses arrive, or of restarting servers
)


class ServedEngine(ServerEngine):
    """Sends requests to servers of the weights in a folder; with ``serve``, starts them.

    The identity is the folder's content, the command and the constant fields of a request; no
    address is part of it. The folder is checked before a server starts, when it is ready, and while
    it answers: servers may map files into memory. Behind a router, the model name is checked in
    every response; if ``router`` is set, the name includes the content.
    """

    def __init__(
        self,
        spec: ServerSpec,
        name: str,
        read_image: ReadImage,
        logs: Path,
        *,
        spent: Spent = no_tokens,
    ) -> None:
        """Store the configuration; nothing is started yet.

        Args:
            spec: Section of the server, with an absolute path.
            name: Name of the model.
            read_image: Reads an image by digest.
            logs: Folder of the servers' logs.
            spent: Tokens of cached responses, by identity.
        """
        super().__init__(spec, read_image, spent=spent)
        self._written = spec
        self._name = name
        self._logs = logs
        self._replicas: ServerReplicas | None = None

    @cached_property
    def identity(self) -> str:
        """The content of the weights, the command, and the constant fields of a request."""
        spec = self._written
        command = f",command={spec.command_digest}" if spec.serve else ""
        return spec.identity_of(f"served:{self.checkpoint.content}{command}")

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """The weights, pinned to their content."""
        return pin_served(self._spec.path)

    def stream(self, requests: Sequence[Request]) -> Iterator[Arrival]:
        """Yield responses; the first call starts the servers, which then stay up."""
        checksums = verify_loaded(self.checkpoint.checksums)
        if self._written.serve and not self._replicas:
            self._serve()  # in this thread, which receives interrupts
        looked_at = monotonic()
        for arrival in super().stream(requests):
            if monotonic() > looked_at + _POLL_SECONDS:
                checksums, looked_at = verify_loaded(checksums), monotonic()
            yield self._refuse_beyond_context(arrival)
        verify_loaded(checksums)

    def _refuse_beyond_context(self, arrival: Arrival) -> Arrival:
        """Replace a response beyond the context by a refusal, if the server does not refuse."""
        position, response = arrival
        tokens = (response.prompt_tokens or 0) + (response.completion_tokens or 0)
        if not self._context or tokens <= self._context:
            return arrival
        error = f"too long for the model's context: {tokens} tokens (at most {self._context})"
        return position, Response(error=error, refused=CONTEXT_FULL)

    @cached_property
    def _context(self) -> int:
        """Maximum tokens of the context; 0 if unknown, or if the server checks it."""
        config = Path(self._spec.path, "config.json")
        if self._spec.server != "transformers" or not config.is_file():
            return 0
        fields = read_object(config)
        limit = fields.get("text_config", fields).get("max_position_embeddings")
        return limit if isinstance(limit, int) else 0

    def close(self) -> None:
        """Stop the started servers."""
        if self._replicas:
            self._replicas.close()
            self._replicas = None

    async def _wait_until_ready(self) -> None:
        deadline = monotonic() + self._written.start_timeout
        while self._replicas and not await asyncio.to_thread(self._replicas.is_ready):
            if monotonic() > deadline:
                return
            await asyncio.sleep(_POLL_SECONDS)

    def _serve(self) -> None:
        """Start the servers, and send requests to them."""
        spec, name = self._written, self._name
        if spec.router:
            name = f"{name}@{self.checkpoint.content}"
        model = spec.model or (name if "{name}" in spec.serve else spec.path)
        served = spec.model_copy(update={"model": model})
        self._replicas = ServerReplicas(served, name, self._logs)
        try:
            with require_unchanged(self.checkpoint.checksums):
                self._replicas.start()
        except ModelError:
            self.close()  # so that the next call starts them anew
            raise
        self._use_section(served.model_copy(update={"base_url": self._replicas.address}))
