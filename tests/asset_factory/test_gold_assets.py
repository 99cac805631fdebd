import subprocess
import sys
import time

import dagster as dg
import pytest

from bench_assets.core.gold.proposals import DecidedProposal
from bench_assets.workspace.evaluate.dry_run import dry_run
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.chat_server import Answer, ChatServer
from tests.suites.multi.bench import Bench

PROPOSALS = dg.AssetSelection.assets(["multi", "proposals"])
SCRIPT = """
import sys
from pathlib import Path
from tests.asset_factory.test_gold_assets import Bench, PROPOSALS
Bench(Path(sys.argv[1])).build(PROPOSALS)
"""
N_REQUESTS = 8  # proposals of the mini edition that no reviewer requested
N_ANSWERED = N_REQUESTS + 3  # all to x, and three to y


def write_home(folder, server):
    """Write a home with the solvers x and y, which send one request at a time."""
    folder.mkdir()
    models = "".join(
        f'[models.{name}]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "{name}"\n'
        "concurrency = 1\n"
        for name in ("x", "y")
    )
    (folder / "bench.toml").write_text(f'{models}[suites.multi]\nsolvers = ["x", "y"]\n')
    return folder


def request_texts(bodies):
    return [(body["model"], str(body["messages"])) for body in bodies]


@pytest.mark.long
def test_no_answered_request_to_a_solver_is_repeated_after_a_kill(tmp_path):
    with ChatServer(
        lambda _: Answer(text="#### A", wait=60 if server.n_requests > N_ANSWERED else 0)
    ) as server:
        home = write_home(tmp_path / "home", server)
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(home)])
        try:
            deadline = time.monotonic() + 120
            while server.n_requests <= N_ANSWERED:
                assert process.poll() is None, "the build ended early"
                assert time.monotonic() < deadline, "too few requests"
                time.sleep(0.1)
            time.sleep(2)  # until answered requests are written
        finally:
            process.kill()
            process.wait()
        answered = request_texts(server.bodies)[:N_ANSWERED]
    with ChatServer("#### A", port=server.port) as restarted:
        bench = Bench(home)
        bench.build(PROPOSALS)
        assert not {*answered} & {*request_texts(restarted.bodies)}
        assert len(restarted.bodies) == 2 * N_REQUESTS - len(answered)
        bench.build(PROPOSALS)
        assert len(restarted.bodies) == 2 * N_REQUESTS - len(answered)
    rows = [row for row in bench.read(DecidedProposal, "proposals") if not row.requested_by]
    assert {row.solvers for row in rows} == {("x", "y")}


def solver_rows(home):
    """Rows of a dry run about requests to solvers."""
    with Workbench(load_settings(home), ["multi"]) as bench:
        return [row for row in dry_run(bench, ["multi"], "random") if row.asked == "solver"]


@pytest.mark.long
def test_a_dry_run_counts_the_requests_of_solvers(tmp_path):
    with ChatServer("#### A") as server:
        home = write_home(tmp_path / "home", server)
        Bench(home).build(dg.AssetSelection.assets(["multi", "questions"]))
        assert [(row.task, row.model, row.requests, row.cached) for row in solver_rows(home)] == [
            ("multi/proposals", "x", N_REQUESTS, N_REQUESTS),
            ("multi/proposals", "y", N_REQUESTS, N_REQUESTS),
        ]
        toml = (home / "bench.toml").read_text()
        (home / "bench.toml").write_text(toml.replace('model = "y"', 'model = "z"'))
        assert [(row.model, row.requests, row.cached) for row in solver_rows(home)] == [
            ("x", N_REQUESTS, N_REQUESTS),
            ("y", N_REQUESTS, 0),
        ]
        assert server.n_requests == 2 * N_REQUESTS
