"""What people write into files when they answer: a line for each item."""

import json
from pathlib import Path
from typing import Any

from bench_assets.annotation.tasks.forms import Unit


class AnswerFile:
    """The answers of a form in a home folder, as its people write them."""

    def __init__(self, home: Path, form: str) -> None:
        """Begin with none."""
        self.folder = home / "people" / form
        self.said: list[dict[str, Any]] = []

    def says(self, person: str, item: Unit, **values: str | list[str]) -> None:
        """One person answers what is shown of an item."""
        line = {"item": item.item_id, "digest": item.digest, "person": person, "values": values}
        self.said.append(line)
        self.folder.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{json.dumps(line)}\n" for line in self.said)
        (self.folder / "answers.jsonl").write_text(text, encoding="utf-8")
