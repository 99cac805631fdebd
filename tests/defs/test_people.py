"""People in the graph: what is asked, what is open, and what follows from answers."""

import dagster as dg
import pytest

from bench_assets.annotation.tasks import Answer, AskedUnit, Unit
from bench_assets.asset_factory.annotation_inputs import open_units
from bench_assets.core.schema.rows import Question
from bench_assets.core.schema.signature import OPEN
from bench_assets.defs.checks.table_checks import annotation_is_complete
from bench_assets.defs.tables.annotation import annotation_assets
from bench_assets.suites.codis import annotation
from bench_assets.suites.codis.assets import questions
from bench_assets.suites.codis.dataset import SubmissionVote
from bench_assets.suites.codis.task import TASK
from bench_assets.suites.codis.votes import SelectionFunnelStep
from resources.config.settings_resource import SettingsResource
from sensors.annotation import listen
from tests.annotation.answer_file import AnswerFile
from tests.home import Home
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

    def vote(self, person, *names):
        units = {unit.unit_id: unit for unit in self.read(Unit, "annotation", "votes_units")}
        for name in names:
            self.answers.says(person, units[name], **YES)

    def asked_about(self):
        return [
            (one.question_id, one.labels.get(OPEN, "")) for one in self.read(Question, "questions")
        ]

    def check(self):
        found = annotation_is_complete(
            open_units(TASK, self.tables, self.read(Question, "questions")), self.settings.load()
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
    steps = {step.step: step.n for step in home.read(SelectionFunnelStep, "funnel")}
    assert steps["submissions open: votes are missing"] == 2
    assert home.check() == (
        False,
        "ERROR",
        "2 problems among 2 open units; the first: open in codis/votes: s-bo: 1 of 2 others voted",
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
        pytest.param("", ["s1: 1 of 2"], (False, "WARN"), id="files with missing votes warn"),
        pytest.param(ASKED, ["s1: 1 of 2"], (False, "ERROR"), id="who is asked is waited for"),
        pytest.param(
            f'{ASKED}publish = "partial"\n',
            ["s1: 1 of 2"],
            (False, "WARN"),
            id="a part may be published",
        ),
        pytest.param(ASKED, [], (True, "ERROR"), id="nothing is open"),
        pytest.param(
            '[annotation.tasks."codis/revisions"]\n',
            ["s1: 1 of 2"],
            (False, "WARN"),
            id="another task is asked",
        ),
    ],
)
def test_what_is_open_warns_or_stops(tmp_path, written, found, said):
    (tmp_path / "bench.toml").write_text(written)
    settings = SettingsResource(home=str(tmp_path)).load()
    result = annotation_is_complete({"codis/votes": found}, settings)
    passed, severity = said
    assert result.passed is passed
    assert passed or result.severity.value == severity


TABLES = {"units": Unit, "asked": AskedUnit, "answers": Answer}
