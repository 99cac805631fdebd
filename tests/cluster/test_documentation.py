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


def run_command(line: str, folder: Path, environment: dict[str, str]) -> str:
    process = subprocess.run(
        line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, f"{line}\n{process.stdout}\n{process.stderr}"
    return process.stdout


def test_two_homes_share_their_results_by_the_steps_of_the_page(commands, tmp_path):
    export, database, migrate, objects, cluster = (block.text for block in blocks(STEPS))
    assert 'launcher = "ray"' in cluster  # the last step, which the tests of two nodes take
    evaluate = "bench evaluate codis --model random"
    with postgres() as server, moto() as endpoint:
        variable = export.split()[1].partition("=")[0]
        shared = environment_of(commands, **KEYS, **{variable: server.address()})
        first, second = tmp_path / "one", tmp_path / "two"
        first.mkdir()
        second.mkdir()
        first_environment = {**shared, "BENCH_HOME": str(first)}
        second_environment = {**shared, "BENCH_HOME": str(second)}
        run_command(evaluate, tmp_path, first_environment)

        (first / "bench.toml").write_text(database)
        run_command(migrate, tmp_path, first_environment)
        bucket = make_bucket(endpoint, "bucket")
        settings = objects.replace("s3://bucket", bucket) + f'endpoint = "{endpoint}"\n'
        for home in (first, second):
            (home / "bench.toml").write_text(settings)
        run_command(evaluate, tmp_path, first_environment)

        leaderboard = run_command("bench leaderboard --json", tmp_path, second_environment)
        assert "random" in [json.loads(line)["model"] for line in leaderboard.splitlines()]
        assert leaderboard == run_command("bench leaderboard --json", tmp_path, first_environment)
        files = [file for home in (first, second) for file in home.rglob("*") if file.is_file()]
        assert len(files) > 20
        secret = server.address().encode()
        assert [file for file in files if secret in file.read_bytes()] == []


def test_the_page_installs_the_extra_for_clusters():
    line = next(line for line in STEPS.splitlines() if "pip install" in line)
    assert shlex.split(line.split("`")[1]) == ["pip", "install", "bench-assets[cluster]"]
