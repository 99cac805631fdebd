"""(3) 60 of the questions edited: 40 are asked, 60 judged, nothing else."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.asking import EVALUATE
from benchmarks.figures import Figure, expect, run
from benchmarks.work import CountingServer, edit, home_of


def measure(folder: Path) -> list[Figure]:
    """Evaluate with a model as judge, edit, evaluate again."""
    with CountingServer(_response) as server:
        home = home_of(folder, server, judge="j")
        expect(run(home, *EVALUATE))
        edit(folder)
        server.forget()
        expect(run(home, *EVALUATE))
    return [
        Figure(
            what="(3) questions asked, 60 edited", value=server.asked["m"], most=40, exactly=True
        ),
        Figure(what="(3) responses judged", value=server.asked["j"], most=60, exactly=True),
    ]


def _response(body: dict[str, Any]) -> str:
    """A response of its own to each prompt, so that every judging is another."""
    return "right" if body["model"] == "j" else sha256(str(body).encode()).hexdigest()
