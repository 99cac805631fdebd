import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.errors import BenchError, TableError
from bench_assets.core.schema.rows import Metric, Prediction, Score
from bench_assets.workspace.inspect.tables import list_tables
from bench_assets.workspace.maintain.removal import find_removable, remove, unknown_suites
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.models_toml import read_models, save_models
from bench_resources.runs.orphaned_runs import table_locks
from tests.fakes.rows import prediction
from tests.fakes.stores import response_file

ODD_NAME = "org/m@127.0.0.1-8000+top_p=0.5"
MODEL_NAMES = ("m", "m2", "org", ODD_NAME, "all")
HOLD_LOCK = """
import sys
from pathlib import Path
from bench_resources.storage.locks import hold_locks
with hold_locks(Path(sys.argv[1]), [sys.argv[2]], print):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    (home / "quiz.jsonl").write_text('{"question": "?", "answer": "A"}')
    (home / "bench.toml").write_text('[benchmarks.quiz]\nfile = "quiz.jsonl"\n')
    with Workbench(load_settings(home), ["quiz", "blink"]) as workbench:
        yield workbench


@pytest.fixture
def home(bench):
    """A home with tables, notes, partitions and responses of several models."""
    for name in MODEL_NAMES:
        predictions = [prediction(model=name, decoding=f"of {name}|t=0")]
        bench.tables.write(["quiz", "predictions"], predictions, Prediction, name)
        bench.tables.write(["quiz", "scores"], [], Score, name)
        bench.instance.add_dynamic_partitions(str(MODELS.name), [name])
    bench.tables.write(["quiz", "rejections"], [], Score)  # its file is all.parquet
    save_models(bench.settings.home, {ODD_NAME: {"kind": "random"}})
    file = bench.settings.home / "responses.sqlite"
    response_file(file)
    with sqlite3.connect(file) as db:
        db.execute("DELETE FROM responses")
        for name in MODEL_NAMES:
            db.execute(
                "INSERT INTO responses (key, model, decoding, prompt) VALUES (?, ?, 't=0', ?)",
                (name, f"of {name}", f"prompt of {name}"),
            )
    return bench.settings.home


def table_files(home):
    return {file.relative_to(home).as_posix() for file in (home / "tables").rglob("*.parquet")}


def response_keys(home):
    with sqlite3.connect(home / "responses.sqlite") as db:
        return {name for (name,) in db.execute("SELECT key FROM responses")}


def test_results_of_a_suite_that_is_gone_are_named_and_go_with_their_model(bench, home):
    bench.tables.write(["gone", "metrics"], [], Metric, "m")
    bench.tables.write(["gone", "metrics"], [], Metric, "all")
    bench.tables.write(["gone", "questions"], [], Score)
    assert unknown_suites(bench) == {"gone": ["all", "m"]}
    remove(bench, find_removable(bench, "m"), responses=False)
    assert unknown_suites(bench) == {"gone": ["all"]}
    assert "tables/gone/questions/all.parquet" in table_files(home)


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_removing_a_model_leaves_everything_of_the_others(bench, home, model):
    files_before = table_files(home)
    assert len(find_removable(bench, model).tables) == 2
    removed = remove(bench, find_removable(bench, model), responses=True)
    assert (removed.tables, removed.responses) == (2, 1)
    removed_files = files_before - table_files(home)
    assert len(removed_files) == 2
    assert {Path(file).parent.name for file in removed_files} == {"predictions", "scores"}
    assert "tables/quiz/rejections/all.parquet" in table_files(home)
    others = set(MODEL_NAMES) - {model}
    assert response_keys(home) == others
    assert set(bench.instance.get_dynamic_partitions(str(MODELS.name))) == others
    assert set(read_models(home)) == {ODD_NAME} - {model}
    with pytest.raises(BenchError, match="no model with tables named"):
        find_removable(bench, model)


def test_responses_stay_unless_they_are_to_be_removed(bench, home):
    assert remove(bench, find_removable(bench, "m"), responses=False).responses == 0
    assert response_keys(home) == set(MODEL_NAMES)


def test_responses_at_the_temperature_of_a_condition_go_with_its_table(bench, home):
    runs = [prediction(model="m", condition="self_consistency", decoding="of m|t=0")]
    bench.tables.write(["blink", "self_consistency", "predictions"], runs, Prediction, "m")
    with sqlite3.connect(home / "responses.sqlite") as db:  # BLINK draws them at temperature 1
        db.execute("UPDATE responses SET decoding = 't=1' WHERE key = 'm'")
    assert remove(bench, find_removable(bench, "m"), responses=True).responses == 1


@pytest.mark.parametrize("setup", ["of m2|t=0", "of m2|t=0|thinking=<t> </t>"])
def test_responses_that_another_model_has_too_stay(bench, home, setup):
    shared = prediction(model="org", decoding=setup)
    bench.tables.write(["quiz", "predictions"], [shared], Prediction, "org")
    assert remove(bench, find_removable(bench, "m2"), responses=True).responses == 0
    assert response_keys(home) == set(MODEL_NAMES)


def test_responses_that_a_table_of_another_source_has_stay(bench, home):
    folder = home / "tables" / ".of" / "other" / "quiz" / "predictions"
    folder.mkdir(parents=True)
    bench.tables.write(["quiz", "predictions"], [prediction(decoding="of m2|t=0")], Prediction, "x")
    bench.tables.path(["quiz", "predictions"], "x").rename(folder / "x.parquet")
    assert remove(bench, find_removable(bench, "m2"), responses=True).responses == 0
    shutil.rmtree(home / "tables" / ".of")


def test_no_response_is_removed_beside_a_damaged_table_of_another_model(bench, home):
    damaged = bench.tables.path(["quiz", "predictions"], "m2")
    damaged.write_bytes(b"damaged")
    with pytest.raises(TableError, match=r"m2\.parquet"):
        remove(bench, find_removable(bench, "m"), responses=True)
    assert response_keys(home) == set(MODEL_NAMES)
    assert len(find_removable(bench, "m").tables) == 2


def test_a_model_that_is_being_evaluated_is_refused(bench, home):
    (lock,) = table_locks(["quiz"], "m")
    command = [sys.executable, "-c", HOLD_LOCK, str(home / "locks"), lock]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout
        assert holder.stdin
        assert holder.stdout.readline() == "held\n"
        files_before = table_files(home)
        with pytest.raises(BenchError, match=f"m is being evaluated by process {holder.pid}"):
            remove(bench, find_removable(bench, "m"), responses=True)
        assert (table_files(home), response_keys(home)) == (files_before, set(MODEL_NAMES))
        holder.stdin.close()
    assert remove(bench, find_removable(bench, "m"), responses=False).tables == 2


def test_tables_are_listed_with_how_many_models_have_one(bench, home):
    listed = {table.name: table for table in list_tables(bench, "quiz")}
    predictions = listed["quiz/predictions"]
    assert (predictions.per, predictions.made) == ("model", len(MODEL_NAMES))
    assert (listed["quiz/rejections"].per, listed["quiz/rejections"].made) == ("", 1)
    assert listed["quiz/questions"].made == 0
    assert "leaderboard" in {table.name for table in list_tables(bench)}


def test_tables_of_an_unknown_suite_are_refused_with_the_nearest(bench):
    with pytest.raises(BenchError, match="nearest: quiz; `bench tables list` lists all"):
        list_tables(bench, "quitz")
