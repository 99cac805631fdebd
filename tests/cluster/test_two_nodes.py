"""Three checkpoints on two machines with shared stores: the same digits as on one machine."""

import os
from collections.abc import Iterator
from urllib.parse import quote

import dagster as dg
import pytest

from tests.cluster.team import Team, finished, made_of_models, team
from tests.object_store import KEYS
from tests.postgres_server import PASSWORD
from tests.ray_cluster import HEAD, OTHER

pytestmark = pytest.mark.long

SUITES = tuple(os.environ.get("BENCH_CLUSTER_SUITES", "codis").split())
"""``make cluster-check`` says which; each costs minutes of two cores."""

SECRETS = [KEYS["AWS_ACCESS_KEY_ID"], KEYS["AWS_SECRET_ACCESS_KEY"]]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with team(tmp_path_factory.mktemp("team"), SUITES) as started:
        yield started


def test_three_checkpoints_on_two_nodes_have_the_digits_of_one_machine(cluster: Team) -> None:
    cluster.train(1, 2, 3)
    with cluster.opened(cluster.homes[HEAD]) as a, cluster.opened(cluster.homes[OTHER]) as b:
        for suite in SUITES:
            a.refresh_questions(suite)
        with cluster.daemon():
            runs = finished(a, 3)
        assert {run.status for run in runs} == {dg.DagsterRunStatus.SUCCESS}
        assert {cluster.node_of(a, run) for run in runs} == {HEAD, OTHER}
        models = sorted({run.tags["dagster/partition"] for run in runs})
        with cluster.opened(cluster.alone) as alone:
            for suite in SUITES:
                alone.refresh_questions(suite)
            for model in models:
                alone.add_models([model])
                alone.evaluate(SUITES, model)
            expected = made_of_models(alone)
            assert len(expected) >= 3 * 3 * len(SUITES)
            assert made_of_models(a) == made_of_models(b) == expected
            boards = []
            for bench in (a, b, alone):
                bench.refresh_leaderboard()
                boards.append(bench.rows("leaderboard"))
            assert boards[0] == boards[1] == boards[2]
            assert {row.model for row in boards[0]} >= set(models)


def test_nothing_secret_is_told_to_ray(cluster: Team) -> None:
    with cluster.opened(cluster.homes[HEAD]) as a:
        for run in finished(a, 3):
            told = a.instance.run_launcher.get_run_worker_debug_info(run) or ""
            assert run.run_id in told
            for secret in (
                PASSWORD,
                quote(PASSWORD),
                *SECRETS,
                cluster.ray.variables["RAY_AUTH_TOKEN"],
            ):
                assert secret not in told
