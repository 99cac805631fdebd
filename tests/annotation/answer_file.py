import json
from pathlib import Path
from typing import Any

from bench_assets.annotation.tasks import Unit


class AnswerFile:
    """The answers of a task in a home folder, as its people write them."""

    def __init__(self, home: Path, task: str) -> None:
        self.folder = home / "annotation" / task
        self.lines: list[dict[str, Any]] = []

    def add_answer(self, person: str, unit: Unit, **values: str | list[str]) -> None:
        """Add one person's answer to a unit and write the file."""
        line = {"unit": unit.unit_id, "digest": unit.digest, "person": person, "values": values}
        self.lines.append(line)
        self.folder.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{json.dumps(line)}\n" for line in self.lines)
        (self.folder / "answers.jsonl").write_text(text, encoding="utf-8")
