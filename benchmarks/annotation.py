"""What it takes to ask people 50,000 units, and to make tables of what four say of each."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from bench_assets.annotation.answers.progress import progress_of, undecided_units
from bench_assets.annotation.answers.quality import annotator_quality
from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import AnnotationTask, AnnotationTerms, Answer, Field, Unit
from bench_resources.annotation.files import FileBackend
from bench_resources.tables.parquet import TableFiles
from benchmarks.figures import Figure, expect, run_command

N, PEOPLE = 50_000, 4
FORM = AnnotationTask(
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
    people = FileBackend(home / "annotation")
    people.ask(FORM, units()[:1])  # makes the folder
    _answer(home / "annotation" / FORM.name / "answers.jsonl")
    ran = expect(run_command(home, sys.executable, "-c", f"{_WORK}({str(home)!r})"))
    told = f"{N:,} units asked, {N * PEOPLE:,} answers heard, as tables"
    return [
        Figure(what=f"{told}, CPU", value=ran.cpu, most=120, unit="s"),
        Figure(what=f"{told}, peak", value=ran.peak_mb, most=500, unit="MiB"),
    ]


_WORK = "from benchmarks.annotation import work; work"


def work(home: str) -> None:
    """Do what the graph does with a task, and what ``bench annotate`` tells of it."""
    asked, people = units(), FileBackend(Path(home) / "annotation")
    people.ask(FORM, asked)
    counted = resolve_answers(FORM, asked, people.answers(FORM))
    assert len(counted.answers) == N * PEOPLE
    tables = TableFiles(folder=str(Path(home) / "tables"))
    tables.write(["codis", "annotation", "votes_units"], asked, Unit)
    tables.write(["codis", "annotation", "votes_answers"], counted.all, Answer)
    now = datetime.now(UTC)
    waits = undecided_units(asked, counted.answers, None, AnnotationTerms(), now)
    progress_of(FORM.name, asked, counted.all, waits, now)
    annotator_quality(FORM, asked, counted.all)


def units() -> list[Unit]:
    """All of them, alike but for their texts."""
    return [
        Unit(
            task=FORM.name,
            unit_id=f"s{n:06}",
            shown={"Question": f"What is in image {n}?", "Context": "It is evening. " * 8},
            images={"Image": f"{n:064x}"},
            needed=PEOPLE,
        )
        for n in range(N)
    ]


def _answer(file: Path) -> None:
    with file.open("w", encoding="utf-8") as lines:
        for unit in units():
            said = {"unit": unit.unit_id, "digest": unit.digest, "values": {"correct": "yes"}}
            for person in range(PEOPLE):
                at = f"2026-11-22T10:{person:02}:00Z"
                line = {**said, "person": f"p{person}", "at": at, "seconds": 3}
                lines.write(json.dumps(line) + "\n")
