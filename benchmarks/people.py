"""What it takes to ask people 50,000 items, and to make tables of what four say of each."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from bench_assets.annotation.answers.quality import people_quality, progress_of
from bench_assets.annotation.answers.resolution import count
from bench_assets.annotation.tasks.forms import Answer, Field, Form, Unit
from benchmarks.figures import Figure, expect, run_command
from resources.annotation.files import FilePeople
from resources.tables.parquet import TableFiles

N, PEOPLE = 50_000, 4
FORM = Form(
    name="codis/votes",
    title="Votes",
    instructions="Say yes or no.",
    fields=(
        Field(name="correct", kind="choice", label="Correct?", choices=("yes", "no")),
        Field(name="comment", kind="text", label="Why?", required=False),
    ),
)


def measure(folder: Path) -> list[Figure]:
    """Ask, poll and write tables in a process of its own; people write files meanwhile."""
    home = folder / "home"
    people = FilePeople(home / "people")
    people.ask(FORM, items()[:1])  # makes the folder
    _answer(home / "people" / FORM.name / "answers.jsonl")
    ran = expect(run_command(home, sys.executable, "-c", f"{_WORK}({str(home)!r})"))
    told = f"{N:,} items asked, {N * PEOPLE:,} answers heard, as tables"
    return [
        Figure(what=f"{told}, CPU", value=ran.cpu, most=120, unit="s"),
        Figure(what=f"{told}, peak", value=ran.peak_mb, most=500, unit="MiB"),
    ]


_WORK = "from benchmarks.people import work; work"


def work(home: str) -> None:
    """Do what the graph does with a form, and what ``bench annotate`` tells of it."""
    asked, people = items(), FilePeople(Path(home) / "people")
    people.ask(FORM, asked)
    counted = count(FORM, asked, people.answers(FORM))
    assert len(counted.answers) == N * PEOPLE
    tables = TableFiles(folder=str(Path(home) / "tables"))
    tables.write(["codis", "people", "votes_items"], asked, Unit)
    tables.write(["codis", "people", "votes_answers"], counted.all, Answer)
    progress_of(FORM.name, asked, counted.all, datetime.now(UTC))
    people_quality(FORM, asked, counted.all)


def items() -> list[Unit]:
    """All of them, alike but for their texts."""
    return [
        Unit(
            form=FORM.name,
            item_id=f"s{n:06}",
            shown={"Question": f"What is in image {n}?", "Context": "It is evening. " * 8},
            images={"Image": f"{n:064x}"},
            needed=PEOPLE,
        )
        for n in range(N)
    ]


def _answer(file: Path) -> None:
    with file.open("w", encoding="utf-8") as lines:
        for item in items():
            said = {"item": item.item_id, "digest": item.digest, "values": {"correct": "yes"}}
            for person in range(PEOPLE):
                at = f"2026-11-22T10:{person:02}:00Z"
                line = {**said, "person": f"p{person}", "at": at, "seconds": 3}
                lines.write(json.dumps(line) + "\n")
