"""CODIS evaluated for the first time, again, and again after its table of scores is lost.

Machines differ by a factor of two: CPU seconds are compared with those of ``import dagster`` in the
same run. Bare Dagster is a run with as many assets and checks, which do nothing.
"""

import shutil
import sys
from pathlib import Path

from benchmarks.figures import Figure, Run, measure_import, run_bench, run_command
from benchmarks.work import (
    LATENCY_OF_ALL_REQUESTS,
    N_QUESTIONS,
    CountingServer,
    find_table_folder,
    write_home,
)
from tests.fakes.codis_release import write_release

EVALUATE = ("evaluate", "codis", "--model", "m")
BUILD_QUESTIONS = ("tables", "questions", "codis", "--json")
CHECKS_OF_EVALUATION = ("predictions:3", "judgements:2", "scores:2", "constants:0", "metrics:3")
CHECKS_OF_QUESTIONS = (
    *("source:1", "images:0", "submitted:0", "votes:0", "first_votes:0", "captions:0"),
    *("submissions:0", "decisions:0", "pairs:0", "rejections:1", "funnel:0"),
    "questions:6",
)


def measure(folder: Path) -> list[Figure]:
    """Evaluate three times, and build the questions of a release of 353 pairs."""
    return [*_measure_evaluations(folder), _measure_question_table(folder / "release")]


def _measure_question_table(folder: Path) -> Figure:
    write_release(folder / "codis")
    home = folder / "home"
    home.mkdir()
    (home / "bench.toml").write_text('[sources]\ncodis = "../codis"\n')
    bench_seconds = run_bench(home, *BUILD_QUESTIONS).cpu_seconds
    dagster_seconds = _run_bare_dagster(home, folder / "bare", CHECKS_OF_QUESTIONS).cpu_seconds
    return Figure(
        "question table of 353 pairs, CPU beyond bare Dagster: import dagster = 1",
        (bench_seconds - dagster_seconds) / measure_import("dagster", folder),
        at_most=1,
    )


def _run_bare_dagster(home: Path, folder: Path, counts: tuple[str, ...]) -> Run:
    """Run assets and checks that do nothing; ``benchmarks.bare_dagster`` describes the counts."""
    command = (sys.executable, "-m", "benchmarks.bare_dagster", str(folder), *counts)
    return run_command(home, *command)


def _measure_evaluations(folder: Path) -> list[Figure]:
    with CountingServer() as server:
        home = write_home(folder, server)
        building = run_bench(home, *BUILD_QUESTIONS)
        first = run_bench(home, *EVALUATE)
        assert server.n_requests == N_QUESTIONS, f"{server.n_requests} requests"
        asking_seconds = server.busy_seconds
        seconds_before = server.times[0] - first.started
        seconds_after = first.wall_seconds - seconds_before - asking_seconds
        server.forget()
        shutil.rmtree(find_table_folder(home, "scores"))
        rescoring = run_bench(home, *EVALUATE)
        repeated = run_bench(home, *EVALUATE)
        n_later_requests = server.n_requests
        loop = (sys.executable, "-m", "benchmarks.bare_loop", server.base_url)
        loop_seconds = run_command(home, *loop).cpu_seconds
    _run_bare_dagster(home, folder / "bare", CHECKS_OF_EVALUATION)  # creates the databases
    bare_dagster = _run_bare_dagster(home, folder / "bare", CHECKS_OF_EVALUATION)
    seconds_after_first_asset = bare_dagster.ended - float(bare_dagster.output)
    import_seconds = measure_import("dagster", folder)
    own_seconds = first.cpu_seconds - bare_dagster.cpu_seconds - 1.5 * loop_seconds
    return [
        Figure("question table of 1,000 pairs", building.wall_seconds, unit="s"),
        Figure("first evaluation: start to first request", seconds_before, at_most=4, unit="s"),
        Figure("    first request to last response", asking_seconds, at_most=2.5, unit="s"),
        Figure("    the server's latency in that time", LATENCY_OF_ALL_REQUESTS, unit="s"),
        Figure(
            "    last response to end",
            seconds_after,
            at_most=import_seconds + seconds_after_first_asset,
            unit="s",
        ),
        Figure("    CPU per question", first.cpu_seconds / N_QUESTIONS * 1e3, unit="ms"),
        Figure(
            "    CPU per question beyond an evaluation without scores",
            (first.cpu_seconds - rescoring.cpu_seconds) / N_QUESTIONS * 1e3,
            unit="ms",
        ),
        Figure(
            "    CPU beyond bare Dagster and 1.5 bare loops: import dagster = 1",
            own_seconds / import_seconds,
            at_most=2,
        ),
        Figure("    peak memory", first.peak_mib, at_most=300, unit="MiB"),
        Figure("bare loop: CPU: import dagster = 1", loop_seconds / import_seconds),
        Figure("bare Dagster: CPU: import dagster = 1", bare_dagster.cpu_seconds / import_seconds),
        Figure("requests of the later evaluations", n_later_requests, exactly=0),
        Figure(
            "evaluation without scores: CPU: import dagster = 1",
            rescoring.cpu_seconds / import_seconds,
        ),
        Figure(
            "repeated evaluation: CPU: import dagster = 1",
            repeated.cpu_seconds / import_seconds,
            at_most=3,
        ),
        Figure("    peak memory", repeated.peak_mib, at_most=220, unit="MiB"),
        Figure("import dagster: CPU", import_seconds, unit="s"),
    ]
