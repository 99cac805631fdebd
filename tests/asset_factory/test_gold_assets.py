"""Solvers are asked once each, also after a kill in the middle, and counted beforehand."""

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
N_REQUESTS = 8  # keys of the mini edition that nobody requested


def configured(folder, server):
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
def test_a_kill_in_the_middle_asks_no_solver_twice(tmp_path):
    with ChatServer(
        lambda _: Answer(text="#### A", wait=60 if server.n_requests > 11 else 0)
    ) as server:
        home = configured(tmp_path / "home", server)
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(home)])
        try:
            end = time.monotonic() + 120
            while server.n_requests < 12:
                assert process.poll() is None and time.monotonic() < end, "nobody was asked"  # noqa: PT018
                time.sleep(0.1)
            time.sleep(2)  # until what was answered is written
        finally:
            process.kill()
            process.wait()
        before = request_texts(server.bodies)[:11]  # answered: all keys by x, and three by y
    with ChatServer("#### A", port=server.port) as again:
        bench = Bench(home)
        bench.build(PROPOSALS)
        assert not {*before} & {*request_texts(again.bodies)}
        assert len(again.bodies) == 2 * N_REQUESTS - len(before)
        bench.build(PROPOSALS)
        assert len(again.bodies) == 2 * N_REQUESTS - len(before)
    rows = [row for row in bench.read(DecidedProposal, "proposals") if not row.requested_by]
    assert {row.solvers for row in rows} == {("x", "y")}


@pytest.mark.long
def test_a_dry_run_counts_the_requests_of_solvers(tmp_path):
    with ChatServer("#### A") as server:
        home = configured(tmp_path / "home", server)
        Bench(home).build(dg.AssetSelection.assets(["multi", "questions"]))
        with Workbench(load_settings(home), ["multi"]) as bench:
            rows = [row for row in dry_run(bench, ["multi"], "random") if row.asked == "solver"]
        assert [(row.task, row.model, row.requests, row.cached) for row in rows] == [
            ("multi/proposals", "x", N_REQUESTS, N_REQUESTS),
            ("multi/proposals", "y", N_REQUESTS, N_REQUESTS),
        ]
        (home / "bench.toml").write_text(
            (home / "bench.toml").read_text().replace('model = "y"', 'model = "z"')
        )
        with Workbench(load_settings(home), ["multi"]) as bench:
            *_, row = [one for one in dry_run(bench, ["multi"], "random") if one.asked == "solver"]
        assert (row.model, row.requests, row.cached) == ("y", N_REQUESTS, 0)
        assert server.n_requests == 2 * N_REQUESTS
