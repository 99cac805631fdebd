"""Three checkpoints on two machines with shared stores: the same digits as on one machine."""

import os
from collections.abc import Iterator
from urllib.parse import quote

import dagster as dg
import pytest

from tests.cluster.team import (
    Team,
    all_ended,
    differing,
    finished,
    made_of_models,
    made_of_sources,
    team,
)
from tests.fakes.object_store import KEYS
from tests.fakes.postgres_server import PASSWORD
from tests.fakes.ray_cluster import HEAD, OTHER

pytestmark = pytest.mark.long

_ALL = "codis blink multi cogbench journeybench"
SUITES = tuple(os.environ.get("BENCH_CLUSTER_SUITES", _ALL).split())
"""Each costs minutes of two cores."""

SECRETS = [KEYS["AWS_ACCESS_KEY_ID"], KEYS["AWS_SECRET_ACCESS_KEY"]]


@pytest.fixture(scope="module", params=["ray", "slurm"])
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Team]:
    suites = SUITES if request.param == "ray" else SUITES[:1]  # the same path, minutes less
    with team(tmp_path_factory.mktemp("team"), suites, request.param) as started:
        yield started


def test_three_checkpoints_on_two_nodes_have_the_digits_of_one_machine(cluster: Team) -> None:
    cluster.train(1, 2, 3)
    with cluster.opened(cluster.homes[HEAD]) as a, cluster.opened(cluster.homes[OTHER]) as b:
        for suite in cluster.suites:
            a.refresh_questions(suite)
        with cluster.daemon():
            runs = finished(a, 3)
            all_ended(a)
        assert {run.status for run in runs} == {dg.DagsterRunStatus.SUCCESS}
        assert {cluster.node_of(a, run) for run in runs} == {HEAD, OTHER}
        models = sorted({run.tags["dagster/partition"] for run in runs})
        with cluster.opened(cluster.alone) as alone:
            for suite in cluster.suites:
                alone.refresh_questions(suite)
            for model in models:
                alone.add_models([model])
                alone.evaluate(cluster.suites, model)
            expected = made_of_models(alone)
            assert len(expected) >= 3 * 3 * len(cluster.suites)
            assert {name.split("/")[0] for name, _ in expected} == set(cluster.suites)
            sources = made_of_sources(alone, cluster.suites)
            assert len(sources) >= 10 * len(cluster.suites)
            for bench in (a, b):
                assert differing(made_of_models(bench), expected) == {}
                assert differing(made_of_sources(bench, cluster.suites), sources) == {}
            boards = []
            for bench in (a, b, alone):
                bench.refresh_leaderboard()
                boards.append([repr(row) for row in bench.rows("leaderboard")])
            assert boards[0] == boards[1] == boards[2]
            assert {row.model for row in alone.rows("leaderboard")} >= set(models)


def test_nothing_secret_is_passed_to_what_starts_runs(cluster: Team) -> None:
    with cluster.opened(cluster.homes[HEAD]) as a:
        for run in finished(a, 3):
            debug_info = a.instance.run_launcher.get_run_worker_debug_info(run) or ""
            assert run.run_id in debug_info
            for secret in (
                PASSWORD,
                quote(PASSWORD),
                *SECRETS,
                *filter(None, [cluster.machines.variables.get("RAY_AUTH_TOKEN")]),
            ):
                assert secret not in debug_info
