"""Servers that bench starts for one model, behind vllm-router if there are several.

The router checks their health and retries the requests of a dead one. Servers of several machines
may join one router.
"""

import logging
import socket
from pathlib import Path
from urllib.parse import quote, urlsplit

from bench_assets.core.schema.errors import ModelError
from bench_resources.config.environment import known_secrets
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.pages import connection_problem
from bench_resources.models.managed.process import HOST, StartedServer, free_port

_log = logging.getLogger("bench_assets.server")
_ALIVE, _TO_START = "/liveness", 60.0  # page of a router, and s until it is there
_TIMEOUT = 30.0  # s of a request by which a server joins or leaves


class ServerReplicas:
    """The servers of one section; their watchdog restarts a dead one at its port."""

    def __init__(self, spec: ServerSpec, name: str, logs: Path) -> None:
        """Store the configuration; nothing is started yet.

        Args:
            spec: Section of the servers; its ``model`` is the servers' name of the model.
            name: Our name of the model.
            logs: Folder of their logs, in the home.
        """
        self._spec, self._name, self._logs = spec, name, logs
        self._servers: list[StartedServer] = []
        self._own_router: StartedServer | None = None
        self._router = spec.router

    def start(self) -> None:
        """Start all servers, and wait until each is ready or given up.

        Raises:
            ModelError: If no server becomes ready, or the router does not.
        """
        if not self._router and self._spec.n_servers > 1:
            self._start_router()
        self._servers += map(self._start, range(self._spec.n_servers))
        if self._own_router:
            self._own_router.wait_until_ready(_ALIVE, _TO_START)
        refused = [why for server in self._servers if (why := self._startup_error(server))]
        if len(refused) == len(self._servers):
            raise refused[0]

    @property
    def address(self) -> str:
        """The address for requests, once the servers are started."""
        return f"{self._router or f'http://{HOST}:{self._servers[0].port}'}/v1"

    def is_ready(self) -> bool:
        """Whether any server is ready; False while all restart.

        Raises:
            ModelError: If all were given up, or their router has ended.
        """
        if self._own_router and self._own_router.has_ended:
            raise ModelError(f"{self._own_router.wait()} (the router)")
        if all(server.has_ended for server in self._servers):
            raise ModelError(self._servers[0].wait())
        return any(server.is_ready(self._spec.health) for server in self._servers)

    def close(self) -> None:
        """Stop all servers and our own router."""
        for server in self._servers:
            self._remove_from_router(server)
        processes = [*self._servers, *filter(None, [self._own_router])]
        for one in processes:
            one.request_end()
        for one in processes:
            one.end()

    def _start(self, number: int) -> StartedServer:
        spec, port = self._spec, free_port()
        command = spec.command(path=spec.path, port=port, name=self._name)
        devices = {"CUDA_VISIBLE_DEVICES": spec.devices[number]} if spec.devices else {}
        return self._run(command, port, str(number + 1), **devices)

    def _start_router(self) -> None:
        options = {
            "host": HOST,
            "port": (port := free_port()),
            "prometheus-port": free_port(),  # by default one for all routers of a machine
            "policy": "power_of_two",  # by load: the prompts of a suite begin alike
            "health-check-endpoint": self._spec.health,
            "health-check-interval-secs": 1,
            "health-success-threshold": 1,
            "request-timeout-secs": int(self._spec.timeout) + 1,
            "log-level": "warning",
        }
        words = (word for name, value in options.items() for word in (f"--{name}", str(value)))
        self._own_router = self._run(["vllm-router", "--enable-igw", *words], port, "router")
        self._router = f"http://{HOST}:{port}"

    def _run(self, command: list[str], port: int, log: str, **environment: str) -> StartedServer:
        file = self._logs / f"{self._name.replace('/', '+')}-{log}.log"
        secrets = known_secrets(self._logs.parent)  # the home's, which servers inherit
        return StartedServer(command, port, file, environment, secrets)

    def _startup_error(self, server: StartedServer) -> ModelError | None:
        """Wait for a server and add it to the router; returns the error if it is given up."""
        spec = self._spec
        try:
            server.wait_until_ready(spec.health, spec.start_timeout)
            server.refuse_other_weights(spec.model, spec.path)
            if self._router:
                self._remove_from_router(
                    server
                )  # a server of a killed run may have had the same port
                body = {"url": self._seen(server), "model_id": spec.model}
                if why := self._ask("POST", "/workers", body):
                    raise ModelError(f"router {self._router}: {why}")
        except ModelError as error:
            _log.warning("a server of %s is given up: %s", spec.model, error)
            server.end()
            return error
        server.restart(spec.max_tries)
        _log.info("%s is served at port %d", spec.path, server.port)
        return None

    def _remove_from_router(self, server: StartedServer) -> None:
        if self._router:
            self._ask("DELETE", f"/workers/{quote(self._seen(server), safe='')}")

    def _seen(self, server: StartedServer) -> str:
        """Address of a server as the router sees it; found without sending anything."""
        parts = urlsplit(self._router)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as towards:
            towards.connect((parts.hostname, parts.port or 80))
            return f"http://{towards.getsockname()[0]}:{server.port}"

    def _ask(self, verb: str, path: str, body: dict[str, str] | None = None) -> str:
        """Send the router a request; returns what went wrong."""
        import httpx

        url = f"{self._router}{path}"
        try:
            answer = httpx.request(verb, url, json=body, timeout=_TIMEOUT, trust_env=False)
        except httpx.HTTPError as error:
            return f"cannot be reached: {connection_problem(error)}"
        return "" if answer.is_success else f"HTTP {answer.status_code}: {answer.text[:200]}"
