"""Replicas of a server, and vllm-router, which shares requests among them.

The router checks their health and retries the requests of a dead one. Servers of several machines
may join one router.
"""

import logging
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, urlsplit

from bench_assets.core.schema.errors import ModelError
from bench_assets.core.text.redaction import Secrets
from resources.config.sections.servers import ServerSpec
from resources.models.managed.process import HOST, ReadinessProbe, StartedServer, free_port

_log = logging.getLogger("bench_assets.server")
_ALIVE = ReadinessProbe(health="/liveness", model="", path="", within=60.0)
_TIMEOUT = 30.0  # s of a request by which a server joins or leaves


class Router:
    """A router at an address, which may be our own process."""

    def __init__(self, address: str, process: StartedServer | None = None) -> None:
        self.address = address
        self._process = process

    @classmethod
    def start(cls, spec: ServerSpec, log: Path, secrets: Secrets) -> "Router":
        """Start a router on this machine.

        Raises:
            ModelError: If it is not installed.
        """
        port = free_port()
        process = StartedServer(_command(spec, port), port, log, {}, secrets)
        return cls(f"http://{HOST}:{port}", process)

    def wait_until_ready(self) -> None:
        """Wait until our own router can be asked.

        Raises:
            ModelError: If it ends.
        """
        if self._process:
            self._process.wait_until_ready(_ALIVE)

    def require_running(self) -> None:
        """Check that our own router has not ended.

        Raises:
            ModelError: If it has; with its last lines.
        """
        if self._process and self._process.has_ended:
            raise ModelError(f"{self._process.wait()} (it is the router)")

    def add(self, port: int, model: str) -> None:
        """Send requests for a model to a server of this machine, too.

        Raises:
            ModelError: If the router refuses it, or is not there.
        """
        self.remove(port)  # one of a killed process may have had the same port
        self._ask("POST", "/workers", {"url": self._seen(port), "model_id": model})

    def remove(self, port: int) -> None:
        """Send no further requests to a server; a router that is gone needs no word of it."""
        self._ask("DELETE", f"/workers/{quote(self._seen(port), safe='')}")

    def close(self) -> None:
        """End our own router."""
        if self._process:
            self._process.end()

    def _seen(self, port: int) -> str:
        """Address of a server in the network of the router; nothing is sent."""
        parts = urlsplit(self.address)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as towards:
            towards.connect((parts.hostname, parts.port or 80))
            return f"http://{towards.getsockname()[0]}:{port}"

    def _ask(self, verb: str, path: str, body: dict[str, str] | None = None) -> None:
        import httpx

        try:
            url = f"{self.address}{path}"
            answer = httpx.request(verb, url, json=body, timeout=_TIMEOUT, trust_env=False)
        except httpx.HTTPError as why:
            said = f"cannot be reached: {why}"
        else:
            said = "" if answer.is_success else f"HTTP {answer.status_code}: {answer.text[:200]}"
        if said and body:
            raise ModelError(f"router {self.address}: {said}")


class ServerReplicas:
    """Servers that share the requests; their watchdog restarts a dead one at its port."""

    def __init__(
        self,
        start: Callable[[int], StartedServer],
        asked: ReadinessProbe,
        *,
        n: int,
        open_router: Callable[[], Router] | None,
        most_starts: int,
    ) -> None:
        """Store the configuration; nothing is started yet.

        Args:
            start: Starts the server with a number, counted from 0.
            asked: Criteria of readiness.
            n: Number of servers.
            open_router: Finds or starts the router of the servers; None: the only one is asked.
            most_starts: Restarts of a server that was ready once.
        """
        self._start = start
        self._asked = asked
        self._n = n
        self._open_router = open_router
        self._most_starts = most_starts
        self._servers: list[StartedServer] = []
        self._router: Router | None = None

    @property
    def is_started(self) -> bool:
        """Whether servers were started since the last ``close``."""
        return bool(self._servers)

    @property
    def address(self) -> str:
        """The address to ask."""
        at = self._router.address if self._router else f"http://{HOST}:{self._servers[0].port}"
        return f"{at}/v1"

    def start(self) -> None:
        """Start all servers, and wait until each is ready or given up.

        Raises:
            ModelError: If no server comes up, or no router.
        """
        self._router = self._open_router() if self._open_router else None
        self._servers += map(self._start, range(self._n))
        if self._router:
            self._router.wait_until_ready()
        refused: list[ModelError] = []
        for number, server in enumerate(self._servers, 1):
            try:
                server.wait_until_ready(self._asked)
            except ModelError as why:
                _log.warning("server %d of %d is given up: %s", number, self._n, why)
                refused.append(why)
                server.end()
                continue
            server.restart(self._most_starts)
            _log.info("%s is served at port %d", self._asked.path, server.port)
            if self._router:
                self._router.add(server.port, self._asked.model)
        if len(refused) == self._n:
            raise refused[0]

    def is_ready(self) -> bool:
        """Whether a server can be asked; False while all restart.

        Raises:
            ModelError: If all were given up, or their router has ended.
        """
        if self._router:
            self._router.require_running()
        if all(server.has_ended for server in self._servers):
            raise ModelError(self._servers[0].wait())
        return any(server.is_ready(self._asked.health) for server in self._servers)

    def close(self) -> None:
        """Stop all servers; they can be started again."""
        for server in self._servers:
            if self._router:
                self._router.remove(server.port)
            server.let_go()
        for server in self._servers:
            server.end()
        if self._router:
            self._router.close()
        self._servers, self._router = [], None


def _command(spec: ServerSpec, port: int) -> list[str]:
    options = {
        "host": HOST,
        "port": port,
        "prometheus-port": free_port(),  # by default one for all routers of a machine
        "policy": "power_of_two",  # by load: the prompts of a suite begin alike
        "health-check-endpoint": spec.health,
        "health-check-interval-secs": 1,
        "health-success-threshold": 1,
        "request-timeout-secs": int(spec.timeout) + 1,
        "log-level": "warning",
    }
    words = (word for name, value in options.items() for word in (f"--{name}", str(value)))
    return ["vllm-router", "--enable-igw", *words]
