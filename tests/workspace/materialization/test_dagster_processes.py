"""Web server, daemon and code server apart: how they start, are watched and end; who gets in."""

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
import time
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
)
from bench_assets.workspace.materialization.supervisor import Supervisor
from tests.conftest import CHECKOUT
from tests.fakes.ports import free_port


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "dagster").mkdir(parents=True)
    return tmp_path / "home"


def test_each_is_dagsters_own_program_over_one_graph(home: Path) -> None:
    at = ["-w", str(home / "dagster" / "workspace.yaml")]
    web = ["-m", "dagster_webserver", "-h", "127.0.0.1", "-p", "3000"]
    assert Web(home, "127.0.0.1", 3000).command()[1:] == [*web, *at]
    daemon = Daemon(home, "127.0.0.1", 0).command()
    assert "name='dagster-daemon'" in daemon[2]
    assert daemon[3:] == ["run", *at]
    (ours,) = yaml.safe_load((CHECKOUT / "workspace.yaml").read_text())["load_from"]
    (written,) = yaml.safe_load((home / "dagster" / "workspace.yaml").read_text())["load_from"]
    graph = {**ours["python_module"], "working_directory": str(home)}
    assert written == {"python_module": graph}
    code = CodeServer(home, "127.0.0.1", 4000)
    grpc = ["-m", "dagster", "api", "grpc", "-h", "127.0.0.1", "-p", "4000"]
    assert code.command()[1:9] == grpc
    assert code.environment()["DAGSTER_HOME"] == str(home / "dagster")


def test_a_code_server_is_known_by_the_name_that_the_graph_has_without_one(home: Path) -> None:
    *_, file = Daemon(home, "127.0.0.1", 0, "code.example.org:4000").command()
    ours = yaml.safe_load((CHECKOUT / "workspace.yaml").read_text())["load_from"]
    (module,) = yaml.safe_load(Path(file).read_text())["load_from"]
    assert module["grpc_server"] == {
        "host": "code.example.org",
        "port": 4000,
        "location_name": ours[0]["python_module"]["location_name"],
    }


@pytest.mark.parametrize("made", [Web, Daemon, CodeServer])
def test_none_starts_here_when_runs_are_pods(home: Path, made: type[Service]) -> None:
    (home / "bench.toml").write_text(
        '[storage]\ndatabase = "env:TEAM_DATABASE"\nobjects = "s3://team/bench"\n'
        '[cluster]\nlauncher = "k8s"\n'
    )
    message = rf"cluster.launcher: with \"k8s\", {made.label} comes from Dagster's Helm chart"
    with pytest.raises(SettingsError, match=message):
        Supervisor([made(home, "127.0.0.1", free_port())])


@pytest.mark.parametrize("place", ["4000", "host", "host:", ":4000", "host:0", "host:70000", "a:b"])
def test_what_is_no_place_of_a_code_server_is_refused(home: Path, place: str) -> None:
    result = CliRunner().invoke(app, ["ui", "daemon", "--code", place])
    assert result.exit_code == 1
    assert f"--code {place}: expected HOST:PORT" in result.stderr


@pytest.mark.parametrize("of", ["web", "code", "daemon"])
def test_of_one_that_is_not_there_health_says_so(home: Path, of: str) -> None:
    result = CliRunner().invoke(app, ["ui", "health", of, "--port", str(free_port())])
    assert result.exit_code == 1
    assert (
        result.stderr
        == f"error: bench ui {of}: not healthy (no answer, or a failed health check)\n"
    )


@pytest.mark.parametrize(
    ("host", "warned"), [("127.0.0.1", False), ("localhost", False), ("0.0.0.0", True)]
)
def test_who_lets_strangers_reach_it_is_warned(home: Path, host: str, warned: bool) -> None:
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = CliRunner().invoke(app, ["ui", "code", "--host", host, "--port", str(port)])
    assert result.exit_code == 1
    assert f"port {port} of {host} cannot be used" in result.stderr
    assert ("has no login" in result.stderr) == warned


def bench(*arguments: str, output: IO[bytes] | int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "bench_assets", "ui", *arguments],
        cwd=CHECKOUT, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.DEVNULL, stderr=output,
    )  # fmt: skip


def is_well(of: str) -> bool:
    """As what watches services asks."""
    health = bench("health", of, output=subprocess.DEVNULL)
    return health.wait() == 0


