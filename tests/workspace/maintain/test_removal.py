"""A model is removed with all that is its own, and nothing of anybody else's."""

import sqlite3
import subprocess
import sys

import pytest

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.rows import Metric, Prediction, Score
from bench_assets.workspace.inspect.tables import list_tables
from bench_assets.workspace.maintain.removal import find_removable, remove, unknown_suites
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.models_toml import read_models, save_models
from bench_resources.runs.orphaned_runs import table_locks
from tests.fakes.rows import prediction
from tests.fakes.stores import response_file

ODD = "org/m@127.0.0.1-8000+top_p=0.5"
NAMES = ("m", "m2", "org", ODD, "all")
HOLD = """
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
    with Workbench(load_settings(home), ["quiz"]) as opened:
        yield opened


@pytest.fixture
def home(bench):
    """Tables, notes, partitions and responses of several models."""
    for name in NAMES:
        predictions = [prediction(model=name, decoding=f"of {name}|t=0")]
        bench.tables.write(["quiz", "predictions"], predictions, Prediction, name)
        bench.tables.write(["quiz", "scores"], [], Score, name)
        bench.instance.add_dynamic_partitions(str(MODELS.name), [name])
    bench.tables.write(["quiz", "rejections"], [], Score)  # its file is all.parquet
    save_models(bench.settings.home, {ODD: {"kind": "random"}})
    file = bench.settings.home / "responses.sqlite"
    response_file(file)
    with sqlite3.connect(file) as db:
        db.execute("DELETE FROM responses")
        for name in NAMES:
            db.execute(
                "INSERT INTO responses (key, model, decoding, prompt) VALUES (?, ?, 't=0', ?)",
                (name, f"of {name}", f"prompt of {name}"),
            )
    return bench.settings.home


def files(home):
    return {file.relative_to(home).as_posix() for file in (home / "tables").rglob("*.parquet")}


def responses(home):
    with sqlite3.connect(home / "responses.sqlite") as db:
        return {name for (name,) in db.execute("SELECT key FROM responses")}


def test_results_of_a_suite_that_is_gone_are_named_and_go_with_their_model(bench, home):
    for model in ("m", "all"):
        bench.tables.write(["gone", "metrics"], [], Metric, model)
    bench.tables.write(["gone", "questions"], [], Score)
    assert unknown_suites(bench) == {"gone": ["all", "m"]}
    remove(bench, find_removable(bench, "m"), responses=False)
    assert unknown_suites(bench) == {"gone": ["all"]}
    assert "gone/questions/all.parquet" in {file.removeprefix("tables/") for file in files(home)}


@pytest.mark.parametrize("model", NAMES)
def test_only_what_is_its_own_goes(bench, home, model):
    before = files(home)
    assert len(find_removable(bench, model).tables) == 2
    done = remove(bench, find_removable(bench, model), responses=True)
    assert (done.tables, done.responses) == (2, 1)
    assert len(before - files(home)) == 2
    assert all("predictions" in name or "scores" in name for name in before - files(home))
    assert "tables/quiz/rejections/all.parquet" in files(home)
    assert responses(home) == set(NAMES) - {model}
    assert not bench.instance.has_dynamic_partition(str(MODELS.name), model)
    assert (ODD in read_models(home)) == (model != ODD)
    with pytest.raises(BenchError, match="no model with tables named"):
        find_removable(bench, model)


def test_responses_stay_unless_they_are_to_go_and_where_another_model_has_them_too(bench, home):
    assert remove(bench, find_removable(bench, "m"), responses=False).responses == 0
    bench.tables.write(
        ["quiz", "predictions"], [prediction(model="org", decoding="of m2|t=0")], Prediction, "org"
    )
    assert remove(bench, find_removable(bench, "m2"), responses=True).responses == 0
    assert responses(home) == set(NAMES)


def test_a_model_that_is_being_evaluated_is_refused(bench, home):
    (lock,) = table_locks(["quiz"], "m")
    command = [sys.executable, "-c", HOLD, str(home / "locks"), lock]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout
        assert holder.stdin
        assert holder.stdout.readline() == "held\n"
        before = files(home)
        with pytest.raises(BenchError, match=f"m is being evaluated by process {holder.pid}"):
            remove(bench, find_removable(bench, "m"), responses=True)
        assert (files(home), responses(home)) == (before, set(NAMES))
        holder.stdin.close()
    assert remove(bench, find_removable(bench, "m"), responses=False).tables == 2


def test_tables_are_listed_with_how_many_models_have_one(bench, home):
    listed = {one.name: one for one in list_tables(bench, "quiz")}
    assert (listed["quiz/predictions"].per, listed["quiz/predictions"].made) == ("model", 5)
    assert (listed["quiz/rejections"].per, listed["quiz/rejections"].made) == ("", 1)
    assert listed["quiz/questions"].made == 0
    assert "leaderboard" in {one.name for one in list_tables(bench)}
    with pytest.raises(BenchError, match="nearest: quiz; `bench tables list` lists all"):
        list_tables(bench, "quitz")
