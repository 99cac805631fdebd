"""What goes in the middle: a node, the daemon, the database, the object store. Nothing is lost."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count

import dagster as dg
import pytest

from bench_assets.bench.workbench import Workbench
from tests.cluster.team import Team, end, finished, made_of_models, over_models, team
from tests.ray_cluster import HEAD, OTHER

pytestmark = pytest.mark.long

SUITE = "codis"
_seeds = count(10)
_STARTED = (dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.SUCCESS)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with team(tmp_path_factory.mktemp("faults"), (SUITE,)) as started:
        yield started


def node_goes(cluster: Team, until: ExitStack) -> None:
    cluster.ray.kill(OTHER)
    until.callback(cluster.ray.start_other)


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
    until.enter_context(cluster.daemon(OTHER))


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
        cluster.train(next(_seeds), next(_seeds))
        until.enter_context(cluster.daemon())
        _wait_for_runs(a, before)
        fault(cluster, until)
        runs = finished(a, len(before) + 2)
        models = sorted({run.tags["dagster/partition"] for run in runs} - before)
        assert len(models) == 2
        for model in models:
            alone.add_models([model])
            alone.evaluate([SUITE], model)
        assert made_of_models(a) == made_of_models(alone)


def _wait_for_runs(bench: Workbench, before: set[str]) -> None:
    """Until a run over a new model says something."""
    until = time.monotonic() + 300
    while not any(
        run.status in _STARTED and run.tags["dagster/partition"] not in before
        for run in over_models(bench)
    ):
        assert time.monotonic() < until
        time.sleep(0.5)
