"""Faults during evaluations: of a node, the daemon, the database, the object store.

No response is lost, and only the requests of a killed node are sent again.
"""

import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count

import pytest

from tests.cluster.noting_server import WAIT
from tests.cluster.team import (
    CONCURRENCY,
    SERVED,
    TIMEOUT,
    Team,
    differences,
    end,
    model_runs,
    model_tables,
    team,
    wait_for_runs,
)
from tests.fakes.ray_cluster import HEAD, OTHER

pytestmark = pytest.mark.long

SUITE = "codis"
_PREDICTIONS = "codis/predictions"
_seeds = count(10)  # of checkpoints: none is evaluated twice
_N_REQUESTS = 3 * CONCURRENCY  # after which a fault happens


@pytest.fixture(scope="module", params=["ray", "slurm"])
def cluster(request, tmp_path_factory):
    with team(tmp_path_factory.mktemp("faults"), (SUITE,), request.param, SERVED) as started:
        yield started


def kill_node(cluster: Team, stack: ExitStack) -> None:
    cluster.machines.kill(OTHER)
    stack.callback(cluster.machines.start_other)


def restart_database(cluster: Team, stack: ExitStack) -> None:
    cluster.server.stop()
    time.sleep(3)
    cluster.server.start()


def make_store_busy(cluster: Team, stack: ExitStack) -> None:
    cluster.store.away_for(60)


def replace_daemon(cluster: Team, stack: ExitStack) -> None:
    end(cluster.daemons[-1])
    stack.enter_context(cluster.daemon())


def start_second_daemon(cluster: Team, stack: ExitStack) -> None:
    second = stack.enter_context(cluster.daemon(OTHER))
    stack.callback(_require_running, second)


def _require_running(process: "subprocess.Popen[bytes]") -> None:
    """Require that a daemon runs to the end, as one that ends at once disturbs nobody."""
    assert process.poll() is None


@pytest.mark.parametrize(
    "fault", [kill_node, replace_daemon, start_second_daemon, restart_database, make_store_busy]
)
def test_every_checkpoint_is_evaluated_completely_after_a_fault(
    cluster: Team, fault: Callable[[Team, ExitStack], None]
) -> None:
    # The head has room for two runs: of three one is on the other node.
    n_checkpoints, node = (3, OTHER) if fault is kill_node else (2, "")
    with (
        ExitStack() as stack,
        cluster.open(cluster.homes[HEAD]) as bench,
        cluster.open(cluster.alone) as alone,
    ):
        bench.refresh_questions(SUITE)
        alone.refresh_questions(SUITE)
        earlier_models = {run.tags["dagster/partition"] for run in model_runs(bench)}
        n_before = len(cluster.requests())

        cluster.train(*(next(_seeds) for _ in range(n_checkpoints)))
        stack.enter_context(cluster.daemon())
        _await_requests(cluster, n_before, node)
        requests = cluster.requests()[n_before:]
        killed_paths = {request.path for request in requests if request.node == node}
        fault(cluster, stack)
        runs = wait_for_runs(bench, len(earlier_models) + n_checkpoints)

        models = sorted({run.tags["dagster/partition"] for run in runs} - earlier_models)
        assert len(models) == n_checkpoints
        prompts = {row.prompt_sha256 for row in bench.rows(_PREDICTIONS, models[0])}
        requests = cluster.requests()[n_before:]
        n_sent = Counter((request.path, request.digest) for request in requests)
        assert len(n_sent) == n_checkpoints * len(prompts)
        n_repeated: Counter[str] = Counter()
        for (path, _), n in n_sent.items():
            if n > 1:
                n_repeated[path] += n - 1
        assert n_repeated.keys() <= killed_paths
        assert all(n <= CONCURRENCY for n in n_repeated.values())
        for model in models:
            alone.add_models([model])
            alone.evaluate([SUITE], model)
        assert differences(model_tables(bench), model_tables(alone)) == {}


def _await_requests(cluster: Team, n_before: int, node: str) -> None:
    """Wait until a node, or any, received some requests, and all but the last were answered."""
    deadline = time.monotonic() + TIMEOUT
    while sum(node in request.node for request in cluster.requests()[n_before:]) < _N_REQUESTS:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(WAIT / 2)
