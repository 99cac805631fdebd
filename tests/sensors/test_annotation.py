"""Listening to people: a run for new answers, and a sentence for what cannot be heard."""

from datetime import UTC, datetime

import dagster as dg
import pytest

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import AnnotationTask, Answer, Field, SuiteAnnotationTask, Unit
from bench_resources.annotation.opening import open_annotation_backend
from bench_resources.config.bench_toml import load_settings
from bench_resources.tables.parquet import TableFiles
from bench_sensors.annotation import request_rebuild
from tests.annotation.answer_file import AnswerFile

NAMES = ("quiz/votes", "quiz/checks")
ANNOTATION_TASKS = [
    SuiteAnnotationTask(
        task=AnnotationTask(
            name=name,
            title=name,
            instructions="",
            fields=(Field(name="right", kind="choice", label="Right?", choices=("yes", "no")),),
        ),
        reads={},
        units=list,
        row=str,
        to_rows=list,
    )
    for name in NAMES
]
ITEMS = [Unit(task="", unit_id=name, shown={"Text": name}) for name in "ab"]


def answer_tables(tasks):
    return [dg.AssetKey(task.table("answers").split("/")) for task in tasks]


class Listening:
    """A home in which two tasks were asked, and nobody has answered yet."""

    def __init__(self, folder, instance):
        self.folder, self.instance = folder, instance
        self.tables = TableFiles(folder=str(folder / "tables"))
        self.votes, self.checks = (AnswerFile(folder, name) for name in NAMES)
        self.configure(*NAMES)
        for task in ANNOTATION_TASKS:
            self.tables.write(task.table("units").split("/"), ITEMS, Unit)
            self.tables.write(task.table("answers").split("/"), [], Answer)

    @property
    def settings(self):
        return load_settings(self.folder)

    def configure(self, *names):
        text = "".join(f'[annotation.tasks."{name}"]\n' for name in names)
        (self.folder / "bench.toml").write_text(text)

    def make(self, task):
        """Make the table of a task's answers, as a run does."""
        answers = open_annotation_backend(self.settings).answers(task.task)
        key = task.table("answers").split("/")
        self.tables.write(key, resolve_answers(task.task, ITEMS, answers).all, Answer)
        self.instance.report_runless_asset_event(dg.AssetMaterialization(dg.AssetKey(key)))

    def tick(self):
        """The tasks that a run is asked for and its key; else why there is none."""
        result = request_rebuild(
            self.instance, self.settings, self.tables, ANNOTATION_TASKS, answer_tables
        )
        if not result.run_requests:
            assert result.skip_reason
            return result.skip_reason.skip_message
        (request,) = result.run_requests
        return [key.path[-1] for key in request.asset_selection or []], request.run_key


@pytest.fixture
def home(tmp_path):
    with dg.DagsterInstance.ephemeral() as instance:
        yield Listening(tmp_path, instance)


def test_an_answer_asks_for_one_run_until_the_table_has_it(home):
    assert home.tick() == "nothing new"  # an empty table starts no run
    home.votes.says("ana", ITEMS[0], right="yes")
    made, key = home.tick()
    assert made == ["votes_answers"]
    assert home.tick() == (made, key)  # Dagster starts one run for a key, however often it comes
    home.make(ANNOTATION_TASKS[0])
    assert home.tick() == "nothing new"


def test_a_deadline_that_passes_asks_for_one_run_without_an_answer(home):
    home.make(ANNOTATION_TASKS[0])
    assert home.tick() == "nothing new"
    now = datetime.now(UTC)
    (home.folder / "bench.toml").write_text(
        f'[annotation.tasks."{NAMES[0]}"]\nuntil = {now.isoformat()}\n'
    )
    assert home.tick()[0] == ["votes_answers"]
    home.make(ANNOTATION_TASKS[0])
    assert home.tick() == "nothing new"


def test_a_form_that_cannot_be_read_is_a_sentence_and_stops_no_other(home):
    (home.folder / "annotation/quiz/votes").mkdir(parents=True)
    (home.folder / "annotation/quiz/votes/answers.jsonl").write_bytes(b"\xff\xfe\xff")
    assert home.tick().startswith("quiz/votes: ")
    home.checks.says("bo", ITEMS[1], right="no")
    assert home.tick()[0] == ["checks_answers"]


@pytest.mark.parametrize("written", ["", '[annotation.tasks."other/task"]'])
def test_a_configuration_without_tasks_is_a_sentence(home, written):
    (home.folder / "bench.toml").write_text(written)
    assert "no task in [annotation]" in home.tick()
