"""Ctrl-C and its relatives: a sentence the first time, an end at once the second."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.workspace.materialization.dagster_instance import AssetRun
from bench_resources.storage.process_identity import start_ticks
from tests.fakes.chat_server import ChatServer
from tests.fakes.codis_release import entries, write_release

COMMAND = """
import multiprocessing, signal, time, typer
from bench_assets.cli.app.command_context import error_reporting

def first():
    with error_reporting():
        print("ready", flush=True)
        time.sleep(60)

def step():
    with error_reporting():  # as Dagster has it around a step
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
        print("ready", flush=True)
        time.sleep(60)

def stubborn():
    with error_reporting():
        child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
        child.start()
        while True:
            try:
                print(child.pid, flush=True)
                time.sleep(60)
            except KeyboardInterrupt:
                pass

app = typer.Typer()
app.command()(NAME)
app()
"""
KEPT = "finished tables and received responses are kept; run the same command again to continue"


def started(name, **more):
    command = [sys.executable, "-c", COMMAND.replace("NAME", name)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, **more)


def ended(process):
    _, stderr = process.communicate(timeout=60)
    return process.returncode, stderr.strip()


@pytest.mark.parametrize(
    ("number", "code", "name"),
    [
        (signal.SIGINT, 130, "Ctrl-C"),
        pytest.param(signal.SIGTERM, 143, "SIGTERM", marks=pytest.mark.long),  # again below
        pytest.param(signal.SIGHUP, 129, "SIGHUP", marks=pytest.mark.long),
    ],
)
def test_a_signal_ends_a_command_with_a_sentence(number, code, name):
    process = started("first")
    process.stdout.readline()
    process.send_signal(number)
    assert ended(process) == (code, f"stopped by {name}: {KEPT}")


def test_the_second_signal_ends_it_at_once_with_what_it_started():
    process = started("stubborn")
    child = int(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    assert int(process.stdout.readline()) == child
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, f"ended at once; {KEPT}")
    end = time.monotonic() + 10
    while start_ticks(child) is not None:
        assert time.monotonic() < end, "the child still runs"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("number", "command"), [(signal.SIGHUP, "first"), (signal.SIGINT, "step")], ids=["nohup", "&"]
)
def test_what_is_to_be_ignored_stays_ignored(number, command):
    process = started(command, preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
    process.stdout.readline()
    process.send_signal(number)
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (143, f"stopped by SIGTERM: {KEPT}")


@pytest.fixture
def home(tmp_path):
    write_release(tmp_path / "codis", entries()[:40])
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def bench(home, server, *arguments, model="m"):
    (home / "bench.toml").write_text(
        '[sources]\ncodis = "../codis"\n[suites.codis]\njudge = "rules"\n'
        f'[models.m]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "m"\n'
    )
    command = [Path(sys.executable).parent / "bench", *arguments]
    environment = {**os.environ, "BENCH_HOME": str(home)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.long
def test_a_run_is_stopped_inside_a_step_and_the_next_model_is_not_begun(home):
    with ChatServer("A", latency=0.5) as server:
        process = bench(
            home, server, "evaluate", "codis", "--model", "m", "--model", "random", "--keep-going"
        )
        while server.n_requests < 20 and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        code, stderr = ended(process)
    *_, stopped, summary = stderr.splitlines()  # behind how far a slow machine was
    assert (code, stopped) == (143, f"stopped by SIGTERM: {KEPT}")
    counts = r"stored so far: \d+ responses, \d+ tables"
    command = "bench evaluate codis --model m --model random --keep-going"
    assert re.fullmatch(rf"{counts}\. To continue: {command}", summary)
    assert not list((home / "tables").glob("codis/predictions/*.parquet"))


@pytest.mark.parametrize("of_sigint", [signal.SIG_IGN, signal.default_int_handler])
def test_a_run_from_python_leaves_sigterm_to_its_caller(of_sigint):
    seen = []

    @dg.asset
    def looked():
        seen.append(signal.getsignal(signal.SIGTERM))

    job = dg.Definitions(
        [looked], jobs=[dg.define_asset_job("job")], executor=dg.in_process_executor
    ).resolve_job_def("job")
    before, sigint = signal.getsignal(signal.SIGTERM), signal.signal(signal.SIGINT, of_sigint)
    try:
        with dg.DagsterInstance.ephemeral() as instance:
            AssetRun(job=job, keys=[looked.key], model=None, title="").execute(instance, None)
        assert signal.getsignal(signal.SIGTERM) == before
    finally:
        signal.signal(signal.SIGINT, sigint)
        signal.signal(signal.SIGTERM, before)
    assert callable(seen[0])  # in a step SIGTERM interrupts, whatever SIGINT does


@pytest.mark.long
def test_a_closed_pipe_ends_quietly(home):
    with ChatServer("A") as server:
        process = bench(home, server, "tables", "questions", "codis", "--json")
        process.stdout.readline()
        process.stdout.close()
        assert re.sub(r"codis: questions: \d+ of \d+ tables\n", "", process.stderr.read()) == ""
        assert process.wait() in (0, 1)
