"""People in the graph: what is asked, what is open, and what follows from answers."""

from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.annotate.operations import progress
from bench_assets.annotation.answers.progress import UndecidedUnits
from bench_assets.annotation.tasks import Answer, AskedUnit, Unit
from bench_assets.asset_factory.annotation_inputs import undecided_inputs, units_of_tasks
from bench_assets.core.schema.rows import Question
from bench_assets.core.schema.signature import EXPIRED, OPEN
from bench_assets.core.tables.build import FunnelStep as Step
from bench_assets.defs.checks.table_checks import check_annotation
from bench_assets.defs.tables.annotation import annotation_assets
from bench_assets.report.pages.annotation import AnnotationPages
from bench_assets.report.site.folder import Site
from bench_assets.suites.codis import annotation
from bench_assets.suites.codis.assets import questions
from bench_assets.suites.codis.dataset import SubmissionVote
from bench_assets.suites.codis.task import TASK
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_sensors.annotation import listen
from tests.annotation.answer_file import AnswerFile
from tests.home import Home
from tests.report.test_audit_pages import data
from tests.suites.codis.raw import entry, write_raw

ASKED = '[annotation.tasks."codis/votes"]\n'
YES = {"correct": "yes", "different": "yes", "within_rules": "yes"}
ASSETS = [annotation_assets(annotation.VOTES), *dg.load_assets_from_modules([questions])]


def submission(annotator, **changed):
    context = {"context_1": f"{annotator} goes left.", "context_2": f"{annotator} goes right."}
    own = {"id": f"s-{annotator}", "annotator": annotator, "revises": None, "context": context}
    return entry(**own, **changed)


class Codis(Home):
    """Three people with a submission each, who may be asked to vote on the others'."""

    def __init__(self, folder, written=ASKED):
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

    def vote(self, person, *names, **said):
        units = {unit.unit_id: unit for unit in self.read(Unit, "annotation", "votes_units")}
        for name in names:
            self.answers.says(person, units[name], **{**YES, **said})

    def asked_about(self):
        return [
            (one.question_id, one.labels.get(OPEN, "")) for one in self.read(Question, "questions")
        ]

    def check(self):
        settings, rows = self.settings, self.read(Question, "questions")
        found = check_annotation(
            undecided_inputs(TASK, self.tables, settings, rows),
            units_of_tasks(TASK, self.tables),
            settings,
        )
        return found.passed, found.severity.value, found.description

    def listen(self):
        """What a tick asks for: its key, or why it asks for nothing."""
        with dg.DagsterInstance.ephemeral() as instance:
            found = listen(
                instance,
                self.settings,
                self.tables,
                annotation.ANNOTATION_TASKS,
                lambda tasks: [dg.AssetKey(one.table("answers").split("/")) for one in tasks],
            )
        return [one.run_key for one in found.run_requests or ()] or found.skip_reason.skip_message


@pytest.mark.long
def test_votes_come_in_are_waited_for_and_are_asked_anew(tmp_path):
    home = Codis(tmp_path).build()
    asked = home.read(AskedUnit, "annotation", "votes_asked")
    assert [(one.unit_id, one.needed) for one in asked] == [
        ("s-ana", 2),
        ("s-bo", 2),
        ("s-cem", 2),
    ]
    assert home.read(Unit, "annotation", "votes_units")[0].barred == ("ana",)
    assert home.listen() == "nothing new"

    home.vote("bo", "s-ana")
    home.vote("cem", "s-ana", "s-bo")
    assert home.listen() == home.listen() != "nothing new"  # one run: a run key is used once
    home.build()
    assert home.listen() == "nothing new"
    assert home.asked_about() == [("codis/s-ana/1", "2"), ("codis/s-ana/2", "2")]
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
    assert [open_ for _, open_ in home.asked_about()] == [""] * 6
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
    assert len(home.asked_about()) == 4


def test_without_a_section_nobody_is_asked_and_nothing_stops(tmp_path):
    home = Codis(tmp_path, "")
    home.materialize(ASSETS[:1])
    assert [home.read(row, "annotation", f"votes_{name}") for name, row in TABLES.items()] == [
        []
    ] * 3
    assert not (tmp_path / "home" / "annotation").exists()
    assert home.listen().startswith("no task in [annotation]")


@pytest.mark.parametrize(
    ("written", "found", "said"),
    [
        pytest.param("", {"s1": "1 of 2"}, (False, "WARN"), id="files with missing votes warn"),
        pytest.param(ASKED, {"s1": "1 of 2"}, (False, "ERROR"), id="who is asked is waited for"),
        pytest.param(
            f'{ASKED}publish = "partial"\n',
            {"s1": "1 of 2"},
            (False, "WARN"),
            id="a part may be published",
        ),
        pytest.param(ASKED, {}, (True, "ERROR"), id="nothing is open"),
        pytest.param(
            '[annotation.tasks."codis/revisions"]\n',
            {"s1": "1 of 2"},
            (False, "WARN"),
            id="another task is asked",
        ),
    ],
)
def test_what_is_open_warns_or_stops(tmp_path, written, found, said):
    (tmp_path / "bench.toml").write_text(written)
    settings = load_settings(tmp_path)
    result = check_annotation({"codis/votes": UndecidedUnits(found, {})}, {}, settings)
    passed, severity = said
    assert result.passed is passed
    assert passed or result.severity.value == severity


@pytest.mark.parametrize(
    ("written", "n_units", "passed", "severity"),
    [
        pytest.param("", 2, False, "WARN", id="half is enough"),
        pytest.param("", 1, False, "ERROR", id="nothing decided is not"),
        pytest.param("least_decided = 0.6", 2, False, "ERROR", id="nor is less than asked for"),
    ],
)
def test_after_the_deadline_the_route_goes_on_or_is_refused(
    tmp_path, written, n_units, passed, severity
):
    (tmp_path / "bench.toml").write_text(f"{ASKED}until = 2026-01-01\n{written}\n")
    settings = load_settings(tmp_path)
    expired = {"codis/votes": UndecidedUnits({}, {"s1": "1 of 2"})}
    result = check_annotation(expired, {"codis/votes": n_units}, settings)
    assert (result.passed, result.severity.value) == (passed, severity)
    assert result.metadata["problems"].value == (1 if severity == "WARN" else 2)


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
    asked = f'[sources]\ncodis = "{tmp_path / "source"}"\n{ASKED}publish = "partial"\n'
    home = Codis(tmp_path, asked)
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
    assert home.asked_about()[0] == ("codis/s-ana/1", "2")

    (tmp_path / "home" / "bench.toml").write_text(f"{asked}until = 2026-01-01\n")
    assert counts(home) == {"funnel": (0, 2), "status": (0, 2), "report": (0, 2)}
    assert home.check()[:2] == (False, "WARN")  # half is decided: the route goes on
    labels = home.read(Question, "questions")[0].labels
    assert (labels.get(OPEN), labels[EXPIRED]) == (None, "2")


TABLES = {"units": Unit, "asked": AskedUnit, "answers": Answer}
