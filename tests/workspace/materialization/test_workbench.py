import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import dagster as dg
import pytest
from PIL import Image

from bench_assets.asset_factory.suite_assets import select_group
from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import BenchError
from bench_assets.defs.assembly import build_graph
from bench_assets.workspace.materialization.asset_selections import dataset_build
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_sensors.evaluations import suite_tables

QUIZ = Path(__file__).with_name("workbench.toml.template").read_text(encoding="utf-8")


def question_rows(n: int, answer: str = "A") -> str:
    return "".join(
        f'{{"id": "{i}", "question": "Which?", "options": ["red", "blue"], "answer": "{answer}"}}\n'
        for i in range(n)
    )


def configure(home, file="quiz.jsonl", response="A", judge="rules"):
    toml = home / "bench.toml"
    toml.write_text(QUIZ.format(file=file, response=response, judge=judge, toml=toml))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "quiz.jsonl").write_text(question_rows(4))
    (folder / "other.jsonl").write_text(question_rows(4, "B"))
    configure(folder)
    return folder


def evaluate_by_command(home: Path, *models: str) -> list[str]:
    """Evaluate, and build the leaderboard, as commands do; returns the names of the runs."""
    with Workbench(load_settings(home)) as bench:
        earlier_ids = {run.run_id for run in bench.instance.get_runs()}
        bench.refresh_questions("quiz")
        for model in models:
            bench.evaluate(["quiz"], model)
        bench.refresh_leaderboard()
        runs = [run for run in bench.instance.get_runs() if run.run_id not in earlier_ids]
        return [run.tags["bench/run"] for run in reversed(runs)]


def materialize_in_ui(home: Path, model: str) -> None:
    """Build questions and evaluate a model, as the daemon and the UI do."""
    settings = load_settings(home)
    graph = build_graph(settings, load_catalog(settings))
    with Workbench(settings) as bench:
        instance = bench.instance
        bench.add_models([model])
        job = graph.definitions.resolve_implicit_global_asset_job_def()
        assets = graph.definitions.resolve_asset_graph()
        quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        constants = dg.AssetSelection.assets("quiz/constants")  # made with the first evaluation
        for selection, partition in (
            (dataset_build("quiz"), None),
            (constants, None),
            (suite_tables("quiz"), model),
        ):
            assert job.execute_in_process(
                instance=instance,
                asset_selection=sorted(selection.resolve(assets)),
                partition_key=partition,
                run_config=quiet,
            ).success


QUESTIONS, EVALUATION, LEADERBOARD = "quiz", "quiz: a", "leaderboard, published"  # names of runs


def test_tables_that_the_ui_made_are_current_for_commands_and_the_reverse(home: Path) -> None:
    materialize_in_ui(home, "a")
    assert evaluate_by_command(home, "a") == [LEADERBOARD]
    assert evaluate_by_command(home, "b") == ["quiz: b", LEADERBOARD]
    with Workbench(load_settings(home)) as bench:
        graph = bench.definitions.resolve_asset_graph()
        states_of_tables = set()
        for key in select_group("quiz").resolve(graph):
            partition = "b" if graph.get(key).is_partitioned else None
            states_of_tables.add(bench.ledger.status(key, partition).state)
    assert states_of_tables == {"current"}


def touch_questions(home: Path) -> None:
    (home / "quiz.jsonl").touch()


def edit_answer(home: Path) -> None:
    """Write another key of the same length, a second later."""
    file = home / "quiz.jsonl"
    time = file.stat().st_mtime_ns + 10**9
    file.write_text(file.read_text().replace('"answer": "A"', '"answer": "B"', 1))
    os.utime(file, ns=(time, time))


def append_blank_line(home: Path) -> None:
    (home / "quiz.jsonl").write_text(question_rows(4) + "\n")


def damage_scores(home: Path) -> None:
    """Change the last byte of the footer; its length and the magic number follow in 8 bytes."""
    file = home / "tables/quiz/scores/a.parquet"
    file.write_bytes(file.read_bytes()[:-9] + b"?" + file.read_bytes()[-8:])


def delete_predictions(home: Path) -> None:
    (home / "tables/quiz/predictions/a.parquet").unlink()


def delete_questions(home: Path) -> None:
    (home / "tables/quiz/questions/all.parquet").unlink()


@pytest.mark.parametrize(
    ("change", "expected_runs"),
    [
        (touch_questions, []),
        (edit_answer, [QUESTIONS, EVALUATION, LEADERBOARD]),
        (append_blank_line, [QUESTIONS, LEADERBOARD]),
        pytest.param(partial(configure, response="B"), [EVALUATION, LEADERBOARD], id="a model"),
        pytest.param(partial(configure, judge="b"), [EVALUATION, LEADERBOARD], id="the judge"),
        (damage_scores, [EVALUATION]),
        (delete_predictions, [EVALUATION]),
        (delete_questions, [QUESTIONS]),
    ],
)
def test_a_change_makes_again_what_depends_on_it(home, change, expected_runs):
    evaluate_by_command(home, "a")
    change(home)
    assert evaluate_by_command(home, "a") == expected_runs
    assert evaluate_by_command(home, "a") == []


def test_deleted_images_are_stored_again(home: Path) -> None:
    Image.new("RGB", (8, 8)).save(home / "black.png")
    row = '{"question": "Which?", "image": "black.png", "options": ["red", "blue"], "answer": "A"}'
    (home / "quiz.jsonl").write_text(row)
    evaluate_by_command(home, "a")
    (image,) = (home / "images").glob("*/*")
    image.unlink()  # the folder is there, with images of other suites
    evaluate_by_command(home, "a")
    assert image.exists()


def test_another_source_has_tables_of_its_own(home: Path) -> None:
    evaluate_by_command(home, "a")
    configure(home, "other.jsonl")
    assert evaluate_by_command(home, "a") == [QUESTIONS, EVALUATION, LEADERBOARD]
    with Workbench(load_settings(home)) as bench:
        row = next(row for row in bench.metrics("quiz", "a") if row.category == "all")
    assert (row.value, row.n_scored) == (0.0, 4)  # "A" to four questions whose key is B
    assert evaluate_by_command(home, "a") == []


def edit_judge(_images: list[object], _prompt: str, file: str) -> str:
    """Respond "A" as a model during whose evaluation another judge is configured."""
    path = Path(file)
    path.write_text(path.read_text().replace('judge = "rules"', 'judge = "b"'))
    return "A"


@pytest.mark.long
def test_an_evaluation_has_the_judge_of_its_start(home: Path) -> None:
    runs = [QUESTIONS, "quiz: edited", LEADERBOARD]
    assert evaluate_by_command(home, "edited") == runs
    assert evaluate_by_command(home, "edited") == runs[1:]  # with the judge configured meanwhile
    assert evaluate_by_command(home, "edited") == []


@pytest.fixture
def bench(home: Path) -> Iterator[Workbench]:
    with Workbench(load_settings(home), ["quiz"]) as workbench:
        workbench.refresh_questions("quiz")
        yield workbench


def test_a_failed_build_is_tried_again(home: Path, bench: Workbench) -> None:
    (home / "quiz.jsonl").write_text('{"id": ')
    for _ in range(2):  # the second call would pass if the tables counted as built
        with pytest.raises(BenchError, match=r"quiz.jsonl"):
            bench.refresh_questions("quiz")
