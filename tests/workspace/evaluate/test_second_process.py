import os
import sqlite3
import subprocess
from typing import Any

import dagster as dg
import pytest
from sqlalchemy.exc import IntegrityError

from bench_assets.workspace.evaluate.second_process import background_evaluation
from bench_assets.workspace.materialization.opening import open_workbench

MODELS = ["random", "most-frequent"]


@pytest.mark.long
def test_what_the_other_process_has_evaluated_is_in_the_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    with background_evaluation(tmp_path, ["codis"], MODELS) as wait:
        assert wait()
        with open_workbench() as bench:
            for model in MODELS:
                assert bench.metrics("codis", model)


@pytest.mark.parametrize(
    ("toml", "model"), [("", "randm"), ("[", "random")], ids=["unknown model", "broken toml"]
)
def test_waiting_for_a_process_that_failed_returns_false(tmp_path, monkeypatch, toml, model):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    (tmp_path / "bench.toml").write_text(toml)
    with background_evaluation(tmp_path, ["codis"], [model]) as wait:
        assert not wait()


def test_a_model_that_another_process_adds_at_the_same_time_is_no_error(tmp_path, monkeypatch):
    add = dg.DagsterInstance.add_dynamic_partitions

    def lose_the_race(instance, name, keys):
        add(instance, name, keys)
        raise IntegrityError("insert", {}, sqlite3.IntegrityError("UNIQUE constraint failed"))

    monkeypatch.setattr(dg.DagsterInstance, "add_dynamic_partitions", lose_the_race)
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    with open_workbench() as bench:
        bench.add_models(["random"])
        assert bench.instance.get_dynamic_partitions("model") == ["random"]


@pytest.mark.parametrize(("n_cores", "suites"), [(1, ["codis"]), (2, [])])
def test_one_core_or_no_suite_starts_no_other_process(tmp_path, monkeypatch, n_cores, suites):
    monkeypatch.setattr(os, "cpu_count", lambda: n_cores)
    monkeypatch.setattr(subprocess, "Popen", None)  # a start would be a TypeError
    with background_evaluation(tmp_path, suites, MODELS) as wait:
        assert not wait()


def test_the_other_process_ends_with_its_block(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    processes = []
    start_process = subprocess.Popen

    def start_and_record(*arguments: Any, **options: Any) -> Any:
        processes.append(start_process(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", start_and_record)
    with background_evaluation(tmp_path, ["codis"], MODELS):
        pass
    (process,) = processes
    assert process.returncode not in (None, 0)  # None: runs still; 0: ended by itself
