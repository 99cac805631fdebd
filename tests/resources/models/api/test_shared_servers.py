"""Homes that share a PostgreSQL ask one another's servers; they start, vanish and are killed."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Prompt, Request, Response
from resources.checkpoints.identity import fingerprint
from resources.config.settings_resource import SettingsResource
from resources.images.store import ImageStore
from resources.models.managed.engine import ServedEngine
from resources.models.registry.opening import Models
from tests.postgres_server import PostgresServer, postgres
from tests.resources.models.api.serving import asked, command, said_by, sharing
from tests.resources.models.api.test_served import is_running, lines, until
from tests.sensors.watched import write_checkpoint

psycopg = pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
pytestmark = pytest.mark.long

TEXTS = [f"question {n}" for n in range(100)]
EXPECTED = [f"1234 {text}" for text in TEXTS]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with postgres() as running:
        yield running


class Team:
    """Homes of one checkpoint; each server that is started, and each question, is noted."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address
        self.weights = write_checkpoint(folder / "run" / "step", b"1234")
        self.options = [f"starts={folder / 'starts'}", f"asked={folder / 'asked'}"]
        self.until = ExitStack()
        self.n = 0

    @property
    def said(self) -> Path:
        self.n += 1
        return self.folder / f"home-{self.n}"

    @property
    def starts(self) -> list[str]:
        return lines(self.folder / "starts")

    def home(self, *options: str, **fields: object) -> ServedEngine:
        at = (self.address, self.weights, self.said, *self.options, *options)
        return self.until.enter_context(sharing(*at, **fields))

    def process(self, *options: str) -> "subprocess.Popen[str]":
        """A home of another process; it has asked its first question."""
        one = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.resources.models.api.serving"),
                *(str(self.weights), str(self.said), *self.options, *options),
            ],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(Path.cwd()), "BENCH_DATABASE": self.address},
        )
        self.until.callback(one.communicate)
        self.until.callback(one.kill)
        assert one.stdout
        assert one.stdout.readline() == "1234 ?\n"
        return one


@pytest.fixture
def team(tmp_path: Path, server: PostgresServer) -> Iterator[Team]:
    team = Team(tmp_path, server.address())
    with team.until:
        yield team


class Asking(threading.Thread):
    """All texts, while something happens."""

    def __init__(self, home: ServedEngine) -> None:
        super().__init__(daemon=True)
        self._home = home
        self.responses: dict[int, Response] = {}
        self.start()

    def run(self) -> None:
        for position, response in self._home.stream(
            [Request(prompt=Prompt.of(one)) for one in TEXTS]
        ):
            self.responses[position] = response

    @property
    def said(self) -> list[str]:
        self.join(60)
        return said_by([self.responses[position] for position in range(len(TEXTS))])


def test_the_second_home_starts_none_and_its_own_when_the_first_is_over(team: Team) -> None:
    first, second = (team.home("wait=0.02", concurrency=2) for _ in range(2))
    assert said_by(asked(first, "a")) == ["1234 a"]
    assert said_by(asked(second, "b")) == ["1234 b"]
    assert len(team.starts) == 1
    asking = Asking(second)
    until(lambda: len(asking.responses) > 10)
    assert len(team.starts) == 1
    first.close()
    assert asking.said == EXPECTED
    assert len(team.starts) == 2
    times = Counter(lines(team.folder / "asked"))
    assert sum(times.values()) <= 2 + len(TEXTS) + 2  # what the first had in hand


def test_who_starts_is_killed_and_who_waited_for_it_starts(team: Team) -> None:
    killed = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.resources.models.api.serving"),
            *(str(team.weights), str(team.said), *team.options, f"hangs={team.folder / 'hung'}"),
        ],
        env=os.environ | {"PYTHONPATH": str(Path.cwd()), "BENCH_DATABASE": team.address},
    )
    until(lambda: bool(team.starts))
    asking = Asking(team.home(f"hangs={team.folder / 'hung'}"))
    killed.kill()
    killed.wait()
    assert asking.said == EXPECTED
    assert len(team.starts) == 2


def test_an_owner_that_is_killed_leaves_nothing_behind_and_nothing_is_lost(team: Team) -> None:
    owner = team.process("wait=0.02")
    second = team.home("wait=0.02", concurrency=2)
    asking = Asking(second)
    until(lambda: len(asking.responses) > 10)
    (pid,) = map(int, team.starts)
    owner.send_signal(signal.SIGKILL)
    assert asking.said == EXPECTED
    assert not is_running(pid)
    assert len(team.starts) == 2


def test_a_database_that_is_started_anew_changes_nothing(
    team: Team, server: PostgresServer
) -> None:
    first, second = (team.home("wait=0.1", concurrency=2) for _ in range(2))
    asked(first, "a")
    asking = Asking(second)
    until(lambda: len(asking.responses) > 10)
    server.stop()
    server.start()
    assert asking.said == EXPECTED
    assert said_by(asked(second, "b")) == ["1234 b"]
    assert len(team.starts) == 1


def test_other_weights_and_another_command_have_servers_of_their_own(team: Team) -> None:
    assert said_by(asked(team.home(), "a")) == ["1234 a"]
    assert said_by(asked(team.home("flag=1"), "a")) == ["1234 a"]
    team.weights = write_checkpoint(team.folder / "run" / "other", b"4321")
    assert said_by(asked(team.home(), "a")) == ["4321 a"]
    assert len(team.starts) == 3


def test_homes_share_them_by_bench_toml(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_DATABASE", team.address)
    weights = write_checkpoint(team.folder / "runs" / "step-1")
    text = (
        '[storage]\ndatabase = "env:TEAM_DATABASE"\n'
        f'[checkpoints]\nfolders = ["{team.folder / "runs"}"]\nlike = "mine"\n'
        '[models.mine]\nkind = "server"\npath = "."\nreached_as = "127.0.0.1"\n'
        f"serve = '''{command(*team.options)}'''\n"
    )
    for suite in ("a", "b"):
        home = team.folder / suite
        home.mkdir()
        (home / "bench.toml").write_text(text, encoding="utf-8")
        models = Models(
            settings=SettingsResource(home=str(home)),
            image_store=ImageStore(folder=str(home / "i")),
        )
        team.until.callback(models.close)
        with models.open(f"step-1@{fingerprint(weights)}") as model:
            (response,) = model.response([Request(prompt=Prompt.of(suite))])
        assert response.text == f"1234 {suite}"
    assert len(team.starts) == 1


def test_only_where_they_answer_is_announced(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", "hidden-word")
    asked(team.home(api_key_env="TEAM_KEY"), "a")
    with psycopg.connect(team.address) as db:
        rows = db.execute("SELECT key FROM leases WHERE key LIKE 'server:%'").fetchall()
    assert rows
    for (key,) in rows:
        assert re.fullmatch(r"server:http://127\.0\.0\.1:\d+/v1", key)
