import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.instance.ref import InstanceRef
from dagster._serdes import deserialize_value, serialize_value

from bench_assets.core.schema.errors import HomeError, SettingsError
from bench_assets.workspace.materialization.dagster_instance import open_instance
from tests.conftest import CHECKOUT
from tests.fakes.postgres_server import PASSWORD, PostgresServer, postgres
from tests.resources.redaction.test_records import KEY, TOKEN, leaking_asset

psycopg = pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
pytest.importorskip("dagster_postgres", reason="make cluster-check installs dagster-postgres")
pytestmark = pytest.mark.long

SHARED = '[storage]\ndatabase = "env:TEAM_DATABASE"\nobjects = "file://{}"\n'
MODEL = '[models.m]\nkind = "server"\nbase_url = "http://127.0.0.1:9"\nmodel = "m"\n'


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresServer]:
    with postgres() as running:
        monkeypatch.setenv("TEAM_DATABASE", running.address())
        yield running


def write_home(folder: Path, sections: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "bench.toml").write_text(SHARED.format(folder.parent / "objects") + sections)
    return folder


def database_text(server: PostgresServer) -> str:
    """All cells of all tables of Dagster."""
    with psycopg.connect(server.address()) as db:
        tables = db.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        ).fetchall()
        rows = [row for (name,) in tables for row in db.execute(f'SELECT * FROM "{name}"')]
    cells = [cell for row in rows for cell in row]
    return repr([bytes(cell) if isinstance(cell, memoryview) else cell for cell in cells])


def test_no_secret_is_stored_in_the_database(tmp_path, server, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    home = write_home(tmp_path / "home", f'{MODEL}api_key_env = "MY_KEY"\n')
    with open_instance(home) as instance:
        result = dg.materialize([leaking_asset], instance=instance, raise_on_error=False)
        assert instance.get_run_by_id(result.run_id)
    records = database_text(server)
    assert "with ***" in records
    assert "no response with ***" in records
    assert [secret for secret in (KEY, TOKEN, PASSWORD) if secret in records] == []
    assert not list(home.rglob("*.db"))


OPEN_BY_REFERENCE = """
import sys
from dagster import DagsterInstance
from dagster._core.instance.ref import InstanceRef
from dagster._serdes import deserialize_value
ref = deserialize_value(sys.stdin.read(), InstanceRef)
with DagsterInstance.from_ref(ref) as instance:
    print(instance.root_directory)
    print(",".join(run.run_id for run in instance.get_runs()))
"""


def test_another_machine_opens_the_instance_by_a_reference(tmp_path, server):
    home, elsewhere = write_home(tmp_path / "home"), tmp_path / "elsewhere"
    with open_instance(home) as instance:
        run = dg.materialize([dg.asset(lambda: None, name="a")], instance=instance)
        reference = serialize_value(instance.get_ref())
    config = (home / "dagster" / "dagster.yaml").read_text()
    for text in (reference, config):
        assert "TEAM_DATABASE" in text
        assert "127.0.0.1" not in text
        assert PASSWORD not in text
        assert "pa%2Fss" not in text  # the password in an address
    process = subprocess.run(
        [sys.executable, "-c", OPEN_BY_REFERENCE],
        input=reference, capture_output=True, text=True, check=False, cwd=CHECKOUT,
        env={**os.environ, "BENCH_HOME": str(elsewhere), "PYTHONPATH": str(CHECKOUT)},
    )  # fmt: skip
    assert process.stdout.split() == [str(elsewhere / "dagster"), run.run_id], process.stderr
    assert deserialize_value(reference, InstanceRef).settings == json.loads(reference)["settings"]


def test_many_homes_open_an_empty_database_at_once(tmp_path: Path, server: PostgresServer) -> None:
    homes = [write_home(tmp_path / f"home{n}") for n in range(6)]

    def add_model_and_list_pools(home: Path) -> list[str]:
        with open_instance(home) as instance:
            instance.add_dynamic_partitions("model", [home.name])
            return sorted(pool.name for pool in instance.event_log_storage.get_pool_limits())

    with ThreadPoolExecutor(6) as threads:
        pools_of_homes = list(threads.map(add_model_and_list_pools, homes))
    assert pools_of_homes == [["gpu", "judge", "server"]] * 6
    with open_instance(homes[0]) as instance:
        models = sorted(instance.get_dynamic_partitions("model"))
    assert models == [home.name for home in homes]


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("nowhere at all", SettingsError, "TEAM_DATABASE: not the address"),
        ("postgresql://bench:wrong@127.0.0.1:{port}/postgres", HomeError, "authentication failed"),
        ("postgresql://bench@127.0.0.1:{port}/nowhere", HomeError, "no password supplied"),
    ],
)
def test_a_database_that_cannot_be_used_is_reported_at_once(
    tmp_path, server, monkeypatch, address, error, message
):
    monkeypatch.setenv("TEAM_DATABASE", address.format(port=server.port))
    started_at = time.monotonic()
    with pytest.raises(error, match=message) as raised:
        open_instance(write_home(tmp_path / "home")).dispose()
    assert "wrong" not in str(raised.value)  # the password
    assert time.monotonic() - started_at < 9  # less than the time limit of a connection


def test_an_address_may_be_in_the_key_value_format_of_libpq(tmp_path, server, monkeypatch):
    address = f"host=127.0.0.1 port={server.port} user=bench dbname=postgres"
    monkeypatch.setenv("TEAM_DATABASE", address)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with open_instance(write_home(tmp_path / "home")) as instance:
        assert list(instance.get_runs()) == []
