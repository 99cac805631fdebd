"""Engine of a checkpoint behind a server that bench starts, or that serves the same folder."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from bench_assets.core.schema.chat import Request
from resources.checkpoints.content_checksums import ContentChecksum, require_unchanged, still_loaded
from resources.checkpoints.identity import Checkpoint, pin_served
from resources.config.environment import known_secrets
from resources.config.sections.servers import ServerSpec
from resources.http.event_loop import Arrival
from resources.models.api.engine import ServerEngine, Spent, no_tokens
from resources.models.api.load_balancer import AddressFile
from resources.models.managed.process import ReadinessProbe, StartedServer, free_port
from resources.models.managed.replicas import ServerReplicas
from resources.models.managed.service_discovery import AnnouncedServers, Announcements
from resources.models.managed.shared_replicas import SharedReplicas
from resources.response_cache.engine import ReadImage

if TYPE_CHECKING:
    from resources.storage.database import Database

_LOOK = 0.1  # s between two looks at the files while responses arrive


class ServedEngine(ServerEngine):
    """Sends requests to servers of the weights in a folder; with ``serve``, starts them.

    The identity is the folder's content, the command and the constant fields of a request; no
    address is part of it. The folder is checked before a server starts, when it is ready, and while
    it answers: servers may map files into memory.
    """

    def __init__(
        self,
        spec: ServerSpec,
        name: str,
        read_image: ReadImage,
        said: Path,
        *,
        spent: Spent = no_tokens,
        database: "Callable[[], Database] | None" = None,
    ) -> None:
        """Prepare; nothing is started yet.

        Args:
            spec: Section of the server, with an absolute path.
            name: Name of the model.
            read_image: Reads an image by digest.
            said: Folder of the servers' logs.
            spent: Tokens of cached responses, by identity.
            database: Opens the shared database, for a server with ``reached_as``.

        Raises:
            SettingsError: If the address of the database cannot be used.
        """
        called = name if "{name}" in spec.serve else spec.path
        whole = spec.model_copy(update={"model": spec.model or called})
        super().__init__(whole, read_image, spent=spent)
        self._written = spec
        self._name = name
        self._said = said
        self._checksums: Sequence[ContentChecksum] = ()
        self._replicas = self._to_start(database) if spec.serve else None
        started = self._replicas.addresses if self._replicas else None
        self._addresses = AddressFile(whole) if spec.addresses_file else started

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
        if self._replicas:
            self._replicas.wait_for_one()  # here, where an interrupt is heard
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

    def _to_start(
        self, database: "Callable[[], Database] | None"
    ) -> ServerReplicas | SharedReplicas:
        spec = self._spec
        asked = ReadinessProbe(
            health=spec.health, model=spec.model, path=spec.path, within=spec.start_timeout
        )
        own = ServerReplicas(
            self._start,
            asked,
            steady=lambda: require_unchanged(self.checkpoint.checksums),
            n=spec.n_served,
            most_starts=spec.max_tries,
        )
        if not (spec.reached_as and database):
            return own
        return SharedReplicas(
            own,
            Announcements(database(), lambda: f"{self.identity}\n{spec.model}", self._name),
            AnnouncedServers(asked),
            reached_as=spec.reached_here,
            refuse_overwritten=self._refuse_overwritten,
        )

    def _refuse_overwritten(self) -> None:
        self._checksums = still_loaded(self._checksums or self.checkpoint.checksums)

    def _start(self, number: int) -> StartedServer:
        spec, port = self._spec, free_port()
        return StartedServer(
            spec.command(path=spec.path, port=port, name=self._name),
            port,
            self._said / f"{self._name.replace('/', '+')}-{number + 1}.log",
            {"CUDA_VISIBLE_DEVICES": spec.devices[number]} if spec.devices else {},
            known_secrets(self._said.parent),  # the home's, whose keys a server has around it too
        )
