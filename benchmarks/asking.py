"""(1) All questions, asked for the first time; (2) the same again, also when tables are lost.

Machines differ by a factor of two, so that CPU is told in that of `import dagster` in the same run.
"""

import shutil
from pathlib import Path

from benchmarks.figures import Figure, cpu_of_importing, expect, run
from benchmarks.work import ONE_ROUND_AFTER_ANOTHER, CountingServer, N, home_of, tables_of

EVALUATE = ("evaluate", "codis", "--model", "m")


def measure(folder: Path) -> list[Figure]:
    """Build the questions, evaluate, evaluate again."""
    with CountingServer() as server:
        home = home_of(folder, server)
        built = expect(run(home, "tables", "questions", "codis", "--json"))
        first = expect(run(home, *EVALUATE))
        assert server.n_requests == N, f"{server.n_requests} requests instead of {N}"
        span, cold = server.span, server.times[0] - first.started
        server.forget()
        shutil.rmtree(tables_of(home, "scores"))
        lost = expect(run(home, *EVALUATE))
        again = expect(run(home, *EVALUATE))
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
                what="    CPU a sample beyond (2) without tables",
                value=(first.cpu - lost.cpu) / N * 1e3,
                unit="ms",
            ),
            Figure(what="(1) peak memory", value=first.peak_mb, most=300, unit="MiB"),
            Figure(what="(1) command to first request", value=cold, most=4, unit="s"),
            Figure(what="(2) requests, all cached", value=server.n_requests, most=0, exactly=True),
            Figure(what="(2) CPU: import dagster = 1", value=again.cpu / dagster, most=3),
            Figure(what="(2) CPU, tables lost: import dagster = 1", value=lost.cpu / dagster),
            Figure(what="(2) peak memory", value=again.peak_mb, most=220, unit="MiB"),
            Figure(what="    import dagster: CPU", value=dagster, unit="s"),
        ]
