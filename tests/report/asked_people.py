"""A home in which people were asked one task of a quiz, and another was asked of nobody."""

from dataclasses import replace
from pathlib import Path

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import AnnotationTask, Answer, Field, SuiteAnnotationTask, Unit
from bench_assets.catalog import Catalog
from bench_assets.evaluation.suite import Suite
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.fakes.codis_release import image
from tests.fakes.quiz import TASK
from tests.report.fair import HOSTILE, RIGHT_TO_LEFT

VOTES = AnnotationTask(
    name="quiz/votes",
    title=f"Is it right? {RIGHT_TO_LEFT}",
    instructions="Look first.",
    fields=(Field(name="right", kind="choice", label=HOSTILE, choices=("yes", "no")),),
    about="section 3",
)
UNASKED = replace(VOTES, name="quiz/captions", title="Write a caption")
CATALOG = Catalog(
    suites=(
        Suite(
            name="quiz",
            tasks=(TASK,),
            assets=list,
            annotation_tasks=tuple(
                SuiteAnnotationTask(task=task, reads={}, units=list, row=Answer, to_rows=list)
                for task in (VOTES, UNASKED)
            ),
        ),
    )
)


def annotated_home(home: Path) -> list[Unit]:
    """Three units that three people vote on: they differ on the second, the third stays open."""
    shown = ImageStore(folder=str(home / "images")).put(image(1), "a.png").sha256
    units = [
        Unit(
            task=VOTES.name,
            unit_id=name,
            shown={"Question": f"About {name}? {HOSTILE}"},
            images={"Image": shown},
            needed=3,
        )
        for name in ("a", "b", "c")
    ]
    votes = {"ana": "yyy", "ben": "yny", "cem": "yn ", "dan": "z  "}
    words = {"y": "yes", "n": "no", "z": "perhaps"}
    answers = [
        Answer(
            task=VOTES.name, task_version=VOTES.version, unit_id=unit.unit_id,
            unit_digest=unit.digest, person=person, values={"right": (words[letter],)},
            at="2026-11-01T10:00:00.000Z", changed_at="2026-11-01T10:00:00.000Z", seconds=4.0,
        )
        for person, letters in votes.items()
        for unit, letter in zip(units, letters, strict=True)
        if letter != " "
    ]  # fmt: skip
    tables = TableFiles(folder=str(home / "tables"))
    tables.write(["quiz", "annotation", "votes_units"], units, Unit)
    tables.write(
        ["quiz", "annotation", "votes_answers"], resolve_answers(VOTES, units, answers).all, Answer
    )
    return units
