"""A real Label Studio for a session of tests: its data base is made once for each version."""

import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from bench_assets.workspace.annotation import LabelStudioProcess
from bench_resources.annotation.label_studio.server import program
from tests.resources.annotation.label_studio.scripted_studio import ADMIN, PEOPLE

SERVER = Path("annotation", "label-studio", "server")  # of a home


@contextmanager
def started(environment: Path, home: Path) -> Iterator[str]:
    """Start it over a home; its address."""
    label_studio = program(environment)
    made = Path(tempfile.gettempdir()) / f"bench-label-studio-{_version(environment)}"
    if not made.exists():
        with tempfile.TemporaryDirectory(dir=made.parent) as first:
            _migrate(label_studio, Path(first))
            shutil.move(Path(first) / SERVER, made)
    shutil.copytree(made, home / SERVER)
    with LabelStudioProcess(home, _free_port(), ADMIN, label_studio) as served:
        served.wait_for_answer()
        yield served.address


def sign_up(url: str) -> dict[str, str]:
    """Let people sign up as they do, over the link of an invitation; the token of each."""
    tokens = {}
    with httpx.Client(
        base_url=url, headers={"Authorization": f"Token {ADMIN}"}, timeout=60
    ) as admin:
        link = admin.get("/api/invite").raise_for_status().json()["invite_url"]
    for person in PEOPLE:
        with httpx.Client(base_url=url, timeout=60) as browser:
            page = browser.get(link).text
            told = {
                "csrfmiddlewaretoken": re.findall(r'csrfmiddlewaretoken" value="([^"]+)', page)[0],
                "email": f"{person}@lab.example",
                "password": "a long password",
                "allow_newsletters": "false",
            }
            assert browser.post(link, data=told, headers={"Referer": url}).status_code == 302
            tokens[person] = browser.get("/api/current-user/token").json()["token"]
    return tokens


def _migrate(label_studio: Path, home: Path) -> None:
    with LabelStudioProcess(home, _free_port(), ADMIN, label_studio) as served:
        served.wait_for_answer()


def _version(environment: Path) -> str:
    """Ask its metadata: asked for its version, Label Studio starts a server."""
    asked = "import importlib.metadata as m; print(m.version('label-studio'))"
    told = subprocess.run(
        [environment / "bin" / "python", "-c", asked], capture_output=True, text=True, check=True
    )
    return told.stdout.strip()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
