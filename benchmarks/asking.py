"""(1) All questions, asked for the first time; (2) the same again, also when tables are lost.

Machines differ by a factor of two, so that CPU is told in that of `import dagster` in the same run.
What Dagster takes for a run of as many assets and checks that do nothing is no choice of ours:
bounds are on what comes on top of it.
"""

import shutil
import sys
from pathlib import Path

from benchmarks.figures import Figure, Run, cpu_of_importing, expect, run, run_command
from benchmarks.work import ONE_ROUND_AFTER_ANOTHER, CountingServer, N, home_of, tables_of
from tests.fakes.codis_release import write_release

EVALUATE = ("evaluate", "codis", "--model", "m")
EVALUATED = ("predictions:3", "judgements:2", "scores:2", "constants:0", "metrics:3")
BUILT = (
    *("source:1", "images:0", "submitted:0", "votes:0", "first_votes:0", "captions:0"),
    *("submissions:0", "decisions:0", "pairs:0", "rejections:1", "funnel:0"),
    "questions:6",
)


def measure(folder: Path) -> list[Figure]:
    """Build the questions, evaluate, evaluate again; build the table of the release."""
    return [*_evaluated(folder), _built(folder / "release")]


def _built(folder: Path) -> Figure:
    """What the question table of 353 pairs costs."""
    write_release(folder / "codis")
    home = folder / "home"
    home.mkdir()
    (home / "bench.toml").write_text('[sources]\ncodis = "../codis"\n')
    cpu = expect(run(home, "tables", "questions", "codis", "--json")).cpu
    least = _bare_dagster(home, folder / "bare", BUILT).cpu
    return Figure(
        what="(0) question table of 353 pairs, CPU beyond bare Dagster: import dagster = 1",
        value=(cpu - least) / cpu_of_importing("dagster", folder),
        most=1,
    )


def _bare_dagster(home: Path, folder: Path, counts: tuple[str, ...]) -> Run:
    """A run of Dagster in which as many assets and checks do nothing."""
    command = (sys.executable, "-m", "benchmarks.bare_dagster", str(folder), *counts)
    return expect(run_command(home, *command))


def _evaluated(folder: Path) -> list[Figure]:
    """Build the questions, evaluate, evaluate again."""
    with CountingServer() as server:
        home = home_of(folder, server)
        built = expect(run(home, "tables", "questions", "codis", "--json"))
        first = expect(run(home, *EVALUATE))
        assert server.n_requests == N, f"{server.n_requests} requests instead of {N}"
        span, cold = server.span, server.times[0] - first.started
        after = first.wall - cold - span
        server.forget()
        shutil.rmtree(tables_of(home, "scores"))
        lost = expect(run(home, *EVALUATE))
        again = expect(run(home, *EVALUATE))
        n_cached = server.n_requests
        loop = (sys.executable, "-m", "benchmarks.bare_loop", server.base_url)
        bare = expect(run_command(home, *loop)).cpu
        _bare_dagster(home, folder / "bare", EVALUATED)  # makes the databases
        run_of_nothing = _bare_dagster(home, folder / "bare", EVALUATED)
        dagster = cpu_of_importing("dagster", folder)
        return [
            Figure(what="(0) building the question table: wall", value=built.wall, unit="s"),
            Figure(what="(1) first request to last response", value=span, most=2.5, unit="s"),
            Figure(
                what="    if nothing but the server took time",
                value=ONE_ROUND_AFTER_ANOTHER,
                unit="s",
            ),
            Figure(
                what="(1) CPU a sample, start and Dagster included",
                value=first.cpu / N * 1e3,
                unit="ms",
            ),
            Figure(
                what="(1) CPU beyond bare Dagster and 1.5 bare loops: import dagster = 1",
                value=(first.cpu - run_of_nothing.cpu - 1.5 * bare) / dagster,
                most=2,
            ),
            Figure(what="    CPU of a bare loop: import dagster = 1", value=bare / dagster),
            Figure(
                what="    CPU of bare Dagster: import dagster = 1",
                value=run_of_nothing.cpu / dagster,
            ),
            Figure(
                what="(1) wall after the last response",
                value=after,
                most=dagster + run_of_nothing.ended - float(run_of_nothing.output),
                unit="s",
            ),
            Figure(
                what="    CPU a sample beyond (2) without tables",
                value=(first.cpu - lost.cpu) / N * 1e3,
                unit="ms",
            ),
            Figure(what="(1) peak memory", value=first.peak_mb, most=300, unit="MiB"),
            Figure(what="(1) command to first request", value=cold, most=4, unit="s"),
            Figure(what="(2) requests, all cached", value=n_cached, most=0, exactly=True),
            Figure(what="(2) CPU: import dagster = 1", value=again.cpu / dagster, most=3),
            Figure(what="(2) CPU, tables lost: import dagster = 1", value=lost.cpu / dagster),
            Figure(what="(2) peak memory", value=again.peak_mb, most=220, unit="MiB"),
            Figure(what="    import dagster: CPU", value=dagster, unit="s"),
        ]
