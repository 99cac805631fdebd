"""`bench explain` and `bench tables diff` on a home of one small suite."""

import json
import re
import shutil

import pytest

from bench_assets.annotation.tasks import Answer, Unit
from bench_assets.suites.codis.annotation import VOTES
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import tables_of
from tests.fakes.commands import bench

FIRST = "codis/000/1"


@pytest.fixture(scope="module")
def home(tmp_path_factory, evaluated):
    """A home in which two recorded models were evaluated: one thinks, and is wrong once."""
    home = tmp_path_factory.mktemp("explained") / "home"
    shutil.copytree(evaluated / "home", home)  # whose questions, two pairs, are built
    lines = [f'[sources]\ncodis = "{evaluated / "codis"}"']
    for name, texts in {
        "old": ("Opening.", "Closing."),
        "new": ("<think>inside \x1b[31mperhaps</think>Opening.", "I cannot say"),
    }.items():
        halves = ("000/1", "000/2", "001/1", "001/2")
        texts_of = zip(halves, (*texts, "Opening.", "Closing."), strict=True)
        responses = [{"question_id": f"codis/{half}", "text": text} for half, text in texts_of]
        (home / f"{name}.jsonl").write_text("\n".join(map(json.dumps, responses)))
        lines.append(f'[models.{name}]\nkind = "recorded"\nfile = "{name}.jsonl"')
    (home / "bench.toml").write_text("\n".join(lines))
    with Workbench(load_settings(home), ["codis"]) as opened:
        for name in ("old", "new"):
            opened.evaluate(["codis"], name)
    return home


@pytest.fixture(autouse=True)
def _at_home(home, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(home))


def test_explain_prints_every_step_in_order():
    shown = bench("explain", FIRST, "--model", "new").stdout
    steps = ["## Question", "## Image 1 of 1: ", "## Prompt, ", "## Raw response", "## Thought",
             "## Scored text", "## Judge rules", "## Parsed answer", "## Number"]  # fmt: skip
    places = [shown.index(step) for step in steps]
    assert places == sorted(places)
    assert "inside \\x1b[31mperhaps" in shown
    assert "\x1b" not in shown
    assert "codis|v" in shown
    assert "acc_p" in shown
    assert "\nread from: [Opening.]\n" in shown


def test_a_sample_of_a_limited_evaluation_is_explained_as_part():
    bench("evaluate", "codis", "--model", "most-frequent", "--limit", "2")
    shown = bench("explain", "codis/001/1", "--model", "most-frequent").stdout
    assert re.search(r"## Raw response\n.*## Number\n.*\nPARTIAL: 2 of 4 questions", shown, re.S)
    refused = bench("explain", FIRST, "--model", "most-frequent", fails=True).stderr
    assert f"most-frequent was not asked {FIRST}: its evaluation is of 2 questions" in refused


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["codis/000/9", "--model", "new"], "no question named", id="no such question"),
        pytest.param([FIRST, "--model", "nwe"], "did you mean 'new'", id="a misspelt model"),
        pytest.param(["cdis/000/1", "--model", "new"], "did you mean 'codis'", id="no such suite"),
        pytest.param([FIRST, "--model", "new", "--condition", "blind"], "no condition of codis",
                     id="no such condition"),
    ],
)  # fmt: skip
def test_explain_says_what_there_is_instead(arguments, says):
    assert says in bench("explain", *arguments, fails=True).stderr


def test_a_image_that_is_gone_does_not_end_the_explanation(home, tmp_path, monkeypatch):
    copied = shutil.copytree(home, tmp_path / "home")
    shutil.rmtree(copied / "images")
    monkeypatch.setenv("BENCH_HOME", str(copied))
    assert "no image" in bench("explain", FIRST, "--model", "old").stdout


def test_diff_says_what_moved_and_shows_questions():
    shown = bench("tables", "diff", "old", "new", "--suite", "codis").stdout
    assert "codis, acc_p: old -> new" in shown
    assert "model" in shown
    assert "codis/000/2: " in shown
    assert "old: 'Closing.' (1)" in shown
    assert "new: 'I cannot say' (0)" in shown


def test_diff_takes_a_file_of_another_home(home, tmp_path):
    other = shutil.copytree(home / "tables", tmp_path / "elsewhere" / "tables")
    (before,) = other.glob(".of/codis-*/codis/metrics/old.parquet")
    rows = [
        json.loads(line)
        for line in bench("tables", "diff", before, "new", "--json").stdout.splitlines()
    ]
    assert [(row["cause"], row["effect"]) for row in rows] == [("in all", -0.5), ("model", -0.5)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["old", "nwe"], "did you mean 'new'", id="a misspelt model"),
        pytest.param(["old", "gone.parquet"], "no such file", id="no such file"),
        pytest.param(["main", "no_context"], "Name its model", id="a condition of nobody"),
        pytest.param(["old", "no_context"], "no model with metrics", id="not evaluated so"),
    ],
)
def test_diff_says_what_there_is_instead(arguments, says):
    assert says in bench("tables", "diff", *arguments, fails=True).stderr


def test_a_table_that_is_damaged_is_left_out_of_what_differs_by_name(home, tmp_path, monkeypatch):
    copy = shutil.copytree(home, tmp_path / "home")
    monkeypatch.setenv("BENCH_HOME", str(copy))
    (scores,) = copy.glob("tables/.of/codis-*/codis/scores/old.parquet")
    scores.write_bytes(scores.read_bytes()[:-9])
    result = bench("tables", "diff", "old", "new", fails=True)
    assert result.stdout == ""
    assert f"left out: {scores}" in result.stderr


def test_explain_walks_back_to_the_answers_of_people(home):
    """Pseudonym, time, task, what was shown, and why an answer does not count."""
    task = VOTES.task
    unit = Unit(task=task.name, unit_id="000", shown={"Question": "Opening or closing?"}, needed=2)
    yes = {"correct": ("yes",), "different": ("yes",), "within_rules": ("yes",)}
    votes = [
        Answer(
            task=task.name, task_version=task.version, unit_id="000", unit_digest=unit.digest,
            person=person, values=yes, at=f"2026-11-22T1{n}:00:00.000Z",
            changed_at="2026-11-22T18:00:00.000Z", tool="pages", tool_id=f"{n}", complaint=why,
        )
        for n, (person, why) in enumerate([("ana", ""), ("bo", "after the deadline")])
    ]  # fmt: skip
    tables = tables_of(load_settings(home))
    tables.write(VOTES.table("units").split("/"), [unit], Unit)
    tables.write(VOTES.table("answers").split("/"), votes, Answer)
    shown = bench("explain", FIRST, "--model", "old").stdout
    heading = f"codis/votes 000, shown {unit.digest[:12]}"
    assert f"ana on {heading}: correct: yes; different: yes; within_rules: yes\n" in shown
    assert "2026-11-22T10:00:00.000Z, changed 2026-11-22T18:00:00.000Z; pages 0, task" in shown
    assert "(does not count: after the deadline)" in shown
    explanation = json.loads(bench("explain", FIRST, "--model", "old", "--json").stdout)
    assert [one["person"] for one in explanation["people"]] == ["ana", "bo"]
