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

def sleep():
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


def start_command(name, **options):
    """Start a function of ``COMMAND`` as a command; it prints a line when it is ready."""
    command = [sys.executable, "-c", COMMAND.replace("NAME", name)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, **options)


def wait_for_exit(process):
    """Exit code and error output of a process."""
    _, stderr = process.communicate(timeout=60)
    return process.returncode, stderr.strip()


@pytest.mark.parametrize(
    ("signal_number", "code", "name"),
    [
        (signal.SIGINT, 130, "Ctrl-C"),
        pytest.param(signal.SIGTERM, 143, "SIGTERM", marks=pytest.mark.long),  # again below
        pytest.param(signal.SIGHUP, 129, "SIGHUP", marks=pytest.mark.long),
    ],
)
def test_a_signal_ends_a_command_with_a_message(signal_number, code, name):
    process = start_command("sleep")
    process.stdout.readline()
    process.send_signal(signal_number)
    assert wait_for_exit(process) == (code, f"stopped by {name}: {KEPT}")


def test_the_second_signal_ends_a_command_and_its_children_at_once():
    process = start_command("stubborn")
    child = int(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    assert int(process.stdout.readline()) == child
    process.send_signal(signal.SIGINT)
    assert wait_for_exit(process) == (130, f"ended at once; {KEPT}")
    deadline = time.monotonic() + 10
    while start_ticks(child) is not None:
        assert time.monotonic() < deadline, "the child still runs"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("signal_number", "command"),
    [(signal.SIGHUP, "sleep"), (signal.SIGINT, "step")],
    ids=["nohup", "&"],
)
def test_a_signal_that_the_caller_ignores_stays_ignored(signal_number, command):
    process = start_command(
        command, preexec_fn=lambda: signal.signal(signal_number, signal.SIG_IGN)
    )
    process.stdout.readline()
    process.send_signal(signal_number)
    time.sleep(0.1)  # in which the signal would end it, were it not ignored
    process.send_signal(signal.SIGTERM)
    assert wait_for_exit(process) == (143, f"stopped by SIGTERM: {KEPT}")


@pytest.fixture
def home(tmp_path):
    write_release(tmp_path / "codis", entries()[:40])
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def start_bench(home, server, *arguments):
    """Start ``bench`` in a home with a source and the model ``m`` of a server."""
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
        process = start_bench(
            home, server, "evaluate", "codis", "--model", "m", "--model", "random", "--keep-going"
        )
        while server.n_requests < 20 and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        code, stderr = wait_for_exit(process)
    *_, message, summary = stderr.splitlines()  # after lines of progress, on a slow machine
    assert (code, message) == (143, f"stopped by SIGTERM: {KEPT}")
    counts = r"stored so far: \d+ responses, \d+ tables"
    command = "bench evaluate codis --model m --model random --keep-going"
    assert re.fullmatch(rf"{counts}\. To continue: {command}", summary)
    assert not list((home / "tables").glob("codis/predictions/*.parquet"))


@pytest.mark.parametrize("sigint_handler", [signal.SIG_IGN, signal.default_int_handler])
def test_a_run_from_python_leaves_sigterm_to_its_caller(sigint_handler, tmp_path):
    handlers_in_step = []

    @dg.asset
    def handler_recorder():
        handlers_in_step.append(signal.getsignal(signal.SIGTERM))

    job = dg.Definitions(
        [handler_recorder], jobs=[dg.define_asset_job("job")], executor=dg.in_process_executor
    ).resolve_job_def("job")
    sigterm_before = signal.getsignal(signal.SIGTERM)
    sigint_before = signal.signal(signal.SIGINT, sigint_handler)
    try:
        with dg.DagsterInstance.ephemeral() as instance:
            run = AssetRun(job=job, keys=[handler_recorder.key], model=None, title="")
            run.execute(instance, tmp_path / "locks")
        assert signal.getsignal(signal.SIGTERM) == sigterm_before
    finally:
        signal.signal(signal.SIGINT, sigint_before)
        signal.signal(signal.SIGTERM, sigterm_before)
    (handler,) = handlers_in_step
    assert callable(handler)  # in a step SIGTERM interrupts, whatever SIGINT does


@pytest.mark.long
def test_a_command_whose_output_is_closed_ends_without_an_error_message(home):
    with ChatServer("A") as server:
        process = start_bench(home, server, "tables", "questions", "codis", "--json")
        process.stdout.readline()
        process.stdout.close()
        assert re.sub(r"codis: questions: \d+ of \d+ tables\n", "", process.stderr.read()) == ""
        process.wait()
