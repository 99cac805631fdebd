import base64
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
import yaml
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_assets.core.schema.errors import SettingsError
from bench_assets.workspace.materialization.dagster_instance import open_instance
from bench_assets.workspace.materialization.dagster_processes import (
    CodeServer,
    Daemon,
    Service,
    Web,
    require_free,
)
from bench_assets.workspace.materialization.supervisor import Supervisor
from tests.conftest import CHECKOUT
from tests.fakes.ports import free_port
from tests.workspace.materialization.test_supervisor import wait_until


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "dagster").mkdir(parents=True)
    return tmp_path / "home"


def test_the_web_server_and_the_daemon_load_the_workspace_file_of_the_home(home: Path) -> None:
    workspace = ["-w", str(home / "dagster" / "workspace.yaml")]
    _, *web = Web(home, host="127.0.0.1", port=3000).command()
    assert web == ["-m", "dagster_webserver", "-h", "127.0.0.1", "-p", "3000", *workspace]
    _, _, program, *arguments = Daemon(home, host="127.0.0.1", port=0).command()
    assert "name='dagster-daemon'" in program
    assert arguments == ["run", *workspace]


def test_the_workspace_file_names_the_graph_of_the_checkout(home: Path) -> None:
    Web(home, host="127.0.0.1", port=3000).command()  # writes the file
    (checkout_location,) = yaml.safe_load((CHECKOUT / "workspace.yaml").read_text())["load_from"]
    (location,) = yaml.safe_load((home / "dagster" / "workspace.yaml").read_text())["load_from"]
    graph = {**checkout_location["python_module"], "working_directory": str(home)}
    assert location == {"python_module": graph}


def test_the_code_server_is_dagsters_own_with_the_records_of_the_home(home: Path) -> None:
    code_server = CodeServer(home, host="127.0.0.1", port=4000)
    grpc = "-m dagster api grpc -h 127.0.0.1 -p 4000"
    assert grpc in " ".join(code_server.command())
    assert code_server.environment()["DAGSTER_HOME"] == str(home / "dagster")


def test_a_code_server_has_the_location_name_of_the_installed_graph(home: Path) -> None:
    daemon = Daemon(home, host="127.0.0.1", port=0, code="code.example.org:4000")
    *_, file = daemon.command()
    (checkout_location,) = yaml.safe_load((CHECKOUT / "workspace.yaml").read_text())["load_from"]
    (module,) = yaml.safe_load(Path(file).read_text())["load_from"]
    assert module["grpc_server"] == {
        "host": "code.example.org",
        "port": 4000,
        "location_name": checkout_location["python_module"]["location_name"],
    }


def test_a_host_of_ipv6_is_in_brackets_in_addresses(home: Path) -> None:
    assert Web(home, host="::1", port=3000).address == "http://[::1]:3000"
    code_server = CodeServer(home, host="::1", port=4000)
    assert code_server.address == "[::1]:4000"
    assert "-h [::1] -p 4000" in " ".join(code_server.command())


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6 here")
def test_a_free_port_of_ipv6_is_accepted() -> None:
    require_free(free_port(), "::1")


@pytest.mark.parametrize("host", ["1:2", "192.0.2.1"])  # no address, and one of documentation
def test_a_host_that_is_not_this_machine_is_refused(host: str) -> None:
    with pytest.raises(SettingsError, match=rf"of {host} cannot be used .* another with --host$"):
        require_free(free_port(), host)


@pytest.mark.parametrize("service_type", [Web, Daemon, CodeServer])
def test_no_service_starts_here_when_runs_are_pods(home: Path, service_type: type[Service]) -> None:
    (home / "bench.toml").write_text(
        '[storage]\ndatabase = "env:TEAM_DATABASE"\nobjects = "s3://team/bench"\n'
        '[cluster]\nlauncher = "k8s"\n'
    )
    label = service_type.label
    message = rf"cluster.launcher: with \"k8s\", {label} comes from Dagster's Helm chart"
    with pytest.raises(SettingsError, match=message):
        Supervisor([service_type(home, host="127.0.0.1", port=free_port())])


