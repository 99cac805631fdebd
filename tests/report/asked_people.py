"""A home in which people were asked one form of a quiz, and another was asked of nobody."""

from dataclasses import replace
from pathlib import Path

from bench_assets.annotation.answers.resolution import count
from bench_assets.annotation.tasks.forms import Answer, Field, Form, SuiteForm, Unit
from bench_assets.catalog import Catalog
from bench_assets.evaluation.suite import Suite
from resources.images.store import ImageStore
from resources.tables.parquet import TableFiles
from tests.codis_release import image
from tests.quiz import TASK
from tests.report.fair import HOSTILE, RIGHT_TO_LEFT

VOTES = Form(
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
            forms=tuple(
                SuiteForm(form=form, reads={}, items=list, row=Answer, to_rows=list)
                for form in (VOTES, UNASKED)
            ),
        ),
    )
)


def asked_home(home: Path) -> list[Unit]:
    """Three items that three people vote on: they differ on the second, the third stays open."""
    shown = ImageStore(folder=str(home / "images")).put(image(1), "a.png").sha256
    items = [
        Unit(
            form=VOTES.name,
            item_id=name,
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
            form=VOTES.name, form_version=VOTES.version, item_id=item.item_id,
            item_digest=item.digest, person=person, values={"right": (words[letter],)},
            at="2026-11-01T10:00:00.000Z", changed_at="2026-11-01T10:00:00.000Z", seconds=4.0,
        )
        for person, letters in votes.items()
        for item, letter in zip(items, letters, strict=True)
        if letter != " "
    ]  # fmt: skip
    tables = TableFiles(folder=str(home / "tables"))
    tables.write(["quiz", "people", "votes_items"], items, Unit)
    tables.write(["quiz", "people", "votes_answers"], count(VOTES, items, answers).all, Answer)
    return items
