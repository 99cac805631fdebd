from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.annotate.operations import ask, progress
from bench_assets.annotation.tasks import (
    AnnotationTask,
    Answer,
    Field,
    SuiteAnnotationTask,
    UndecidedUnits,
    Unit,
    yes_or_no,
)
from bench_assets.asset_factory.annotation_inputs import count_units, undecided_by_task
from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Question
from bench_assets.core.schema.signature import EXPIRED, OPEN
from bench_assets.core.tables.build import FunnelStep as Step
from bench_assets.defs.assembly import build_graph
from bench_assets.defs.checks.table_checks import check_annotation
from bench_assets.defs.tables.annotation import annotation_assets, build_units
from bench_assets.report.pages.annotation import AnnotationPages
from bench_assets.report.site.folder import Site
from bench_assets.suites.codis import annotation
from bench_assets.suites.codis.assets import questions
from bench_assets.suites.codis.task import TASK
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.tables.parquet import TableFiles
from tests.annotation.answer_file import AnswerFile
from tests.audit.test_report_page import data
from tests.fakes.codis_source import entry, write_raw
from tests.fakes.home import Home
from tests.fakes.sensor_ticks import tick_sensor

FORM = AnnotationTask(
    name="t/votes",
    title="Votes",
    instructions="",
    fields=(yes_or_no("right", "Right?"), Field(name="why", kind="text", label="Why?")),
)
ATTENTION_CHECKS_TASK = SuiteAnnotationTask(
    task=FORM, reads={}, units=lambda: [Unit(task="t/votes", unit_id="1")], row=Unit, to_rows=list
)


def build_units_with_gold(home, values):
    """Build units of a task with an attention check."""
    (home / "gold.jsonl").write_text(f'{{"unit": "1", "values": {values}}}\n')
    (home / "bench.toml").write_text('[annotation.tasks."t/votes"]\ngold = "gold.jsonl"\n')
    settings = load_settings(home)
    task_settings = settings.annotation.tasks["t/votes"]
    return build_units(ATTENTION_CHECKS_TASK, task_settings, settings, TableFiles(folder=str(home)))


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ('{"right": "Yes"}', "right: 'Yes' is none of yes, no"),
        ('{"right": true}', "right: 'True' is none of yes, no"),
        ('{"rihgt": "yes"}', "there is no field 'rihgt'"),
        ('{"right": []}', "right: empty"),
    ],
)
def test_an_attention_check_that_no_answer_can_pass_is_refused(tmp_path, values, problem):
    with pytest.raises(SettingsError, match=f"gold.jsonl: unit '1': {problem}"):
        build_units_with_gold(tmp_path, values)


PEOPLE_SECTION = '[annotation.tasks."codis/votes"]\n'
PEOPLE = ("ana", "bo", "cem")
YES = {"correct": "yes", "different": "yes", "within_rules": "yes"}
ASSETS = [annotation_assets(annotation.VOTES), *dg.load_assets_from_modules([questions])]


def submission(annotator, **changes):
    context = {"context_1": f"{annotator} goes left.", "context_2": f"{annotator} goes right."}
    fields = {"id": f"s-{annotator}", "annotator": annotator, "revises": None, "context": context}
    return entry(**fields, **changes)


class Codis(Home):
    """Three people with a submission each, who may vote on those of the others."""

    def __init__(self, folder, configuration=PEOPLE_SECTION):
        self.folder = folder
        self.write_submissions()
        super().__init__(folder / "home", "codis", folder / "source", configuration)
        self.answers = AnswerFile(folder / "home", "codis/votes")

    def write_submissions(self, **changes_of_ana):
        submissions = [submission("ana", **changes_of_ana), submission("bo"), submission("cem")]
        write_raw(self.folder / "source", submissions, [])

    def build(self):
        """Materialize the questions and the tables of the task."""
        self.materialize(ASSETS)
        return self

    def vote(self, person, *unit_ids, **values):
        """Answer units with yes to all fields but the given ones."""
        units = {unit.unit_id: unit for unit in self.read(Unit, "annotation", "votes_units")}
        for unit_id in unit_ids:
            self.answers.add_answer(person, units[unit_id], **{**YES, **values})

    def open_units_by_question(self):
        """The label of open submissions by question id; "" if none is open."""
        return {
            row.question_id: row.labels.get(OPEN, "") for row in self.read(Question, "questions")
        }

    def check(self):
        questions = self.read(Question, "questions")
        return check_annotation(
            undecided_by_task(TASK, self.tables, self.settings, questions),
            count_units(TASK, self.tables),
            self.settings,
        )


