"""What is made again, and what is not: commands and the UI have one ledger."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.asset_factory.suite_assets import select_group
from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import BenchError
from bench_assets.defs.assembly import build_graph
from bench_assets.workspace.materialization.asset_selections import dataset_build
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_sensors.evaluations import suite_tables

QUIZ = Path(__file__).with_name("workbench.toml.template").read_text(encoding="utf-8")


def rows(n: int, answer: str = "A") -> str:
    return "".join(
        f'{{"id": "{i}", "question": "Which?", "options": ["red", "blue"], "answer": "{answer}"}}\n'
        for i in range(n)
    )


def configure(home: Path, file: str = "quiz.jsonl", says: str = "A", judge: str = "rules") -> None:
    toml = home / "bench.toml"
    toml.write_text(QUIZ.format(file=file, says=says, judge=judge, toml=toml))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "quiz.jsonl").write_text(rows(4))
    (folder / "other.jsonl").write_text(rows(4, "B"))
    configure(folder)
    return folder


def command(home: Path, *models: str) -> list[str]:
    """Evaluate, and build the leaderboard, as commands do; returns the tables of each run."""
    with Workbench(load_settings(home)) as bench:
        before = {run.run_id for run in bench.instance.get_runs()}
        bench.refresh_questions("quiz")
        for model in models:
            bench.evaluate(["quiz"], model)
        bench.refresh_leaderboard()
        runs = [run for run in bench.instance.get_runs() if run.run_id not in before]
        return [run.tags["bench/run"] for run in reversed(runs)]


def materialize_in_ui(home: Path, model: str) -> None:
    """Build questions and evaluate a model, as the daemon and the UI do."""
    settings = load_settings(home)
    graph = build_graph(settings, load_catalog(settings))
    with Workbench(settings) as opened:
        instance = opened.instance
        opened.add_models([model])
        job = graph.definitions.resolve_implicit_global_asset_job_def()
        assets = graph.definitions.resolve_asset_graph()
        quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        constants = dg.AssetSelection.assets("quiz/constants")  # made with the first evaluation
        for selection, part in (
            (dataset_build("quiz"), None),
            (constants, None),
            (suite_tables("quiz"), model),
        ):
            assert job.execute_in_process(
                instance=instance,
                asset_selection=sorted(selection.resolve(assets)),
                partition_key=part,
                run_config=quiet,
            ).success


ALL = ["quiz", "quiz: a", "leaderboard, published"]


def test_tables_that_the_ui_made_are_current_for_commands_and_the_reverse(home: Path) -> None:
    materialize_in_ui(home, "a")
    assert command(home, "a") == ALL[-1:]
    assert command(home, "b") == ["quiz: b", ALL[-1]]
    with Workbench(load_settings(home)) as bench:
        graph = bench.definitions.resolve_asset_graph()
        states = {
            key.to_user_string(): bench.ledger.status(key, "b" if of.is_partitioned else None).state
            for key in select_group("quiz").resolve(graph)
            for of in [graph.get(key)]
        }
    assert set(states.values()) == {"current"}


def edit_answer(home: Path) -> None:
    """Another key of the same length, a second later."""
    file = home / "quiz.jsonl"
    time = file.stat().st_mtime_ns + 10**9
    file.write_text(file.read_text().replace('"answer": "A"', '"answer": "B"', 1))
    os.utime(file, ns=(time, time))


def damage(home: Path) -> None:
    file = home / "tables/quiz/scores/a.parquet"
    file.write_bytes(file.read_bytes()[:-9] + b"?" + file.read_bytes()[-8:])


@pytest.mark.parametrize(
    ("change", "made"),
    [
        pytest.param(lambda home: (home / "quiz.jsonl").touch(), [], id="a time"),
        pytest.param(edit_answer, ALL, id="a key"),
        pytest.param(
            lambda home: (home / "quiz.jsonl").write_text(rows(4) + "\n"),
            [ALL[0], ALL[-1]],
            id="a line that is no row",
        ),
        pytest.param(lambda home: configure(home, says="B"), ALL[1:], id="a model"),
        pytest.param(lambda home: configure(home, judge="b"), ALL[1:], id="the judge"),
        pytest.param(damage, ALL[1:2], id="a damaged table"),
        pytest.param(
            lambda home: (home / "tables/quiz/predictions/a.parquet").unlink(),
            ALL[1:2],
            id="a deleted table",
        ),
        pytest.param(
            lambda home: (home / "tables/quiz/questions/all.parquet").unlink(),
            ALL[:1],
            id="deleted questions",
        ),
    ],
)
def test_a_change_makes_again_what_depends_on_it(
    home: Path, change: Callable[[Path], object], made: list[str]
) -> None:
    command(home, "a")
    change(home)
    assert command(home, "a") == made
    assert command(home, "a") == []


def test_another_source_has_tables_of_its_own(home: Path) -> None:
    command(home, "a")
    configure(home, "other.jsonl")
    assert command(home, "a") == ALL
    with Workbench(load_settings(home)) as bench:
        (row,) = [row for row in bench.metrics("quiz", "a") if row.category == "all"][:1]
    assert (row.value, row.n_scored) == (0.0, 4)
    assert command(home, "a") == []


def edit_judge(_images: list[object], _prompt: str, file: str) -> str:
    """Answer as a model during whose evaluation somebody configures another judge."""
    path = Path(file)
    path.write_text(path.read_text().replace('judge = "rules"', 'judge = "b"'))
    return "A"


@pytest.mark.long
def test_an_evaluation_has_the_judge_of_its_start(home: Path) -> None:
    assert command(home, "edited")[1] == "quiz: edited"
    assert command(home, "edited")[0] == "quiz: edited"
    assert command(home, "edited") == []


@pytest.fixture
def bench(home: Path) -> Iterator[Workbench]:
    with Workbench(load_settings(home), ["quiz"]) as opened:
        opened.refresh_questions("quiz")
        yield opened


def test_a_failed_build_is_tried_again(home: Path, bench: Workbench) -> None:
    (home / "quiz.jsonl").write_text('{"id": ')
    for _ in range(2):
        with pytest.raises(BenchError, match=r"quiz.jsonl"):
            bench.refresh_questions("quiz")
