"""2,000 single-image questions in the format of the CODIS release, and a server to ask."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.fakes.chat_server import AnswerTo, ChatServer
from tests.fakes.codis_release import PAIRS, image, write_release

N_QUESTIONS = 2000
CONCURRENCY = 64
LATENCY = 0.05  # s
LATENCY_OF_ALL_REQUESTS = N_QUESTIONS / CONCURRENCY * LATENCY  # s, no client is faster


def build_pairs() -> list[dict[str, Any]]:
    """A thousand pairs of questions; each pair has its own image."""
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
        for number in range(N_QUESTIONS // 2)
    ]


def write_home(folder: Path, server: ChatServer, *, judge: str = "rules") -> Path:
    """Write the release, and a home with the server as model ``m`` and as judge ``j``."""
    write_release(folder / "codis", build_pairs())
    home = folder / "home"
    home.mkdir()
    entries = f'kind = "server"\nbase_url = "{server.base_url}"\nconcurrency = {CONCURRENCY}\n'
    (home / "bench.toml").write_text(
        f'[sources]\ncodis = "../codis"\n[suites.codis]\njudge = "{judge}"\n'
        f'[models.m]\n{entries}model = "m"\n[models.j]\n{entries}model = "j"\n'
    )
    return home


def find_table_folder(home: Path, table: str) -> Path:
    """The folder of a CODIS table, once its questions are built."""
    (codis,) = (home / "tables").glob(".of/*/codis")
    return codis / table


def edit_questions(folder: Path) -> None:
    """Change 20 contexts, 20 right answers, and the images of 20 other questions."""
    pairs = build_pairs()
    for pair in pairs[:20]:
        pair["context"]["context_1"] += " Today."
    for pair in pairs[20:40]:
        pair["answer"]["answer_2"] = "Downwards."
    (folder / "codis" / "data.json").write_text(json.dumps(pairs))
    for number in range(40, 50):
        (folder / "codis" / "images" / f"{number:04d}.png").write_bytes(image(number, 17))


class CountingServer(ChatServer):
    """A server that answers after ``LATENCY`` and counts the requests to each model."""

    def __init__(self, answer: AnswerTo | str = "Up.") -> None:
        self.requests_by_model: Counter[str] = Counter()
        respond: AnswerTo = (lambda _: answer) if isinstance(answer, str) else answer

        def count_and_respond(body: dict[str, Any]) -> Any:  # noqa: ANN401
            self.requests_by_model[body["model"]] += 1
            return respond(body)

        super().__init__(count_and_respond, latency=LATENCY, keep_bodies=False)

    @property
    def busy_seconds(self) -> float:
        """Seconds from the first request to the last response."""
        return self._last_response - self.times[0]

    def forget(self) -> None:
        """Reset the records and counts, also those by model."""
        super().forget()
        self.requests_by_model.clear()
