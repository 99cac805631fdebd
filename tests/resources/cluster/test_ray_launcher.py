import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

import bench_resources.cluster.ray_launcher as ray_launcher_module
from bench_resources.runs.orphaned_runs import end_orphaned_runs
from tests.conftest import CHECKOUT
from tests.fakes.ray_cluster import HEAD, OTHER, RayCluster, ray_cluster
from tests.resources.runs.sending import Launch, instance_of, ray_launcher, sending, wait_for_end

pytestmark = pytest.mark.long

# Ray reads its token once in a process.
_CONNECT = """
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
    print("is accepted")
except BenchError as why:
    print(str(why))
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster() as started:
        yield started


@pytest.fixture(scope="module")
def instance(tmp_path_factory, cluster):
    home = tmp_path_factory.mktemp("home")
    (home / "bench.toml").write_text(
        '[models.tiny]\nkind = "transformers"\npath = "/proc/self/cwd/models"\ndevice = "cpu"\n'
        "needs = { node_b = 0.5 }\n"
    )
    with instance_of(home, ray_launcher(cluster.jobs_address)) as instance:
        yield instance


@pytest.fixture(scope="module")
def send(instance: dg.DagsterInstance) -> Iterator[Launch]:
    with sending(instance) as launch:
        yield launch


def messages_of(instance: dg.DagsterInstance, run_id: str) -> str:
    return "\n".join(event.user_message or event.message for event in instance.all_logs(run_id))


def test_a_run_has_the_resources_of_its_model_and_shows_no_token(instance, send, cluster):
    (cluster.folder_of(HEAD) / "models").mkdir()
    (cluster.folder_of(OTHER) / "models").mkdir()
    run_id = send({"dagster/partition": "tiny"})
    run = wait_for_end(instance, run_id, 90)
    assert run.status == dg.DagsterRunStatus.SUCCESS, messages_of(instance, run_id)
    assert json.loads(run.tags["dagster-ray/config"]) == {
        "num_cpus": 1,
        "resources": {"node_b": 0.5},
    }
    assert f"made on {OTHER}" in messages_of(instance, run_id)
    debug_info = instance.run_launcher.get_run_worker_debug_info(run)
    assert debug_info
    assert run_id in debug_info
    assert cluster.variables["RAY_AUTH_TOKEN"] not in debug_info


def test_a_run_starts_when_an_earlier_one_frees_its_node(instance, send):
    whole_node = {"dagster-ray/config": '{"num_cpus": 1, "resources": {"node_b": 1}}'}
    first = send({**whole_node, "seconds": "300"})
    _wait_for_asset(instance, first)
    second = send(whole_node)
    time.sleep(75)  # more than a minute, and several checks
    waiting = instance.get_run_by_id(second)
    assert waiting
    assert waiting.status == dg.DagsterRunStatus.STARTING
    assert instance.run_launcher.terminate(first)
    assert wait_for_end(instance, second, 90).status == dg.DagsterRunStatus.SUCCESS


def test_a_run_whose_job_ends_before_the_run_starts_fails(
    instance: dg.DagsterInstance, send: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The job is a program that fails, as a missing Python would.
    monkeypatch.setattr(ray_launcher_module, "_quote_entrypoint", lambda _: "false")
    run_id = send()
    deadline = time.monotonic() + 90
    ended = end_orphaned_runs(instance)
    while not ended:
        assert time.monotonic() < deadline
        time.sleep(0.5)
        ended = end_orphaned_runs(instance)
    assert ended == [f"run {run_id[:8]}"]
    assert wait_for_end(instance, run_id, 5).status == dg.DagsterRunStatus.FAILURE


def test_a_running_run_is_terminated_on_its_node(instance, send):
    run_id = send({"seconds": "300"})
    _wait_for_asset(instance, run_id)
    run = instance.get_run_by_id(run_id)
    assert run
    assert instance.run_launcher.check_run_worker_health(run).status.value == "RUNNING"
    assert instance.run_launcher.terminate(run_id)
    assert wait_for_end(instance, run_id, 60).status == dg.DagsterRunStatus.CANCELED


def _wait_for_asset(instance: dg.DagsterInstance, run_id: str) -> None:
    """Wait until a run logs the node on which its asset is made."""
    deadline = time.monotonic() + 90
    while "made on" not in messages_of(instance, run_id):
        assert time.monotonic() < deadline
        time.sleep(0.5)


@pytest.mark.parametrize(
    ("token", "message"),
    [
        pytest.param({}, "is accepted", id="the right one"),
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
def test_a_client_is_accepted_with_the_token_and_else_gets_one_message(
    cluster: RayCluster, tmp_path: Path, token: dict[str, str], message: str
) -> None:
    variables = {**os.environ, **cluster.variables, **token, "HOME": str(tmp_path)}
    process = subprocess.run(
        [sys.executable, "-c", _CONNECT, cluster.jobs_address],
        env={name: value for name, value in variables.items() if value},
        cwd=CHECKOUT, capture_output=True, text=True, timeout=180, check=True,
    )  # fmt: skip
    (line,) = process.stdout.splitlines()
    assert message in line
    assert cluster.variables["RAY_AUTH_TOKEN"] not in line
    assert "Traceback" not in process.stderr
