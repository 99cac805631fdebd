"""What goes in the middle: a node, the daemon, the database, the object store.

Nothing is lost, and nothing is asked twice but what a node that is gone was asking.
"""

import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count

import pytest

from tests.cluster.noting_server import WAIT
from tests.cluster.team import (
    AT_ONCE,
    PATIENCE,
    SERVED,
    Team,
    differing,
    end,
    finished,
    made_of_models,
    over_models,
    team,
)
from tests.fakes.ray_cluster import HEAD, OTHER

pytestmark = pytest.mark.long

SUITE = "codis"
_PREDICTIONS = "codis/predictions"
_seeds = count(10)
_FEW = 3 * AT_ONCE  # requests after which something goes


@pytest.fixture(scope="module", params=["ray", "slurm"])
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Team]:
    with team(tmp_path_factory.mktemp("faults"), (SUITE,), request.param, SERVED) as started:
        yield started


def node_goes(cluster: Team, until: ExitStack) -> None:
    cluster.machines.kill(OTHER)
    until.callback(cluster.machines.start_other)


def database_starts_anew(cluster: Team, until: ExitStack) -> None:
    cluster.server.stop()
    time.sleep(3)
    cluster.server.start()


def store_is_busy_for_a_minute(cluster: Team, until: ExitStack) -> None:
    cluster.store.away_for(60)


def daemon_is_killed(cluster: Team, until: ExitStack) -> None:
    end(cluster.daemons[-1])
    until.enter_context(cluster.daemon())


def second_daemon_comes(cluster: Team, until: ExitStack) -> None:
    second = until.enter_context(cluster.daemon(OTHER))
    until.callback(_lives, second)


def _lives(process: "subprocess.Popen[bytes]") -> None:
    """Make sure that it was there to the end: one that ends at once disturbs nobody."""
    assert process.poll() is None


@pytest.mark.parametrize(
    "fault",
    [
        node_goes,
        daemon_is_killed,
        second_daemon_comes,
        database_starts_anew,
        store_is_busy_for_a_minute,
    ],
)
def test_every_checkpoint_is_evaluated_whole(
    cluster: Team, fault: Callable[[Team, ExitStack], None]
) -> None:
    with (
        ExitStack() as until,
        cluster.opened(cluster.homes[HEAD]) as a,
        cluster.opened(cluster.alone) as alone,
    ):
        for bench in (a, alone):
            bench.refresh_questions(SUITE)
        before = {run.tags["dagster/partition"] for run in over_models(a)}
        n_before = len(cluster.requests())
        # The head has room for two runs: of three one is on the other node.
        n = 3 if fault is node_goes else 2
        cluster.train(*(next(_seeds) for _ in range(n)))
        until.enter_context(cluster.daemon())
        _await_requests(cluster, n_before, OTHER if fault is node_goes else "")
        there = {request.path for request in cluster.requests()[n_before:] if request.node == OTHER}
        fault(cluster, until)
        runs = finished(a, len(before) + n)
        models = sorted({run.tags["dagster/partition"] for run in runs} - before)
        assert len(models) == n
        sent = Counter((request.path, request.digest) for request in cluster.requests()[n_before:])
        assert len(sent) == n * len({row.prompt_sha256 for row in a.rows(_PREDICTIONS, models[0])})
        again = [path for (path, _), times in sent.items() for _ in range(times - 1)]
        assert set(again) <= (there if fault is node_goes else set())
        assert all(times <= AT_ONCE for times in Counter(again).values())
        for model in models:
            alone.add_models([model])
            alone.evaluate([SUITE], model)
        assert differing(made_of_models(a), made_of_models(alone)) == {}


def _await_requests(cluster: Team, n_before: int, node: str) -> None:
    """Until some requests came, on that node; and those before the last are written down."""
    until = time.monotonic() + PATIENCE
    while sum(node in request.node for request in cluster.requests()[n_before:]) < _FEW:
        assert time.monotonic() < until
        time.sleep(0.02)
    time.sleep(WAIT / 2)
