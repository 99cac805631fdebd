import json
import re
import shutil
from dataclasses import replace

import pytest

from bench_assets.annotation.tasks import Answer, Unit
from bench_assets.suites.codis.annotation import VOTES
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import tables_of
from tests.fakes.commands import answers, bench, lines, write_responses

FIRST = "codis/000/1"


@pytest.fixture(scope="module")
def home(tmp_path_factory, evaluated):
    """A home in which two recorded models were evaluated; ``new`` thinks, and is wrong once."""
    home = tmp_path_factory.mktemp("explained") / "home"
    shutil.copytree(evaluated / "home", home)  # whose questions, two pairs, are built
    sections = [f'[sources]\ncodis = "{evaluated / "codis"}"']
    for name, texts in {
        "old": ("Opening.", "Closing."),
        "new": ("<think>inside \x1b[31mperhaps</think>Opening.", "I cannot say"),
    }.items():
        write_responses(home / f"{name}.jsonl", answers(*texts, "Opening.", "Closing."))
        sections.append(f'[models.{name}]\nkind = "recorded"\nfile = "{name}.jsonl"')
    (home / "bench.toml").write_text("\n".join(sections))
    with Workbench(load_settings(home), ["codis"]) as workbench:
        workbench.evaluate(["codis"], "old")
        workbench.evaluate(["codis"], "new")
    return home


@pytest.fixture(autouse=True)
def _use_home(home, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(home))


def test_explain_prints_every_step_in_order():
    stdout = bench("explain", FIRST, "--model", "new").stdout
    steps = ["## Question", "## Image 1 of 1: ", "## Prompt, ", "## Raw response", "## Thought",
             "## Scored text", "## Judge rules", "## Parsed answer", "## Number"]  # fmt: skip
    positions = [stdout.index(step) for step in steps]
    assert positions == sorted(positions)
    assert "\nread from: [Opening.]\n" in stdout
    assert "acc_p" in stdout[positions[-1] :]


def test_explain_prints_control_characters_as_escapes():
    stdout = bench("explain", FIRST, "--model", "new").stdout
    assert "inside \\x1b[31mperhaps" in stdout
    assert "\x1b" not in stdout


def test_a_response_of_a_limited_evaluation_is_explained_as_partial():
    bench("evaluate", "codis", "--model", "most-frequent", "--limit", "2")
    stdout = bench("explain", "codis/001/1", "--model", "most-frequent").stdout
    assert re.search(r"## Raw response\n.*## Number\n.*\nPARTIAL: 2 of 4 questions", stdout, re.S)
    stderr = bench("explain", FIRST, "--model", "most-frequent", fails=True).stderr
    assert f"not asked {FIRST}. Name a question of its evaluation (of 2): codis/" in stderr


@pytest.mark.parametrize(
    ("arguments", "expected_message"),
    [
        pytest.param(["codis/000/9", "--model", "new"], "no question named", id="no such question"),
        pytest.param([FIRST, "--model", "nwe"], "did you mean 'new'", id="a misspelt model"),
        pytest.param(["cdis/000/1", "--model", "new"], "did you mean 'codis'", id="no such suite"),
        pytest.param([FIRST, "--model", "new", "--condition", "blind"], "no condition of codis",
                     id="no such condition"),
    ],
)  # fmt: skip
def test_explain_refuses_unknown_names_with_the_nearest(arguments, expected_message):
    assert expected_message in bench("explain", *arguments, fails=True).stderr


def test_a_missing_image_does_not_end_the_explanation(home, tmp_path, monkeypatch):
    copy = shutil.copytree(home, tmp_path / "home")
    shutil.rmtree(copy / "images")
    monkeypatch.setenv("BENCH_HOME", str(copy))
    assert "no image" in bench("explain", FIRST, "--model", "old").stdout


def test_diff_prints_the_metric_its_causes_and_changed_responses():
    stdout = bench("tables", "diff", "old", "new", "--suite", "codis").stdout
    assert "codis, acc_p: old -> new" in stdout
    assert "model" in stdout
    assert "codis/000/2: " in stdout
    assert "old: 'Closing.' (1)" in stdout
    assert "new: 'I cannot say' (0)" in stdout


def test_diff_takes_a_file_of_another_home(home, tmp_path):
    tables = shutil.copytree(home / "tables", tmp_path / "elsewhere" / "tables")
    (old_metrics,) = tables.glob(".of/codis-*/codis/metrics/old.parquet")
    rows = lines(bench("tables", "diff", old_metrics, "new", "--json"))
    effects = [(row["cause"], row["effect"]) for row in rows]
    assert effects == [("in all", -0.5), ("model", -0.5)]  # one of two pairs is wrong now


@pytest.mark.parametrize(
    ("arguments", "expected_message"),
    [
        pytest.param(["old", "nwe"], "did you mean 'new'", id="a misspelt model"),
        pytest.param(["old", "gone.parquet"], "no such file", id="no such file"),
        pytest.param(["main", "no_context"], "Name its model", id="a condition of nobody"),
        pytest.param(["old", "no_context"], "no model with metrics", id="not evaluated so"),
        pytest.param(["old", "new", "--model", "old"], "are no conditions", id="a needless model"),
        pytest.param(["old", "new", "--metric", "ac_p"], "did you mean 'acc_p'", id="a metric"),
    ],
)
def test_diff_refuses_what_it_cannot_compare(arguments, expected_message):
    assert expected_message in bench("tables", "diff", *arguments, fails=True).stderr


def test_diff_leaves_out_a_damaged_table_and_names_it(home, tmp_path, monkeypatch):
    copy = shutil.copytree(home, tmp_path / "home")
    monkeypatch.setenv("BENCH_HOME", str(copy))
    (scores,) = copy.glob("tables/.of/codis-*/codis/scores/old.parquet")
    scores.write_bytes(scores.read_bytes()[:-9])
    result = bench("tables", "diff", "old", "new", fails=True)
    assert result.stdout == ""
    assert f"left out: {scores}" in result.stderr


def test_explain_shows_the_votes_of_people_and_why_one_does_not_count(home):
    task = VOTES.task
    unit = Unit(task=task.name, unit_id="000", shown={"Question": "Opening or closing?"}, needed=2)
    yes = {"correct": ("yes",), "different": ("yes",), "within_rules": ("yes",)}
    vote_of_ana = Answer(
        task=task.name, task_version=task.version, unit_id="000", unit_digest=unit.digest,
        person="ana", values=yes, at="2026-11-22T10:00:00.000Z",
        changed_at="2026-11-22T18:00:00.000Z", tool="pages", tool_id="0", complaint="",
    )  # fmt: skip
    vote_of_bo = replace(vote_of_ana, person="bo", tool_id="1", complaint="after the deadline")
    tables = tables_of(load_settings(home))
    tables.write(VOTES.table("units").split("/"), [unit], Unit)
    tables.write(VOTES.table("answers").split("/"), [vote_of_ana, vote_of_bo], Answer)
    stdout = bench("explain", FIRST, "--model", "old").stdout
    heading = f"codis/votes 000, shown {unit.digest[:12]}"
    assert f"ana on {heading}: correct: yes; different: yes; within_rules: yes\n" in stdout
    assert "2026-11-22T10:00:00.000Z, changed 2026-11-22T18:00:00.000Z; pages 0, task" in stdout
    assert "(does not count: after the deadline)" in stdout
    explanation = json.loads(bench("explain", FIRST, "--model", "old", "--json").stdout)
    assert [vote["person"] for vote in explanation["people"]] == ["ana", "bo"]