def test_two_others_vote_on_each_submission(tmp_path):
    units = Codis(tmp_path).build().read(Unit, "annotation", "votes_units")
    barred = {unit.unit_id: unit.barred for unit in units}
    assert barred == {"s-ana": ("ana",), "s-bo": ("bo",), "s-cem": ("cem",)}
    assert [unit.needed for unit in units] == [2, 2, 2]


@pytest.mark.long
def test_submissions_with_missing_votes_are_open(tmp_path):
    home = Codis(tmp_path).build()
    home.vote("bo", "s-ana")
    home.vote("cem", "s-ana", "s-bo")
    home.build()
    assert home.open_units_by_question() == {"codis/s-ana/1": "2", "codis/s-ana/2": "2"}
    steps = {step.step: step.n for step in home.read(Step, "funnel")}
    assert steps["submissions open: votes are missing"] == 2
    result = home.check()
    assert (result.passed, result.severity.value) == (False, "ERROR")
    assert result.description == (
        "2 problems among 2 undecided units; the first: open in codis/votes: s-bo: 1 of 2 others"
        " voted"
    )


@pytest.mark.long
def test_votes_are_requested_again_after_a_submission_changed(tmp_path):
    home = Codis(tmp_path).build()
    home.vote("ana", "s-bo", "s-cem")
    home.vote("bo", "s-ana", "s-cem")
    home.vote("cem", "s-ana", "s-bo")
    home.build()
    assert home.check().passed
    assert list(home.open_units_by_question().values()) == [""] * 6

    home.write_submissions(question="Coming or going?")
    home.build()
    answers = home.read(Answer, "annotation", "votes_answers")
    assert [(answer.person, answer.complaint) for answer in answers if answer.complaint] == [
        ("bo", "given before the unit changed"),
        ("cem", "given before the unit changed"),
    ]
    assert home.check().description == (
        "1 problem among 1 undecided unit; open in codis/votes: s-ana: 0 of 2 others voted"
    )


@pytest.mark.parametrize(
    ("configuration", "severity"),
    [
        pytest.param("", "WARN", id="no task is configured"),
        pytest.param(PEOPLE_SECTION, "ERROR", id="the task is configured"),
        pytest.param(f'{PEOPLE_SECTION}publish = "partial"\n', "WARN", id="partial publication"),
        pytest.param('[annotation.tasks."codis/revisions"]\n', "WARN", id="another task"),
    ],
)
def test_open_units_of_a_configured_task_are_an_error(tmp_path, configuration, severity):
    (tmp_path / "bench.toml").write_text(configuration)
    undecided = {"codis/votes": UndecidedUnits({"s1": "1 of 2"}, {})}
    result = check_annotation(undecided, {}, load_settings(tmp_path))
    assert (result.passed, result.severity.value) == (False, severity)


def test_too_few_decided_units_are_one_more_problem(tmp_path):
    (tmp_path / "bench.toml").write_text(f'{PEOPLE_SECTION}until = "2026-01-02"\n')
    undecided = {"codis/votes": UndecidedUnits({}, {"s1": "1 of 2"})}
    result = check_annotation(undecided, {"codis/votes": 1}, load_settings(tmp_path))
    assert (result.description or "").startswith("2 problems among 1 undecided unit; ")


def test_without_undecided_units_the_check_passes(tmp_path):
    (tmp_path / "bench.toml").write_text(PEOPLE_SECTION)
    undecided = {"codis/votes": UndecidedUnits({}, {})}
    assert check_annotation(undecided, {}, load_settings(tmp_path)).passed


