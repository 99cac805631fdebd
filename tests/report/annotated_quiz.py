"""A home with people's answers to one annotation task of a quiz, and none to a second task."""

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
UNANSWERED = replace(VOTES, name="quiz/captions", title="Write a caption")
CATALOG = Catalog(
    suites=(
        Suite(
            name="quiz",
            tasks=(TASK,),
            assets=list,
            annotation_tasks=tuple(
                SuiteAnnotationTask(task=task, reads={}, units=list, row=Answer, to_rows=list)
                for task in (VOTES, UNANSWERED)
            ),
        ),
    )
)


def write_annotated_home(home: Path) -> None:
    """Write three units and the votes of four people, of whom the last one's is invalid.

    People disagree on the second unit, and the third one lacks a vote.
    """
    image_digest = ImageStore(folder=str(home / "images")).put(image(1), "a.png").sha256
    units = [
        Unit(
            task=VOTES.name,
            unit_id=name,
            shown={"Question": f"About {name}? {HOSTILE}"},
            images={"Image": image_digest},
            needed=3,
        )
        for name in ("a", "b", "c")
    ]
    choices_of_people = {  # for the units in their order, as far as a person got
        "ana": ("yes", "yes", "yes"),
        "ben": ("yes", "no", "yes"),
        "cem": ("yes", "no"),
        "dan": ("perhaps",),  # not a choice of the field
    }
    answers = [
        _vote(unit, person, choice)
        for person, choices in choices_of_people.items()
        for unit, choice in zip(units, choices, strict=False)
    ]
    tables = TableFiles(folder=str(home / "tables"))
    tables.write(["quiz", "annotation", "votes_units"], units, Unit)
    tables.write(
        ["quiz", "annotation", "votes_answers"], resolve_answers(VOTES, units, answers).all, Answer
    )


def _vote(unit: Unit, person: str, choice: str) -> Answer:
    return Answer(
        task=VOTES.name, task_version=VOTES.version, unit_id=unit.unit_id,
        unit_digest=unit.digest, person=person, values={"right": (choice,)},
        at="2026-11-01T10:00:00.000Z", changed_at="2026-11-01T10:00:00.000Z", seconds=4.0,
    )  # fmt: skip
