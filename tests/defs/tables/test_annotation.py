"""Forms about responses in the graph: asked where bench.toml names them, answered, summed up."""

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
from bench_assets.asset_factory.annotation_inputs import undecided_by_task, units_of_tasks
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
from bench_assets.suites.codis.dataset import SubmissionVote
from bench_assets.suites.codis.task import TASK
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.tables.parquet import TableFiles
from tests.annotation.answer_file import AnswerFile
from tests.audit.test_report_page import data
from tests.fakes.codis_source import entry, write_raw
from tests.fakes.home import Home
from tests.fakes.sensor_ticks import tick_sensor

# Attention checks that no answer can pass are refused before anybody is asked.


FORM = AnnotationTask(
    name="t/votes",
    title="Votes",
    instructions="",
    fields=(yes_or_no("right", "Right?"), Field(name="why", kind="text", label="Why?")),
)
ATTENTION_CHECKS_TASK = SuiteAnnotationTask(
    task=FORM, reads={}, units=lambda: [Unit(task="t/votes", unit_id="1")], row=Unit, to_rows=list
)


def gold_problem(home, values):
    (home / "gold.jsonl").write_text(f'{{"unit": "1", "values": {values}}}\n')
    (home / "bench.toml").write_text('[annotation.tasks."t/votes"]\ngold = "gold.jsonl"\n')
    settings = load_settings(home)
    chosen = settings.annotation.tasks["t/votes"]
    return build_units(ATTENTION_CHECKS_TASK, chosen, settings, TableFiles(folder=str(home)))


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ('{"right": "Yes"}', "right: 'Yes' is none of yes, no"),
        ('{"right": true}', "right: 'True' is none of yes, no"),
        ('{"rihgt": "yes"}', "there is no field 'rihgt'"),
        ('{"right": []}', "right: empty"),
    ],
)
def test_a_value_that_no_answer_can_have_is_refused(tmp_path, values, why):
    with pytest.raises(SettingsError, match=f"gold.jsonl: unit '1': {why}"):
        gold_problem(tmp_path, values)


# People in the graph: what is asked, what is open, and what follows from answers.


PEOPLE_SECTION = '[annotation.tasks."codis/votes"]\n'
PEOPLE = ("ana", "bo", "cem")
YES = {"correct": "yes", "different": "yes", "within_rules": "yes"}
ASSETS = [annotation_assets(annotation.VOTES), *dg.load_assets_from_modules([questions])]


def submission(annotator, **changed):
    context = {"context_1": f"{annotator} goes left.", "context_2": f"{annotator} goes right."}
    own = {"id": f"s-{annotator}", "annotator": annotator, "revises": None, "context": context}
    return entry(**own, **changed)


class Codis(Home):
    """Three people with a submission each, who may be asked to vote on the others'."""

    def __init__(self, folder, written=PEOPLE_SECTION):
        self.folder = folder
        self.submit()
        super().__init__(folder / "home", "codis", folder / "source", written)
        self.answers = AnswerFile(folder / "home", "codis/votes")

    def submit(self, **of_ana):
        entries = [submission("ana", **of_ana), submission("bo"), submission("cem")]
        write_raw(self.folder / "source", entries, [])

    def build(self):
        self.materialize(ASSETS)
        return self

    def vote(self, person, *names, **values):
        units = {unit.unit_id: unit for unit in self.read(Unit, "annotation", "votes_units")}
        for name in names:
            self.answers.says(person, units[name], **{**YES, **values})

    def question_labels(self):
        return [
            (one.question_id, one.labels.get(OPEN, "")) for one in self.read(Question, "questions")
        ]

    def check(self):
        settings, rows = self.settings, self.read(Question, "questions")
        found = check_annotation(
            undecided_by_task(TASK, self.tables, settings, rows),
            units_of_tasks(TASK, self.tables),
            settings,
        )
        return found.passed, found.severity.value, found.description


@pytest.mark.long
def test_votes_come_in_are_waited_for_and_are_requested_anew(tmp_path):
    home = Codis(tmp_path).build()
    units = home.read(Unit, "annotation", "votes_units")
    assert [(one.unit_id, one.needed) for one in units] == [
        ("s-ana", 2),
        ("s-bo", 2),
        ("s-cem", 2),
    ]
    assert units[0].barred == ("ana",)

    home.vote("bo", "s-ana")
    home.vote("cem", "s-ana", "s-bo")
    home.build()
    assert home.question_labels() == [("codis/s-ana/1", "2"), ("codis/s-ana/2", "2")]
    steps = {step.step: step.n for step in home.read(Step, "funnel")}
    assert steps["submissions open: votes are missing"] == 2
    assert home.check() == (
        False,
        "ERROR",
        "2 problems among 2 undecided units; the first: open in codis/votes: s-bo: 1 of 2 others"
        " voted",
    )

    home.vote("ana", "s-bo", "s-cem")
    home.vote("bo", "s-cem")
    home.build()
    assert home.check()[0]
    assert [open_ for _, open_ in home.question_labels()] == [""] * 6
    assert {(vote.tool, vote.correct) for vote in home.read(SubmissionVote, "votes")} == {
        ("files", True)
    }

    home.submit(question="Coming or going?")
    home.build()
    answers = home.read(Answer, "annotation", "votes_answers")
    assert [(one.person, one.complaint) for one in answers if one.complaint] == [
        ("bo", "given before the unit changed"),
        ("cem", "given before the unit changed"),
    ]
    assert not home.check()[0]
    assert len(home.question_labels()) == 4


