"""Two homes that name one store and one database: each shows what the other has made."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from bench_assets.core.schema.rows import LeaderboardRow
from bench_assets.report.building import make_report, parts
from bench_assets.workspace.maintain.removal import find_removable, remove
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.object_store import KEYS, make_bucket, moto
from tests.fakes.postgres_server import PostgresServer, postgres

pytestmark = pytest.mark.long

TABLES = ("codis/questions", "codis/predictions", "codis/scores", "codis/metrics")
_OF_TABLES = ("compare-", "origins-")
_numbers = count()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with moto() as running:
        yield running


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with postgres() as running:
        yield running


@pytest.fixture
def shared(endpoint: str, server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """A section ``[storage]`` of an empty bucket and an empty database."""
    import psycopg

    name = f"team{next(_numbers)}"
    with psycopg.connect(server.address(), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}")
    for variable, value in {**KEYS, "TEAM_DATABASE": server.address(name)}.items():
        monkeypatch.setenv(variable, value)
    bucket = make_bucket(endpoint, f"bucket-{name}")
    return (
        f'[storage]\nobjects = "{bucket}/team"\nendpoint = "{endpoint}"\n'
        'database = "env:TEAM_DATABASE"\n'
    )


def opened(home: Path, storage: str) -> Workbench:
    home.mkdir(exist_ok=True)
    (home / "bench.toml").write_text(storage, encoding="utf-8")
    return Workbench(load_settings(home), ["codis"])


def runs(bench: Workbench) -> int:
    return int(bench.instance.get_runs_count())


def board(bench: Workbench) -> list[LeaderboardRow]:
    bench.refresh_leaderboard()
    return bench.rows("leaderboard")


def reported(bench: Workbench) -> list[str]:
    """The data of the report: names, and digests of what is of tables alone.

    What checks said of them each home knows of its own runs.
    """
    every = parts(bench.rows("leaderboard"), bench.catalog, bench.settings, ["codis"])
    page = make_report(bench.settings, bench.tables, bench.catalog, every, print)
    names = sorted(file.name for file in (page.parent / "data").iterdir())
    return [one if one.startswith(_OF_TABLES) else one.partition(".")[0] for one in names]


def test_each_home_shows_what_the_other_made_and_makes_nothing_twice(
    shared: str, tmp_path: Path
) -> None:
    with opened(tmp_path / "a", shared) as a, opened(tmp_path / "b", shared) as b:
        with opened(tmp_path / "alone", "") as alone:
            for bench, model in ((a, "random"), (b, "most-frequent"), (alone, "random")):
                bench.refresh_questions("codis")
                bench.evaluate(["codis"], model)
            alone.evaluate(["codis"], "most-frequent")
            for table in TABLES:
                key = table.split("/")
                for model in alone.tables.partitions(key):
                    digest = alone.tables.digest(key, model)
                    assert a.tables.digest(key, model) == b.tables.digest(key, model) == digest
            assert board(a) == board(b) == board(alone)
        assert not list((tmp_path / "a" / "tables").rglob("*.parquet"))
        before = runs(a), runs(b)
        a.evaluate(["codis"], "most-frequent")
        b.evaluate(["codis"], "random")
        board(a)
        assert (runs(a), runs(b)) == before
        assert reported(a) == reported(b)
        names = [one.name for one in b.tables.export.list()]
        assert names == ["leaderboard.csv", "leaderboard.parquet"]
        gone = find_removable(b, "random")
        assert gone.megabytes > 0
        remove(b, gone, responses=False)
        assert a.tables.partitions(["codis", "metrics"]) == ["most-frequent"]
        a.evaluate(["codis"], "random")  # no note says any more that it was
        assert runs(a) == before[0] + 1
