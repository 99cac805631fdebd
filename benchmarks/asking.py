"""(1) All questions, asked for the first time; (2) the same again."""

from pathlib import Path

from benchmarks.figures import Figure, expect, run
from benchmarks.work import ONE_ROUND_AFTER_ANOTHER, CountingServer, N, home_of

EVALUATE = ("evaluate", "codis", "--model", "m")


def measure(folder: Path) -> list[Figure]:
    """Build the questions, evaluate, evaluate again."""
    with CountingServer() as server:
        home = home_of(folder, server)
        built = expect(run(home, "questions", "codis", "--json"))
        first = expect(run(home, *EVALUATE))
        assert server.n_requests == N, f"{server.n_requests} requests instead of {N}"
        span, cold = server.span, server.times[0] - first.started
        server.forget()
        again = expect(run(home, *EVALUATE))
        return [
            Figure(what="(0) building the question table: wall", value=built.wall, unit="s"),
            Figure(what="(1) first request to last reply", value=span, most=2.5, unit="s"),
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
                what="    CPU a sample beyond (2)",
                value=(first.cpu - again.cpu) / N * 1e3,
                unit="ms",
            ),
            Figure(what="(1) peak memory", value=first.peak_mb, most=300, unit="MiB"),
            Figure(what="(1) command to first request", value=cold, most=4, unit="s"),
            Figure(what="(2) requests, all cached", value=server.n_requests, most=0, exactly=True),
            Figure(what="(2) CPU, all cached", value=again.cpu, most=3, unit="s"),
        ]
