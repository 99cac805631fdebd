"""60 edited questions: 40 are asked again, and 60 responses are judged again."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.asking import EVALUATE
from benchmarks.figures import Figure, run_bench
from benchmarks.work import CountingServer, edit_questions, write_home


def measure(folder: Path) -> list[Figure]:
    """Evaluate with a model as judge, edit questions, evaluate again."""
    with CountingServer(_respond) as server:
        home = write_home(folder, server, judge="j")
        run_bench(home, *EVALUATE)
        edit_questions(folder)
        server.forget()
        run_bench(home, *EVALUATE)
    requests = server.requests_by_model
    return [
        Figure("60 edited questions: asked again", requests["m"], exactly=40),
        Figure("60 edited questions: judged again", requests["j"], exactly=60),
    ]


def _respond(body: dict[str, Any]) -> str:
    """As the model, give each prompt another response, so that no two judgements are alike."""
    return "right" if body["model"] == "j" else sha256(str(body).encode()).hexdigest()