@pytest.mark.parametrize(
    ("written", "found", "message"),
    [
        pytest.param("", {"s1": "1 of 2"}, (False, "WARN"), id="files with missing votes warn"),
        pytest.param(
            PEOPLE_SECTION, {"s1": "1 of 2"}, (False, "ERROR"), id="who is asked is waited for"
        ),
        pytest.param(
            f'{PEOPLE_SECTION}publish = "partial"\n',
            {"s1": "1 of 2"},
            (False, "WARN"),
            id="a part may be published",
        ),
        pytest.param(PEOPLE_SECTION, {}, (True, "ERROR"), id="nothing is open"),
        pytest.param(
            '[annotation.tasks."codis/revisions"]\n',
            {"s1": "1 of 2"},
            (False, "WARN"),
            id="another task is asked",
        ),
    ],
)
def test_what_is_open_warns_or_stops(tmp_path, written, found, message):
    (tmp_path / "bench.toml").write_text(written)
    settings = load_settings(tmp_path)
    result = check_annotation({"codis/votes": UndecidedUnits(found, {})}, {}, settings)
    passed, severity = message
    assert result.passed is passed
    assert passed or result.severity.value == severity


def counts(home: Codis) -> dict[str, tuple[int, int]]:
    """Build the questions; open and expired submissions as the funnel and others count them."""
    with Workbench(load_settings(Path(home.settings.home)), ["codis"]) as bench:
        bench.build_questions("codis")
        home.tables = bench.tables
        (status,) = progress(bench, "codis/votes", datetime.now(UTC))
        site = Site(home.folder / "report", home.images)
        AnnotationPages(settings=bench.settings).write(site, bench.tables, bench.catalog)
        site.finish()
    forms = {one["task"]: one for one in data(home.folder, "annotation")}
    shown = forms["codis/votes"]["progress"]
    steps = {one.step.partition(":")[0]: one.n for one in home.read(Step, "funnel")}
    return {
        "funnel": (steps["submissions open"], steps["submissions expired"]),
        "status": (status.in_work + status.untouched, status.expired),
        "report": (shown["in_work"] + shown["untouched"], shown["expired"]),
    }


@pytest.mark.long
def test_status_report_and_funnel_count_the_same(tmp_path):
    """Votes of a file, and answers: unusable, corrected, doubled, of an author, too few."""
    configuration = (
        f'[sources]\ncodis = "{tmp_path / "source"}"\n{PEOPLE_SECTION}publish = "partial"\n'
    )
    home = Codis(tmp_path, configuration)
    entries = [submission("ana"), submission("bo"), submission("cem"), submission("dan")]
    by_file = [("s-ana", "bo"), ("s-ana", "cem"), ("s-ana", "dan"), ("s-bo", "ana")]
    approval = {"correct": True, "different": True, "within_rules": True}
    votes = [{"submission": one, "annotator": by, **approval} for one, by in by_file]
    write_raw(tmp_path / "source", entries, votes)
    assert counts(home) == {"funnel": (3, 0), "status": (3, 0), "report": (3, 0)}

    home.vote("cem", "s-bo")
    home.vote("dan", "s-bo")  # with the vote of the file: complete
    home.vote("ana", "s-bo")  # again what she said in the file
    home.vote("cem", "s-cem")  # their own
    home.vote("ana", "s-cem", correct="maybe")  # unusable
    home.vote("bo", "s-cem", correct="no")
    home.vote("bo", "s-cem")  # corrected
    assert counts(home) == {"funnel": (2, 0), "status": (2, 0), "report": (2, 0)}
    assert home.question_labels()[0] == ("codis/s-ana/1", "2")

    (tmp_path / "home" / "bench.toml").write_text(f"{configuration}until = 2026-01-01\n")
    assert counts(home) == {"funnel": (0, 2), "status": (0, 2), "report": (0, 2)}
    assert home.check()[:2] == (False, "WARN")  # half is decided: the route goes on
    labels = home.read(Question, "questions")[0].labels
    assert (labels.get(OPEN), labels[EXPIRED]) == (None, "2")


@pytest.mark.long
def test_the_run_that_the_sensor_requests_builds_the_questions(tmp_path):
    """Three submissions, each approved by both of the others: six questions."""
    home = Codis(tmp_path, f'[sources]\ncodis = "{tmp_path / "source"}"\n{PEOPLE_SECTION}')
    settings = load_settings(tmp_path / "home")
    graph = build_graph(settings, load_catalog(settings, only={"codis"})).definitions
    with Workbench(settings, ["codis"]) as bench:
        ask(bench, "codis/votes")
        home.tables = bench.tables
        for person in PEOPLE:
            home.vote(person, *(f"s-{other}" for other in PEOPLE if other != person))
        request = tick_sensor("annotation", graph, bench.instance, tmp_path / "home")
        done = graph.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=bench.instance, asset_selection=request.asset_selection, tags=request.tags
        )
    assert done.success
    assert len(home.read(Question, "questions")) == 6
