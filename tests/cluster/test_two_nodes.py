import os
from urllib.parse import quote

import pytest

from tests.cluster.team import (
    Team,
    differences,
    model_tables,
    source_tables,
    team,
    wait_for_all_runs,
    wait_for_runs,
)
from tests.fakes.object_store import KEYS
from tests.fakes.postgres_server import PASSWORD
from tests.fakes.ray_cluster import HEAD, OTHER

pytestmark = pytest.mark.long

_ALL = "codis blink multi cogbench journeybench"  # minutes of two cores each
SUITES = tuple(os.environ.get("BENCH_CLUSTER_SUITES", _ALL).split())

SECRETS = [KEYS["AWS_ACCESS_KEY_ID"], KEYS["AWS_SECRET_ACCESS_KEY"]]


@pytest.fixture(scope="module", params=["ray", "slurm"])
def cluster(request, tmp_path_factory):
    suites = SUITES if request.param == "ray" else SUITES[:1]  # the same path, minutes less
    with team(tmp_path_factory.mktemp("team"), suites, request.param) as started:
        yield started


@pytest.fixture(scope="module")
def models(cluster: Team) -> list[str]:
    """The models of three checkpoints that the cluster evaluated, and then the home alone."""
    cluster.train(1, 2, 3)
    with cluster.open(cluster.homes[HEAD]) as bench:
        for suite in cluster.suites:
            bench.refresh_questions(suite)
        with cluster.daemon():
            runs = wait_for_runs(bench, 3)
            wait_for_all_runs(bench)
        assert {cluster.node_of(bench, run) for run in runs} == {HEAD, OTHER}
    names = sorted({run.tags["dagster/partition"] for run in runs})
    with cluster.open(cluster.alone) as bench:
        for suite in cluster.suites:
            bench.refresh_questions(suite)
        for name in names:
            bench.add_models([name])
            bench.evaluate(cluster.suites, name)
    return names


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("node", [HEAD, OTHER])
def test_tables_of_models_have_the_digits_of_one_machine(cluster: Team, node: str) -> None:
    with cluster.open(cluster.alone) as alone, cluster.open(cluster.homes[node]) as bench:
        expected = model_tables(alone)
        # Predictions, scores and metrics of three models, at least.
        assert len(expected) >= 3 * 3 * len(cluster.suites)
        assert {name.split("/")[0] for name, _ in expected} == set(cluster.suites)
        assert differences(model_tables(bench), expected) == {}


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("node", [HEAD, OTHER])
def test_tables_of_sources_have_the_digits_of_one_machine(cluster: Team, node: str) -> None:
    with cluster.open(cluster.alone) as alone, cluster.open(cluster.homes[node]) as bench:
        expected = source_tables(alone, cluster.suites)
        assert len(expected) >= 10 * len(cluster.suites)
        assert differences(source_tables(bench, cluster.suites), expected) == {}


def test_both_nodes_have_the_leaderboard_of_one_machine(cluster: Team, models: list[str]) -> None:
    leaderboards = {}
    for home in (cluster.alone, *cluster.homes.values()):
        with cluster.open(home) as bench:
            bench.refresh_leaderboard()
            leaderboards[home] = [repr(row) for row in bench.rows("leaderboard")]
    with cluster.open(cluster.alone) as alone:
        assert {row.model for row in alone.rows("leaderboard")} >= set(models)
    for home in cluster.homes.values():
        assert leaderboards[home] == leaderboards[cluster.alone]


@pytest.mark.usefixtures("models")
def test_the_description_of_a_run_contains_no_secret(cluster: Team) -> None:
    secrets = [PASSWORD, quote(PASSWORD), *SECRETS]
    if token := cluster.machines.variables.get("RAY_AUTH_TOKEN"):
        secrets.append(token)
    with cluster.open(cluster.homes[HEAD]) as bench:
        for run in wait_for_runs(bench, 3):
            debug_info = bench.instance.run_launcher.get_run_worker_debug_info(run) or ""
            assert run.run_id in debug_info
            assert [secret for secret in secrets if secret in debug_info] == []
