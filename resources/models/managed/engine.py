"""Engine of a checkpoint behind servers that bench starts, or that serve the same folder."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from time import monotonic

from bench_assets.core.schema.chat import Request
from resources.checkpoints.content_checksums import require_unchanged, still_loaded
from resources.checkpoints.identity import Checkpoint, pin_served
from resources.config.environment import known_secrets
from resources.config.sections.servers import ServerSpec
from resources.http.event_loop import Arrival
from resources.models.api.engine import ServerEngine, Spent, no_tokens
from resources.models.managed.process import ReadinessProbe, StartedServer, free_port
from resources.models.managed.replicas import Router, ServerReplicas
from resources.response_cache.engine import ReadImage

_LOOK = 0.1  # s between two looks at the files while responses arrive, or at servers that restart


class ServedEngine(ServerEngine):
    """Sends requests to servers of the weights in a folder; with ``serve``, starts them.

    The identity is the folder's content, the command and the constant fields of a request; no
    address is part of it. The folder is checked before a server starts, when it is ready, and while
    it answers: servers may map files into memory. Behind a router the model's name is checked in
    every response, and has the content in it where several machines' servers join one.
    """

    def __init__(
        self,
        spec: ServerSpec,
        name: str,
        read_image: ReadImage,
        said: Path,
        *,
        spent: Spent = no_tokens,
    ) -> None:
        """Prepare; nothing is started yet.

        Args:
            spec: Section of the server, with an absolute path.
            name: Name of the model.
            read_image: Reads an image by digest.
            said: Folder of the servers' logs.
            spent: Tokens of cached responses, by identity.
        """
        super().__init__(spec, read_image, spent=spent)
        self._written = spec
        self._name = name
        self._said = said
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
        checksums = still_loaded(self.checkpoint.checksums)
        if self._written.serve:
            self._serve()  # here, where an interrupt is heard
        looked_at = monotonic()
        for arrival in super().stream(requests):
            if monotonic() > looked_at + _LOOK:
                checksums, looked_at = still_loaded(checksums), monotonic()
            yield arrival
        still_loaded(checksums)

    def close(self) -> None:
        """Stop the started servers."""
        if self._replicas:
            self._replicas.close()

    async def _until_ready(self) -> None:
        until = monotonic() + self._written.start_timeout
        while self._replicas and not await asyncio.to_thread(self._replicas.is_ready):
            if monotonic() > until:
                return
            await asyncio.sleep(_LOOK)

    def _serve(self) -> None:
        """Start the servers, if they are not, and send requests to them."""
        self._replicas = self._replicas or self._to_start()
        if not self._replicas.is_started:
            with require_unchanged(self.checkpoint.checksums):
                self._replicas.start()
            self._send_to(self._spec.model_copy(update={"base_url": self._replicas.address}))

    def _to_start(self) -> ServerReplicas:
        spec, name = self._written, self._name
        if spec.router:
            name = f"{name}@{self.checkpoint.content}"
        model = spec.model or (name if "{name}" in spec.serve else spec.path)
        self._send_to(spec.model_copy(update={"model": model}))
        is_shared = spec.n_served > 1 or spec.router

        def start(number: int) -> StartedServer:
            port = free_port()
            return StartedServer(
                spec.command(path=spec.path, port=port, name=name),
                port,
                self._log(number + 1),
                {"CUDA_VISIBLE_DEVICES": spec.devices[number]} if spec.devices else {},
                known_secrets(self._said.parent),  # the home's, which a server has around it too
            )

        return ServerReplicas(
            start,
            ReadinessProbe(
                health=spec.health, model=model, path=spec.path, within=spec.start_timeout
            ),
            n=spec.n_served,
            open_router=self._open_router if is_shared else None,
            most_starts=spec.max_tries,
        )

    def _open_router(self) -> Router:
        if address := self._written.router:
            return Router(address)
        return Router.start(self._written, self._log("router"), known_secrets(self._said.parent))

    def _log(self, of: int | str) -> Path:
        return self._said / f"{self._name.replace('/', '+')}-{of}.log"
