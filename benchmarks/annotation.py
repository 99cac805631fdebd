"""Annotation of 50,000 units by four annotators: the units asked, the answers as tables."""

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
from benchmarks.figures import Figure, run_command

N_UNITS, N_ANNOTATORS = 50_000, 4
TASK = AnnotationTask(
    name="codis/votes",
    title="Votes",
    instructions="Say yes or no.",
    fields=(
        Field(name="correct", kind="choice", label="Correct?", choices=("yes", "no")),
        Field(name="comment", kind="text", label="Why?", required=False),
    ),
)


def measure(folder: Path) -> list[Figure]:
    """Write the annotators' answers; ask and write tables in a new process."""
    home = folder / "home"
    FileBackend(home / "annotation").ask(TASK, build_units()[:1])  # creates the folder
    _write_answers(home / "annotation" / TASK.name / "answers.jsonl")
    run = run_command(home, sys.executable, "-m", "benchmarks.annotation", str(home))
    title = f"{N_UNITS:,} annotation units, answers of {N_ANNOTATORS} annotators as tables"
    return [
        Figure(f"{title}: CPU", run.cpu_seconds, at_most=120, unit="s"),
        Figure("    peak memory", run.peak_mib, at_most=500, unit="MiB"),
    ]


def main(home: str) -> None:
    """Ask the units, write units and answers as tables, compute progress and quality."""
    units, backend = build_units(), FileBackend(Path(home) / "annotation")
    backend.ask(TASK, units)
    resolved = resolve_answers(TASK, units, backend.answers(TASK))
    assert len(resolved.answers) == N_UNITS * N_ANNOTATORS
    tables = TableFiles(folder=str(Path(home) / "tables"))
    tables.write(["codis", "annotation", "votes_units"], units, Unit)
    tables.write(["codis", "annotation", "votes_answers"], resolved.all, Answer)
    now = datetime.now(UTC)
    undecided = undecided_units(units, resolved.answers, None, AnnotationTerms(), now)
    progress_of(TASK.name, units, resolved.all, undecided, now)
    annotator_quality(TASK, units, resolved.all)


def build_units() -> list[Unit]:
    """Build units that differ in their numbers."""
    return [
        Unit(
            task=TASK.name,
            unit_id=f"s{number:06}",
            shown={"Question": f"What is in image {number}?", "Context": "It is evening. " * 8},
            images={"Image": f"{number:064x}"},
            needed=N_ANNOTATORS,
        )
        for number in range(N_UNITS)
    ]


def _write_answers(path: Path) -> None:
    """Write the answer yes by every annotator to every unit."""
    with path.open("w", encoding="utf-8") as file:
        for unit in build_units():
            answer = {"unit": unit.unit_id, "digest": unit.digest, "values": {"correct": "yes"}}
            for number in range(N_ANNOTATORS):
                at = f"2026-11-22T10:{number:02}:00Z"
                line = {**answer, "person": f"p{number}", "at": at, "seconds": 3}
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
