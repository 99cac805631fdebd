"""Another process that evaluates meanwhile, over the same home."""

import os

import pytest

from bench_assets.workspace.evaluate import second_process
from bench_assets.workspace.evaluate.second_process import evaluated_meanwhile
from bench_assets.workspace.materialization.opening import open_workbench


@pytest.mark.long
def test_what_the_other_process_has_evaluated_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with evaluated_meanwhile(tmp_path, ["codis"], ["random"]) as wait:
        wait()
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    with open_workbench() as bench:
        assert bench.metrics("codis", "random")


def test_a_machine_with_one_core_starts_no_other_process(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setattr(second_process.subprocess, "Popen", None)
    with evaluated_meanwhile(tmp_path, ["codis"], ["random"]) as wait:
        wait()


def test_the_other_process_ends_with_its_block(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    ended = []
    with evaluated_meanwhile(tmp_path, ["codis"], ["random"]) as wait:
        ended.append(wait)
    assert ended[0]() not in (None, 0)