@pytest.mark.parametrize(
    "address", ["4000", "host", "host:", ":4000", "host:0", "host:70000", "a:b"]
)
def test_a_malformed_address_of_a_code_server_is_refused(home: Path, address: str) -> None:
    result = CliRunner().invoke(app, ["ui", "daemon", "--code", address])
    assert result.exit_code == 1
    assert f"--code {address}: expected HOST:PORT" in result.stderr


@pytest.mark.parametrize(
    "arguments", [["web", "--port", "{port}"], ["code", "--port", "{port}"], ["daemon"]]
)
def test_a_service_that_does_not_run_is_not_healthy(home: Path, arguments: list[str]) -> None:
    name, *options = [argument.format(port=free_port()) for argument in arguments]
    result = CliRunner().invoke(app, ["ui", "health", name, *options])
    assert result.exit_code == 1
    reason = "not healthy (no answer, or a failed health check). Restart it"
    assert result.stderr == f"error: bench ui {name}: {reason}\n"


@pytest.mark.parametrize(
    ("host", "is_public"), [("127.0.0.1", False), ("localhost", False), ("0.0.0.0", True)]
)
def test_a_public_code_server_is_warned_about(home: Path, host: str, is_public: bool) -> None:
    with socket.socket() as listener:  # so that the command ends after its warnings
        listener.bind(("0.0.0.0", 0))
        listener.listen()
        port = listener.getsockname()[1]
        result = CliRunner().invoke(app, ["ui", "code", "--host", host, "--port", str(port)])
    assert result.exit_code == 1
    assert f"port {port} of {host} cannot be used" in result.stderr
    assert ("has no login" in result.stderr) == is_public


def start_ui_command(
    *arguments: str, output: IO[bytes] | int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "bench_assets", "ui", *arguments],
        cwd=CHECKOUT, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.DEVNULL, stderr=output,
    )  # fmt: skip


def is_healthy(service: str) -> bool:
    """Whether ``bench ui health`` finds a service healthy."""
    return start_ui_command("health", service, output=subprocess.DEVNULL).wait() == 0


@pytest.mark.long
def test_a_second_daemon_waits_for_the_first_and_goes_on_when_that_was_killed(home: Path) -> None:
    log = (home / "first.log").open("wb")
    first = start_ui_command("daemon", output=log)
    second = first
    try:
        wait_until(lambda: is_healthy("daemon"))
        second = start_ui_command("daemon")
        assert second.stderr
        assert b"the daemon: waiting for process" in second.stderr.readline()
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert any(b"the daemon is ready" in line for line in second.stderr)
        second.send_signal(signal.SIGTERM)
        _, stderr = second.communicate(timeout=120)  # it may be in the middle of a tick
        assert second.returncode == 128 + signal.SIGTERM
        assert b"stopped by SIGTERM" in stderr
    finally:
        log.close()
        for daemon in (first, second):
            daemon.kill()
            daemon.communicate()


CERTIFICATE = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=x")
NGINX_CONF = """
daemon off; pid {folder}/pid; error_log {folder}/log; user {user};
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    {site}
}}
"""


def documented_site(folder: Path, port: int, ui_port: int) -> str:
    """The site of docs/cluster.md, with the files and ports of a test."""
    page = (CHECKOUT / "docs" / "cluster.md").read_text(encoding="utf-8")
    (site,) = re.findall(r"```text\n(server \{.*?)```", page, re.DOTALL)
    for example, replacement in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/ssl/certs/bench.pem": f"{folder}/certificate",
        "/etc/ssl/private/bench.key": f"{folder}/key",
        "/etc/nginx/bench.htpasswd": f"{folder}/htpasswd",
        "http://127.0.0.1:3000": f"http://127.0.0.1:{ui_port}",
        "https://bench.example.org": f"https://bench.example.org:{port}",
    }.items():
        assert example in site
        site = site.replace(example, replacement)
    return str(site)


