"""Engine of a local checkpoint behind a server, started by bench or already running."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from time import monotonic

from bench_assets.core.schema.chat import CONTEXT_FULL, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.content_checksums import require_unchanged, verify_loaded
from bench_resources.checkpoints.files import read_object
from bench_resources.checkpoints.identity import Checkpoint, pin_served
from bench_resources.config.environment import known_secrets
from bench_resources.config.sections.local_models import VllmSpec
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.event_loop import Arrival
from bench_resources.models.api.engine import ServerEngine, Spent, no_tokens
from bench_resources.models.managed.process import HOST, StartedServer, free_port
from bench_resources.response_cache.engine import ReadImage

_log = logging.getLogger("bench_assets.server")
_POLL_SECONDS = 0.1  # s between two checks of the files, or of a restarting server


class ServedEngine(ServerEngine):
    """Sends requests to a server of the weights in a folder; with ``serve``, starts it.

    The identity is the engine, the folder's content, the command and the constant fields of a
    request; no address is part of it. The folder is checked before the server starts, when it is
    ready, and while it answers: servers may map files into memory. The watchdog restarts a dead
    server at its port. Of a server that somebody else started, every response's model is checked.
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

        ``spec`` has an absolute path; ``logs`` is a folder directly in the home.
        """
        super().__init__(spec, read_image, spent=spent)
        self._section = spec  # ``_spec`` gets the address of the started server
        self._name = name
        self._logs = logs
        self._server: StartedServer | None = None

    def prepare(self) -> None:
        """Find the identity: engine, content of the weights, command, constant fields of a request.

        Raises:
            ModelError: If the folder is not a checkpoint.
        """
        spec = self._section
        command = f",command={spec.command_digest}" if spec.serve else ""
        content = f"{spec.served_by}:{self.checkpoint.content}{command}"
        self.identity = spec.identity_of(content)

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """The weights, pinned to their content."""
        return pin_served(self._spec.path)

    def stream(self, requests: Sequence[Request]) -> Iterator[Arrival]:
        """Yield responses; the first call starts the server, which then stays up."""
        checksums = verify_loaded(self.checkpoint.checksums)
        if self._section.serve and not self._server:
            self._serve()  # in this thread, which receives interrupts
        verified_at = monotonic()
        for arrival in super().stream(requests):
            if monotonic() > verified_at + _POLL_SECONDS:
                checksums = verify_loaded(checksums)
                verified_at = monotonic()
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
        """Stop the started server."""
        if self._server:
            self._server.end()
            self._server = None

    async def _wait_until_ready(self) -> None:
        """Wait at most ``start_timeout`` for a restart of the started server; raises if it ends."""
        server = self._server
        deadline = monotonic() + self._section.start_timeout
        while server and monotonic() < deadline:
            if await asyncio.to_thread(server.is_ready, self._section.health):
                return
            if server.has_ended:
                raise ModelError(server.wait())
            await asyncio.sleep(_POLL_SECONDS)

    def _serve(self) -> None:
        """Start the server, wait until it is ready, and send requests to it."""
        spec, name, port = self._section, self._name, free_port()
        if isinstance(spec, VllmSpec):
            _refuse_several_folders(self.checkpoint)
        model = spec.model or (name if "{name}" in spec.serve else spec.path)
        command = spec.command(path=spec.path, port=port, name=name)
        log = self._logs / f"{name.replace('/', '+')}.log"
        secrets = known_secrets(self._logs.parent)  # the home's, which the server inherits
        try:
            with require_unchanged(self.checkpoint.checksums):
                self._server = StartedServer(command, port, log, secrets)
                self._server.wait_until_ready(spec.health, spec.start_timeout)
                self._server.refuse_other_weights(model, spec.path)
        except ModelError:
            self.close()  # so that the next call starts it anew
            raise
        self._server.allow_restarts(spec.max_tries)
        _log.info("%s is served at port %d", spec.path, port)
        address = {"model": model, "base_url": f"http://{HOST}:{port}/v1"}
        self._spec = spec.model_copy(update=address)


def _refuse_several_folders(checkpoint: Checkpoint) -> None:
    """Refuse a checkpoint of several folders: ``vllm serve`` takes one."""
    if checkpoint.adapter:
        raise ModelError(
            f"{checkpoint.adapter}: vllm serve takes whole weights, not an adapter. Merge it into"
            ' its base (merge_and_unload of PEFT), or use kind = "transformers"'
        )
    if checkpoint.processor:
        raise ModelError(
            f"{checkpoint.location}: its tokenizer and processor are in {checkpoint.processor}."
            ' Copy them to the weights, or use kind = "transformers"'
        )
