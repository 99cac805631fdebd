"""A cluster with a token, and somebody who has another one, or none."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT
from tests.fakes.ray_cluster import RayCluster, ray_cluster

pytestmark = pytest.mark.long

# Ray reads its token once in a process.
_ASK = """
import sys
import dagster as dg
from bench_assets.core.schema.errors import BenchError
from bench_resources.cluster.ray_launcher import RayLauncher

def send():
    launcher = RayLauncher(sys.argv[1])
    with dg.DagsterInstance.ephemeral() as instance:
        launcher.register_instance(instance)
        launcher.get_run_worker_debug_info(dg.DagsterRun(job_name="j", run_id="r"))

try:
    send()
    print("is let in")
except BenchError as why:
    print(str(why))
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster() as started:
        yield started


@pytest.mark.parametrize(
    ("token", "message"),
    [
        pytest.param({}, "is let in", id="the right one"),
        pytest.param({"RAY_AUTH_TOKEN": "0" * 64}, "InvalidAuthToken", id="another one"),
        pytest.param(
            {"RAY_AUTH_TOKEN": "", "RAY_AUTH_MODE": ""}, "InvalidAuthToken", id="none",
        ),
        pytest.param(
            {"RAY_AUTH_TOKEN": ""}, "there is no RAY_AUTH_TOKEN, and no ",
            id="none, where one is wanted: Ray would end the process",
        ),
    ],
)  # fmt: skip
def test_who_lacks_the_token_gets_one_message(
    cluster: RayCluster, tmp_path: Path, token: dict[str, str], message: str
) -> None:
    given = {**os.environ, **cluster.variables, **token, "HOME": str(tmp_path)}
    process = subprocess.run(
        [sys.executable, "-c", _ASK, cluster.jobs_address],
        env={name: value for name, value in given.items() if value},
        cwd=CHECKOUT, capture_output=True, text=True, timeout=180, check=True,
    )  # fmt: skip
    (line,) = process.stdout.splitlines()
    assert message in line
    assert cluster.variables["RAY_AUTH_TOKEN"] not in line
    assert "Traceback" not in process.stderr
