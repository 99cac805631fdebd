"""A plain install does what docs/cluster.md says, typed from the page."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.docs.blocks import CHECKOUT, blocks
from tests.fakes.object_store import KEYS, make_bucket, moto
from tests.fakes.plain_install import environment_of, plain_install
from tests.fakes.postgres_server import postgres

pytestmark = pytest.mark.long
STEPS = (
    (CHECKOUT / "docs" / "cluster.md").read_text().partition("## Steps")[2].partition("\n## ")[0]
)


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    return plain_install(tmp_path_factory.mktemp("plain"))


def typed(line: str, folder: Path, environment: dict[str, str]) -> str:
    ran = subprocess.run(
        line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{line}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def test_two_homes_share_what_the_page_says(commands, tmp_path):
    export, database, migrate, objects, cluster = (block.text for block in blocks(STEPS))
    with postgres() as server, moto() as endpoint:
        variable = export.split()[1].partition("=")[0]
        environment = environment_of(commands, **KEYS, **{variable: server.address()})
        homes = [tmp_path / "one", tmp_path / "two"]
        for home in homes:
            home.mkdir()
        here = [{**environment, "BENCH_HOME": str(home)} for home in homes]
        typed("bench evaluate codis --model random", tmp_path, here[0])

        (homes[0] / "bench.toml").write_text(database)
        typed(migrate, tmp_path, here[0])
        bucket = make_bucket(endpoint, "bucket")
        shared = objects.replace("s3://bucket", bucket) + f'endpoint = "{endpoint}"\n'
        for home in homes:
            (home / "bench.toml").write_text(shared)
        typed("bench evaluate codis --model random", tmp_path, here[0])
        assert 'launcher = "ray"' in cluster  # the last step, which tests of two nodes take

        rows = [typed("bench leaderboard --json", tmp_path, one) for one in here]
        assert rows[0] == rows[1]
        assert "random" in [json.loads(line)["model"] for line in rows[1].splitlines()]
        files = [file for home in homes for file in home.rglob("*") if file.is_file()]
        assert len(files) > 20
        secret = server.address().encode()
        assert [file for file in files if secret in file.read_bytes()] == []


def test_the_page_installs_what_its_test_has():
    line = next(line for line in STEPS.splitlines() if "pip install" in line)
    assert shlex.split(line.split("`")[1]) == ["pip", "install", "bench-assets[cluster]"]