@pytest.fixture
def proxy(home: Path, tmp_path: Path) -> Iterator[int]:
    """Port of nginx, which requires a login in front of a web server."""
    nginx = shutil.which("nginx", path=f"{os.defpath}:/usr/sbin")
    openssl = shutil.which("openssl")
    if not nginx or not openssl:
        pytest.skip("no nginx here: apt-get install nginx-light openssl")
    folder = tmp_path / "nginx"
    folder.mkdir(mode=0o755)
    keys = ("-keyout", str(folder / "key"), "-out", str(folder / "certificate"))
    subprocess.run([openssl, *CERTIFICATE, *keys], check=True, capture_output=True)
    password_hash = subprocess.check_output([openssl, "passwd", "-apr1", "open sesame"], text=True)
    (folder / "htpasswd").write_text(f"ann:{password_hash}")
    port, ui_port = free_port(), free_port()
    user = "root" if os.getuid() == 0 else "nobody"
    site = documented_site(folder, port, ui_port)
    (folder / "conf").write_text(NGINX_CONF.format(folder=folder, user=user, site=site))
    open_instance(home).dispose()
    with Supervisor([Web(home, host="127.0.0.1", port=ui_port)]) as web:
        web.start()
        web.wait_until_ready()
        process = subprocess.Popen([nginx, "-p", str(folder), "-c", str(folder / "conf")])
        try:
            wait_until(lambda: request_status(port, "/server_info") == 401)
            yield port
        finally:
            process.terminate()
            process.wait()


def request_status(port: int, path: str, login: str = "", origin: str = "", body: str = "") -> int:
    """HTTP status of a request to the proxy; 0: no connection."""
    headers = {"Content-Type": "application/json"} if body else {}
    if login:
        headers["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
    if origin:
        headers["Origin"] = origin
    request = urllib.request.Request(
        f"https://127.0.0.1:{port}{path}", body.encode() or None, headers
    )
    unchecked = ssl._create_unverified_context()
    try:
        with urllib.request.urlopen(request, context=unchecked, timeout=20) as response:
            return int(response.status)
    except urllib.error.HTTPError as exc:
        return exc.code
    except OSError:
        return 0


def websocket_status(port: int, login: str) -> str:
    """Status line for a browser that opens a websocket to follow runs."""
    unchecked = ssl._create_unverified_context()
    credentials = base64.b64encode(login.encode()).decode()
    request = (
        "GET /graphql HTTP/1.1\r\nHost: bench.example.org\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: graphql-ws\r\n"
        f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Basic {credentials}\r\n\r\n"
    )
    with (
        socket.create_connection(("127.0.0.1", port), timeout=20) as plain_socket,
        unchecked.wrap_socket(plain_socket) as tls_socket,
    ):
        tls_socket.sendall(request.encode())
        return tls_socket.recv(100).decode().splitlines()[0]


ANN = "ann:open sesame"
VERSION_QUERY = json.dumps({"query": "{ version }"})


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "body"), [("/", ""), ("/server_info", ""), ("/graphql", VERSION_QUERY)]
)
def test_the_ui_is_reached_with_the_right_login_alone(proxy: int, path: str, body: str) -> None:
    assert request_status(proxy, path, body=body) == 401
    assert request_status(proxy, path, "ann:guessed", body=body) == 401
    assert request_status(proxy, path, ANN, body=body) == 200


@pytest.mark.long
def test_only_pages_of_the_ui_may_query_with_a_login(proxy: int) -> None:
    own_origin = f"https://bench.example.org:{proxy}"
    assert request_status(proxy, "/graphql", ANN, own_origin, VERSION_QUERY) == 200
    foreign_origin = "https://elsewhere.example.org"
    assert request_status(proxy, "/graphql", ANN, foreign_origin, VERSION_QUERY) == 403


@pytest.mark.long
def test_a_websocket_is_opened_with_the_right_login_alone(proxy: int) -> None:
    assert websocket_status(proxy, ANN) == "HTTP/1.1 101 Switching Protocols"
    assert websocket_status(proxy, "ann:guessed").startswith("HTTP/1.1 401")
