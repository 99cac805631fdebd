import json
import shutil

import pytest
from PIL import Image
from typer.testing import CliRunner

import bench_assets
from bench_assets.cli.main import app
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.rows import Question
from bench_assets.workspace.inspect.stale_numbers import StaleNumber
from bench_assets.workspace.materialization.asset_selections import dataset_build
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.commands import bench
from tests.fakes.quiz import TASK

MARK = "stale"
READERS = {  # commands that print a number
    "leaderboard": ("leaderboard", "quiz"),
    "matrix": ("leaderboard",),
    "explain": ("explain", "quiz/q3", "--model", "random"),
    "diff": ("tables", "diff", "random", "most-frequent", "--suite", "quiz"),
    "check": ("tables", "check"),
    "verify": ("home", "verify"),
    "reproduce": ("bundle", "reproduce", "quiz", "random"),
    "pack": ("bundle", "pack", "quiz", "random", "packed.zip"),
    "export": ("export", "csv"),
    "dry run": ("evaluate", "quiz", "--model", "random", "--dry-run"),
}
MARKS_BY_READER = {**dict.fromkeys(READERS, MARK), "verify": "outdated"}
ANSWERS = [str(question_index % 6) for question_index in range(24)]


def write_quiz(folder, answers=ANSWERS):
    rows = [
        {
            "id": f"q{index}",
            "question": f"Which number follows {index - 1}?",
            "images": "a.png",
            "options": ["0", "1", "2", "3", "4", "5"],
            "answer": answer,
        }
        for index, answer in enumerate(answers)
    ]
    (folder / "quiz.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_settings(folder, *added_lines):
    lines = ["[benchmarks.quiz]", 'file = "quiz.jsonl"', 'answers = "texts"', *added_lines]
    (folder / "bench.toml").write_text("\n".join(lines) + "\n")


def write_image(folder, color):
    Image.new("RGB", (8, 8), color).save(folder / "a.png")


def correct_key(folder):
    write_quiz(folder, answers=[*ANSWERS[:3], "4", *ANSWERS[4:]])


def swap_image(folder):
    write_image(folder, "blue")


def remove_file(folder):
    (folder / "quiz.jsonl").rename(folder / "moved.jsonl")


def change_setting(folder):
    write_settings(folder, "group_size = 2")


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """A home whose quiz two models have answered."""
    folder = tmp_path_factory.mktemp("quiz") / "home"
    folder.mkdir()
    write_quiz(folder)
    write_image(folder, "red")
    write_settings(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(folder))
        for model in ("random", "most-frequent"):
            assert bench("evaluate", "quiz", "--model", model).exit_code == 0
    return folder


@pytest.fixture
def home(evaluated, tmp_path, monkeypatch):
    copy = shutil.copytree(evaluated, tmp_path / "home")
    monkeypatch.setenv("BENCH_HOME", str(copy))
    monkeypatch.chdir(copy)
    return copy


def command_output(reader):
    return CliRunner().invoke(app, READERS[reader]).output


@pytest.mark.parametrize(("reader", "mark"), MARKS_BY_READER.items())
def test_every_reader_marks_a_number_of_a_changed_source_as_stale(home, reader, mark):
    correct_key(home)
    assert mark in command_output(reader)


@pytest.fixture
def number_page(home):
    """Address of the page of a number in a report that was built after its source changed."""
    correct_key(home)
    bench("report")
    (file,) = (home / "report" / "data").glob("number-quiz-*-random-*.js")
    page_id, _, _ = file.name.removeprefix("number-").partition(".")
    return f"number/{page_id}"


@pytest.mark.browser
def test_pages_of_numbers_and_samples_name_what_has_changed(home, number_page, page):
    for address in ("samples/quiz", number_page):
        page.goto("about:blank")
        page.goto(f"{(home / 'report' / 'index.html').as_uri()}#/{address}")
        page.get_by_text("stale quiz.jsonl has changed: bench evaluate quiz").wait_for()


def test_after_an_evaluation_its_model_is_current_and_the_other_is_marked(home):
    correct_key(home)
    bench("evaluate", "quiz", "--model", "random")
    lines = bench("leaderboard", "quiz").output.splitlines()
    (evaluated_line,) = (line for line in lines if line.startswith("random"))
    (stale_line,) = (line for line in lines if line.startswith("most-frequent"))
    assert MARK not in evaluated_line
    assert "measured on questions that have changed since" in stale_line
    bench("evaluate", "quiz", "--model", "most-frequent")
    assert MARK not in command_output("leaderboard")


@pytest.mark.parametrize("change_source", [correct_key, swap_image])
def test_python_evaluates_and_loads_the_changed_questions(home, change_source):
    questions_before = list(bench_assets.load("quiz"))
    change_source(home)
    (evaluation,) = bench_assets.evaluate("quiz", model="random").evaluations
    assert list(evaluation.questions) == list(bench_assets.load("quiz")) != questions_before


def test_python_compares_the_questions_that_did_not_change(home):
    before = bench_assets.evaluate("quiz", model="random")
    correct_key(home)
    (row,) = bench_assets.compare(before, bench_assets.evaluate("quiz", model="random")).rows
    assert row.n == 23  # of 24 questions


def test_python_compares_no_runs_whose_questions_all_changed(home):
    before = bench_assets.evaluate("quiz", model="random")
    swap_image(home)  # that of all questions
    after = bench_assets.evaluate("quiz", model="random")
    with pytest.raises(BenchError, match="the runs have no common question"):
        bench_assets.compare(before, after)


def test_python_neither_loads_nor_evaluates_a_suite_whose_file_is_missing(home):
    remove_file(home)
    with pytest.raises(BenchError, match=r"quiz\.jsonl"):
        bench_assets.load("quiz")
    with pytest.raises(BenchError, match=r"quiz\.jsonl"):
        bench_assets.evaluate("quiz", model="random")


@pytest.mark.parametrize(
    ("change_source", "expected_reason"),
    [
        (correct_key, "stale: quiz.jsonl has changed: bench evaluate quiz"),
        (swap_image, "stale: ../a.png has changed: bench evaluate quiz"),
        (change_setting, "stale: the setting group_size has changed"),
        (remove_file, "quiz.jsonl: no such file or folder"),
    ],
)
def test_a_stale_number_names_what_has_changed(home, change_source, expected_reason):
    change_source(home)
    assert expected_reason in command_output("leaderboard")


def test_a_stale_number_is_named_with_its_condition():
    number = StaleNumber(task=TASK, condition="blind", model="m", reason="it changed")
    assert str(number) == "quiz, blind, of m: stale: it changed"


def test_a_number_is_current_again_once_a_change_is_undone(home):
    correct_key(home)
    swap_image(home)
    change_setting(home)
    assert MARK in command_output("leaderboard")
    write_quiz(home)
    write_image(home, "red")
    write_settings(home)
    assert MARK not in command_output("leaderboard")


@pytest.mark.parametrize(
    "harmless_section",
    [("[suites.quiz]", 'judge = ""'), ("[checkpoints]", "smallest_change = 0.1")],
    ids=["settings of the evaluation", "another section"],
)
def test_settings_that_questions_do_not_depend_on_leave_numbers_current(home, harmless_section):
    write_settings(home, *harmless_section)
    assert MARK not in command_output("leaderboard")


def test_touching_a_file_of_questions_leaves_numbers_current(home):
    (home / "quiz.jsonl").touch()
    assert MARK not in command_output("leaderboard")


def test_a_source_that_lost_rows_is_refused_until_it_is_accepted(home):
    write_quiz(home, ANSWERS[:12])
    output = bench("evaluate", "quiz", "--model", "random", fails=True).output
    assert "quiz.jsonl: 12 rows (24 before)" in output
    assert MARK in command_output("leaderboard")
    bench("tables", "accept", "quiz")
    bench("evaluate", "quiz", "--model", "random")
    bench("evaluate", "quiz", "--model", "most-frequent")
    assert MARK not in command_output("leaderboard")


def test_a_run_of_the_launchpad_accepts_lost_rows_once(home):
    write_quiz(home, ANSWERS[:12])
    with Workbench(load_settings(home), ["quiz"]) as workbench:
        job = workbench.definitions.resolve_implicit_global_asset_job_def()
        keys = dataset_build("quiz").resolve(workbench.definitions.resolve_asset_graph())

        def run_succeeds(**config):
            return job.execute_in_process(
                run_config={"resources": {"io_manager": {"config": config}}},
                asset_selection=[*keys],
                instance=workbench.instance,
                raise_on_error=False,
            ).success

        assert not run_succeeds()
        assert run_succeeds(accept=True)
        write_quiz(home, ANSWERS[:4])
        assert not run_succeeds()
        assert len(workbench.tables.read(["quiz", "questions"], Question)) == 12
