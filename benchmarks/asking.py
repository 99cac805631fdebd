"""(1) All questions, asked for the first time; (2) the same again, also when tables are lost.

Machines differ by a factor of two, so that CPU is told in that of `import dagster` in the same run.
"""

import shutil
import sys
from pathlib import Path

from benchmarks.figures import Figure, cpu_of_importing, expect, run, run_command
from benchmarks.work import ONE_ROUND_AFTER_ANOTHER, CountingServer, N, home_of, tables_of
from tests.codis_release import write_release

EVALUATE = ("evaluate", "codis", "--model", "m")


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
    return Figure(
        what="(0) question table of 353 pairs, CPU: import dagster = 1",
        value=cpu / cpu_of_importing("dagster", folder),
        most=4,
    )


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
                most=1.5,
                unit="ms",
            ),
            Figure(
                what="(1) CPU beyond 1.5 bare loops: import dagster = 1",
                value=(first.cpu - 1.5 * bare) / dagster,
                most=2,
            ),
            Figure(what="    CPU of a bare loop: import dagster = 1", value=bare / dagster),
            Figure(what="(1) wall after the last response", value=after, most=dagster, unit="s"),
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