@pytest.mark.long
def test_a_second_daemon_waits_for_the_first_and_goes_on_when_that_was_killed(home: Path) -> None:
    log = (home / "first.log").open("wb")
    first = bench("daemon", output=log)
    second = first
    try:
        assert wait_for(lambda: is_well("daemon"), 300)
        second = bench("daemon")
        assert second.stderr
        assert b"the daemon: waiting for process" in second.stderr.readline()
        first.send_signal(signal.SIGKILL)
        first.wait()
        for line in second.stderr:
            if b"the daemon is ready" in line:
                break
        second.send_signal(signal.SIGTERM)
        _, stderr = second.communicate(timeout=120)  # it may be in the middle of a tick
        assert second.returncode == 128 + signal.SIGTERM
        assert b"stopped by SIGTERM" in stderr
    finally:
        log.close()
        for one in (first, second):
            one.kill()
            one.communicate()


def wait_for(what, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < until:
        time.sleep(0.5)
    return bool(found)


CERTIFICATE = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=x")
WHOLE = """
daemon off; pid {folder}/pid; error_log {folder}/log; user {user};
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    {site}
}}
"""


def documented(folder: Path, port: int, behind: int) -> str:
    """The site that docs/cluster.md shows, with the places of a test in it."""
    page = (CHECKOUT / "docs" / "cluster.md").read_text(encoding="utf-8")
    (site,) = re.findall(r"```text\n(server \{.*?)```", page, re.DOTALL)
    for shown, here in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/ssl/certs/bench.pem": f"{folder}/certificate",
        "/etc/ssl/private/bench.key": f"{folder}/key",
        "/etc/nginx/bench.htpasswd": f"{folder}/htpasswd",
        "http://127.0.0.1:3000": f"http://127.0.0.1:{behind}",
        "https://bench.example.org": f"https://bench.example.org:{port}",
    }.items():
        assert shown in site
        site = site.replace(shown, here)
    return str(site)


@pytest.fixture
def proxy(home: Path, tmp_path: Path) -> Iterator[int]:
    """A web server, and what asks for a login in front of it; its port."""
    nginx, openssl = shutil.which("nginx", path=f"{os.defpath}:/usr/sbin"), shutil.which("openssl")
    if not nginx or not openssl:
        pytest.skip("no nginx here: apt-get install nginx-light openssl")
    folder = tmp_path / "nginx"
    folder.mkdir(mode=0o755)
    keys = ("-keyout", str(folder / "key"), "-out", str(folder / "certificate"))
    subprocess.run([openssl, *CERTIFICATE, *keys], check=True, capture_output=True)
    hashed = subprocess.check_output([openssl, "passwd", "-apr1", "open sesame"], text=True)
    (folder / "htpasswd").write_text(f"ann:{hashed}")
    port, behind = free_port(), free_port()
    user = "root" if os.getuid() == 0 else "nobody"
    text = WHOLE.format(folder=folder, user=user, site=documented(folder, port, behind))
    (folder / "conf").write_text(text)
    open_instance(home).dispose()
    with Supervisor([Web(home, "127.0.0.1", behind)]) as web:
        web.start()
        web.wait_until_ready()
        running = subprocess.Popen([nginx, "-p", str(folder), "-c", str(folder / "conf")])
        try:
            assert wait_for(lambda: answered(port, "/server_info") == 401, 20)
            yield port
        finally:
            running.terminate()
            running.wait()


def answered(port: int, path: str, login: str = "", origin: str = "", body: str = "") -> int:
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


def upgraded(port: int, login: str) -> str:
    """What is said to a browser that wants to hear of runs as they go on."""
    unchecked = ssl._create_unverified_context()
    named = base64.b64encode(login.encode()).decode()
    request = (
        "GET /graphql HTTP/1.1\r\nHost: bench.example.org\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: graphql-ws\r\n"
        f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Basic {named}\r\n\r\n"
    )
    with (
        socket.create_connection(("127.0.0.1", port), timeout=20) as plain,
        unchecked.wrap_socket(plain) as line,
    ):
        line.sendall(request.encode())
        return line.recv(100).decode().partition("\r\n")[0]


@pytest.mark.long
def test_nobody_gets_to_the_ui_without_a_login_and_all_of_it_works_with_one(proxy: int) -> None:
    version = json.dumps({"query": "{ version }"})
    ann = "ann:open sesame"
    for path, body in {"/": "", "/server_info": "", "/graphql": version}.items():
        assert answered(proxy, path, body=body) == 401
        assert answered(proxy, path, "ann:guessed", body=body) == 401
        assert answered(proxy, path, ann, body=body) == 200
    assert answered(proxy, "/graphql", ann, f"https://bench.example.org:{proxy}", version) == 200
    assert answered(proxy, "/graphql", ann, "https://elsewhere.example.org", version) == 403
    assert upgraded(proxy, ann) == "HTTP/1.1 101 Switching Protocols"
    assert upgraded(proxy, "ann:guessed").startswith("HTTP/1.1 401")
