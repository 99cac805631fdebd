"""What is done to a source x what prints a number: marked as stale, and current once evaluated."""

import json
import shutil

import pytest
from PIL import Image
from typer.testing import CliRunner

import bench_assets
from bench_assets.cli.main import app
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.rows import Question
from bench_assets.workspace.materialization.asset_selections import dataset_build
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.commands import bench

MARK = "stale"
READERS = {
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


ANSWERS = [str(number % 6) for number in range(24)]


def write_quiz(folder, answers=ANSWERS):
    rows = [
        {
            "id": f"q{number}",
            "question": f"Which number follows {number - 1}?",
            "images": "a.png",
            "options": ["0", "1", "2", "3", "4", "5"],
            "answer": answer,
        }
        for number, answer in enumerate(answers)
    ]
    (folder / "quiz.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_settings(folder, *more):
    lines = ["[benchmarks.quiz]", 'file = "quiz.jsonl"', 'answers = "texts"', *more]
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


def shown_by(reader):
    return CliRunner().invoke(app, READERS[reader]).output.replace("outdated", MARK)


@pytest.mark.parametrize("reader", READERS)
def test_a_number_of_another_source_is_marked_by(home, reader):
    correct_key(home)
    assert MARK in shown_by(reader)


@pytest.mark.browser
def test_pages_of_numbers_and_samples_say_what_has_changed(home, page):
    correct_key(home)
    bench("report")
    (number,) = (home / "report" / "data").glob("number-quiz-*-random-*.js")
    for address in (
        "samples/quiz",
        f"number/{number.name.partition('.')[0]}".replace("number-", ""),
    ):
        page.goto("about:blank")
        page.goto(f"{(home / 'report' / 'index.html').as_uri()}#/{address}")
        page.get_by_text("stale quiz.jsonl has changed: bench evaluate quiz").wait_for()


def test_after_an_evaluation_its_model_is_current_and_the_other_is_marked(home):
    correct_key(home)
    assert bench("evaluate", "quiz", "--model", "random").exit_code == 0
    lines = bench("leaderboard", "quiz").output.splitlines()
    (current,) = (line for line in lines if line.startswith("random"))
    (other,) = (line for line in lines if line.startswith("most-frequent"))
    assert MARK not in current
    assert "measured on questions that have changed since" in other
    assert bench("evaluate", "quiz", "--model", "most-frequent").exit_code == 0
    assert MARK not in shown_by("leaderboard")


@pytest.mark.parametrize(
    ("action", "n_common"),
    [(correct_key, 23), (swap_image, 0), (remove_file, None)],
    ids=lambda action: getattr(action, "__name__", ""),
)
def test_python_evaluates_loads_and_compares_the_questions_as_they_are_after(
    home, action, n_common
):
    before = bench_assets.evaluate("quiz", model="random")
    action(home)
    if n_common is None:
        with pytest.raises(BenchError, match=r"quiz\.jsonl"):
            bench_assets.load("quiz")
        with pytest.raises(BenchError, match=r"quiz\.jsonl"):
            bench_assets.evaluate("quiz", model="random")
        return
    run = bench_assets.evaluate("quiz", model="random")
    assert list(run.evaluations[0].questions) == list(bench_assets.load("quiz"))
    assert list(before.evaluations[0].questions) != list(bench_assets.load("quiz"))
    if n_common:
        (row,) = bench_assets.compare(before, run).rows
        assert row.n == n_common
    else:
        with pytest.raises(BenchError, match="the runs have no common question"):
            bench_assets.compare(before, run)


def test_a_stale_number_names_what_has_changed_and_what_to_do(home):
    correct_key(home)
    assert "stale: quiz.jsonl has changed: bench evaluate quiz" in shown_by("leaderboard")
    write_quiz(home)
    swap_image(home)
    assert "stale: ../a.png has changed: bench evaluate quiz" in shown_by("leaderboard")
    write_image(home, "red")
    change_setting(home)
    assert "stale: the setting group_size has changed" in shown_by("leaderboard")
    write_settings(home)
    assert MARK not in shown_by("leaderboard")
    remove_file(home)
    assert MARK in shown_by("leaderboard")


@pytest.mark.parametrize("harmless", ["settings of the evaluation", "another section", "touched"])
def test_what_questions_do_not_depend_on_leaves_numbers_current(home, harmless):
    if harmless == "touched":
        (home / "quiz.jsonl").touch()
    elif harmless == "another section":
        write_settings(home, "[checkpoints]", "smallest_change = 0.1")
    else:
        write_settings(home, "[suites.quiz]", 'judge = ""')
    assert MARK not in shown_by("leaderboard")


def test_a_source_that_lost_rows_is_refused_until_it_is_accepted(home):
    write_quiz(home, ANSWERS[:12])
    refused = bench("evaluate", "quiz", "--model", "random", fails=True).output
    assert "quiz.jsonl: 12 rows (24 before)" in refused
    assert MARK in shown_by("leaderboard")
    bench("tables", "accept", "quiz")
    bench("evaluate", "quiz", "--model", "random")
    bench("evaluate", "quiz", "--model", "most-frequent")
    assert MARK not in shown_by("leaderboard")


def test_a_run_of_the_launchpad_that_accepts_passes_once(home):
    write_quiz(home, ANSWERS[:12])
    settings = load_settings(home)
    with Workbench(settings, ["quiz"]) as opened:
        job = opened.definitions.resolve_implicit_global_asset_job_def()
        keys = dataset_build("quiz").resolve(opened.definitions.resolve_asset_graph())

        def launch(**accept):
            config = {"resources": {"io_manager": {"config": accept}}}
            return job.execute_in_process(
                run_config=config,
                asset_selection=[*keys],
                instance=opened.instance,
                raise_on_error=False,
            ).success

        assert not launch()
        assert launch(accept=True)
        write_quiz(home, ANSWERS[:4])
        assert not launch()
        assert len(opened.tables.read(["quiz", "questions"], Question)) == 12
