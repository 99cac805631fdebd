"""(5) One request in twenty fails permanently; then the server heals."""

import json
from pathlib import Path
from typing import Any

from benchmarks.asking import EVALUATE
from benchmarks.figures import Figure, expect, run
from benchmarks.work import CountingServer, N, home_of, tables_of
from tests.fakes.chat_server import Answer, texts

_FAILING = tuple(f"thing {number} " for number in range(0, N // 2, 20))


def measure(folder: Path) -> list[Figure]:
    """Evaluate while it fails, look for metrics, heal, evaluate again."""
    sick = True

    def response(body: dict[str, Any]) -> str | Answer:
        fails = sick and any(thing in " ".join(texts(body)) for thing in _FAILING)
        return Answer(status=400, text="no") if fails else "Up."

    with CountingServer(response) as server:
        home = home_of(folder, server)
        expect(run(home, *EVALUATE), status=1)
        n_tables = len(list(tables_of(home, "metrics").glob("*.parquet")))
        sick = False
        server.forget()
        healed = expect(run(home, *EVALUATE, "--json"))
    rows = [json.loads(line) for line in healed.output.splitlines() if line.startswith("{")]
    (score,) = (r["value"] for r in rows if (r["metric"], r["category"]) == ("acc_q", "all"))
    return [
        Figure(what="(5) metric tables while 5 % fail", value=n_tables, most=0, exactly=True),
        Figure(what="(5) asked after healing", value=server.n_requests, most=N // 20, exactly=True),
        # The server always says "Up.", which is right for one half of each pair.
        Figure(what="(5) acc_q then", value=score, most=0.5, exactly=True),
    ]
