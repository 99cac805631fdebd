"""An evaluation in which the server refuses 5 % of the questions, and one without refusals."""

import json
from pathlib import Path
from typing import Any

from benchmarks.asking import EVALUATE
from benchmarks.figures import Figure, run_bench
from benchmarks.work import N_QUESTIONS, CountingServer, find_table_folder, write_home
from tests.fakes.chat_server import Answer, texts

_REFUSED_THINGS = tuple(f"thing {number} " for number in range(0, N_QUESTIONS // 2, 20))


def measure(folder: Path) -> list[Figure]:
    """Evaluate with refusals, count the tables of metrics, evaluate without refusals."""
    refuses = True

    def respond(body: dict[str, Any]) -> str | Answer:
        prompt = " ".join(texts(body))
        if refuses and any(thing in prompt for thing in _REFUSED_THINGS):
            return Answer(status=400, text="no")
        return "Up."

    with CountingServer(respond) as server:
        home = write_home(folder, server)
        run_bench(home, *EVALUATE, exit_code=1)
        n_tables = len(list(find_table_folder(home, "metrics").glob("*.parquet")))
        refuses = False
        server.forget()
        output = run_bench(home, *EVALUATE, "--json").output
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    (accuracy,) = (
        row["value"] for row in rows if (row["metric"], row["category"]) == ("acc_q", "all")
    )
    n_requests = server.n_requests
    return [
        Figure("5 % refused: tables of metrics", n_tables, exactly=0),
        Figure("    asked again later", n_requests, exactly=N_QUESTIONS // 20),
        # "Up." is the right answer to one question of each pair.
        Figure("    acc_q after that", accuracy, exactly=0.5),
    ]