def build_and_count(home: Codis) -> dict[str, tuple[int, int]]:
    """Build the questions, and count open and expired submissions in three places."""
    with Workbench(load_settings(Path(home.settings.home)), ["codis"]) as bench:
        bench.build_questions("codis")
        home.tables = bench.tables
        (status,) = progress(bench, "codis/votes", datetime.now(UTC))
        site = Site(home.folder / "report", home.images)
        AnnotationPages(settings=bench.settings).write(site, bench.tables, bench.catalog)
        site.finish()
    forms = {form["task"]: form for form in data(home.folder, "annotation")}
    reported = forms["codis/votes"]["progress"]
    steps = {row.step.partition(":")[0]: row.n for row in home.read(Step, "funnel")}
    return {
        "funnel": (steps["submissions open"], steps["submissions expired"]),
        "status": (status.in_work + status.untouched, status.expired),
        "report": (reported["in_work"] + reported["untouched"], reported["expired"]),
    }


@pytest.mark.long
def test_status_report_and_funnel_have_the_same_counts(tmp_path):
    """Votes are in a file, unusable, corrected, repeated, of the author, or too few."""
    configuration = (
        f'[sources]\ncodis = "{tmp_path / "source"}"\n{PEOPLE_SECTION}publish = "partial"\n'
    )
    home = Codis(tmp_path, configuration)
    submissions = [submission(annotator) for annotator in ("ana", "bo", "cem", "dan")]
    approval = {"correct": True, "different": True, "within_rules": True}
    votes = [
        {"submission": "s-ana", "annotator": "bo", **approval},
        {"submission": "s-ana", "annotator": "cem", **approval},
        {"submission": "s-ana", "annotator": "dan", **approval},
        {"submission": "s-bo", "annotator": "ana", **approval},
    ]
    write_raw(tmp_path / "source", submissions, votes)
    assert build_and_count(home) == {"funnel": (3, 0), "status": (3, 0), "report": (3, 0)}

    home.vote("cem", "s-bo")
    home.vote("dan", "s-bo")  # with the vote of the file: complete
    home.vote("ana", "s-bo")  # as in the file
    home.vote("cem", "s-cem")  # the author
    home.vote("ana", "s-cem", correct="maybe")  # unusable
    home.vote("bo", "s-cem", correct="no")
    home.vote("bo", "s-cem")  # corrected
    assert build_and_count(home) == {"funnel": (2, 0), "status": (2, 0), "report": (2, 0)}

    (tmp_path / "home" / "bench.toml").write_text(f"{configuration}until = 2026-01-01\n")
    assert build_and_count(home) == {"funnel": (0, 2), "status": (0, 2), "report": (0, 2)}


@pytest.mark.long
def test_submissions_that_are_undecided_after_the_deadline_are_expired(tmp_path):
    home = Codis(tmp_path, f'{PEOPLE_SECTION}publish = "partial"\nuntil = 2026-01-01\n').build()
    home.vote("bo", "s-ana", "s-cem")
    home.vote("cem", "s-ana")
    home.vote("ana", "s-cem")
    home.build()
    labels = home.read(Question, "questions")[0].labels
    assert (labels.get(OPEN), labels[EXPIRED]) == (None, "1")  # s-bo


@pytest.mark.long
def test_the_run_that_the_sensor_requests_builds_the_questions(tmp_path):
    home = Codis(tmp_path, f'[sources]\ncodis = "{tmp_path / "source"}"\n{PEOPLE_SECTION}')
    settings = load_settings(tmp_path / "home")
    graph = build_graph(settings, load_catalog(settings, only={"codis"})).definitions
    with Workbench(settings, ["codis"]) as bench:
        ask(bench, "codis/votes")
        home.tables = bench.tables
        for person in PEOPLE:
            home.vote(person, *(f"s-{author}" for author in PEOPLE if author != person))
        request = tick_sensor("annotation", graph, bench.instance, tmp_path / "home")
        result = graph.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=bench.instance, asset_selection=request.asset_selection, tags=request.tags
        )
    assert result.success
    # Three submissions, approved by both of the others, have two questions each.
    assert len(home.read(Question, "questions")) == 6
