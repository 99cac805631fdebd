"""The work that is measured: 2,000 single-image questions in the format of the CODIS release."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.fakes.chat_server import AnswerTo, ChatServer
from tests.fakes.codis_release import PAIRS, image, write_release

N = 2000
CONCURRENCY = 64
LATENCY = 0.05  # s
ONE_ROUND_AFTER_ANOTHER = N / CONCURRENCY * LATENCY  # s: nothing can be faster


def pairs() -> list[dict[str, Any]]:
    """A thousand pairs of questions, each about an image of its own."""
    categories = list(PAIRS)
    return [
        {
            "id": f"{number:04d}",
            "image_id": f"{number:04d}.png",
            "question": f"Is thing {number} going up or down?",
            "context": {
                "context_1": f"{number} is in the east.",
                "context_2": f"{number} is west.",
            },
            "answer": {"answer_1": "Up.", "answer_2": "Down."},
            "category": categories[number % len(categories)],
        }
        for number in range(N // 2)
    ]


def home_of(folder: Path, server: ChatServer, *, judge: str = "rules") -> Path:
    """Write the source and a home folder whose model ``m`` and judge ``j`` are at the server."""
    write_release(folder / "codis", pairs())
    home = folder / "home"
    home.mkdir()
    entry = f'kind = "server"\nbase_url = "{server.base_url}"\nconcurrency = {CONCURRENCY}\n'
    (home / "bench.toml").write_text(
        f'[sources]\ncodis = "../codis"\n[suites.codis]\njudge = "{judge}"\n'
        f'[models.m]\n{entry}model = "m"\n[models.j]\n{entry}model = "j"\n'
    )
    return home


def tables_of(home: Path, name: str) -> Path:
    """The folder of one of CODIS' tables; its questions are there already."""
    (codis,) = (home / "tables").glob(".of/*/codis")
    return codis / name


def edit(folder: Path) -> None:
    """Edit 60 of the questions: 20 texts, 20 right answers, 20 with another image."""
    edited = pairs()
    for pair in edited[:20]:
        pair["context"]["context_1"] += " Today."
    for pair in edited[20:40]:
        pair["answer"]["answer_2"] = "Downwards."
    (folder / "codis" / "data.json").write_text(json.dumps(edited))
    for number in range(40, 50):
        (folder / "codis" / "images" / f"{number:04d}.png").write_bytes(image(number, 17))


class CountingServer(ChatServer):
    """A server with the latency of the work that counts the requests to each model."""

    def __init__(self, answer: AnswerTo | str = "Up.") -> None:
        self.asked: Counter[str] = Counter()
        say: AnswerTo = (lambda _: answer) if isinstance(answer, str) else answer

        def counted(body: dict[str, Any]) -> Any:  # noqa: ANN401
            self.asked[body["model"]] += 1
            return say(body)

        super().__init__(counted, latency=LATENCY, keep_bodies=False)

    @property
    def span(self) -> float:
        """Seconds from the first request to the last response."""
        return self._last_response - self.times[0]

    def forget(self) -> None:
        """Count from nought again."""
        super().forget()
        self.asked.clear()
