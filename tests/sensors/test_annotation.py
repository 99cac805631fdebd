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

TASK_NAMES = ("quiz/votes", "quiz/checks")
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
    for name in TASK_NAMES
]
UNITS = [Unit(task="", unit_id=name, shown={"Text": name}) for name in "ab"]


def answer_tables(tasks):
    return [dg.AssetKey(task.table("answers").split("/")) for task in tasks]


class AnnotatedHome:
    """A home with two published annotation tasks and no answers."""

    def __init__(self, folder, instance):
        self.folder, self.instance = folder, instance
        self.tables = TableFiles(folder=str(folder / "tables"))
        self.votes, self.checks = (AnswerFile(folder, name) for name in TASK_NAMES)
        self.configure(*TASK_NAMES)
        for task in ANNOTATION_TASKS:
            self.tables.write(task.table("units").split("/"), UNITS, Unit)
            self.tables.write(task.table("answers").split("/"), [], Answer)

    @property
    def settings(self):
        return load_settings(self.folder)

    def configure(self, *names):
        text = "".join(f'[annotation.tasks."{name}"]\n' for name in names)
        (self.folder / "bench.toml").write_text(text)

    def materialize(self, task):
        """Write the table of a task's answers, as a run does."""
        answers = open_annotation_backend(self.settings).answers(task.task)
        key = task.table("answers").split("/")
        self.tables.write(key, resolve_answers(task.task, UNITS, answers).all, Answer)
        self.instance.report_runless_asset_event(dg.AssetMaterialization(dg.AssetKey(key)))

    def tick(self):
        """Names of the requested tables and the run key, or the reason to skip."""
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
        yield AnnotatedHome(tmp_path, instance)


def test_an_answer_requests_one_run_until_the_table_has_it(home):
    assert home.tick() == "nothing new"  # an empty table starts no run
    home.votes.add_answer("ana", UNITS[0], right="yes")
    tables, key = home.tick()
    assert tables == ["votes_answers"]
    assert home.tick() == (tables, key)  # Dagster starts one run for a key, however often it comes
    home.materialize(ANNOTATION_TASKS[0])
    assert home.tick() == "nothing new"


def test_a_passed_deadline_requests_one_run_without_an_answer(home):
    home.materialize(ANNOTATION_TASKS[0])
    assert home.tick() == "nothing new"
    (home.folder / "bench.toml").write_text(
        f'[annotation.tasks."{TASK_NAMES[0]}"]\nuntil = {datetime.now(UTC).isoformat()}\n'
    )
    tables, _ = home.tick()
    assert tables == ["votes_answers"]
    home.materialize(ANNOTATION_TASKS[0])
    assert home.tick() == "nothing new"


def test_an_unreadable_answer_file_is_reported_and_does_not_stop_other_tasks(home):
    (home.folder / "annotation/quiz/votes").mkdir(parents=True)
    (home.folder / "annotation/quiz/votes/answers.jsonl").write_bytes(b"\xff\xfe\xff")
    assert home.tick().startswith("quiz/votes: ")
    home.checks.add_answer("bo", UNITS[1], right="no")
    tables, _ = home.tick()
    assert tables == ["checks_answers"]


@pytest.mark.parametrize(
    "configuration", ["", '[annotation.tasks."other/task"]'], ids=["no task", "an unknown task"]
)
def test_a_configuration_without_a_known_task_is_reported(home, configuration):
    (home.folder / "bench.toml").write_text(configuration)
    assert "no task in [annotation]" in home.tick()
