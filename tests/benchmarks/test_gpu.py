"""The script of `make bench-gpu`, with a tiny model on the CPU and a stand-in for `vllm serve`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.gpu.checkpoint import TINY
from benchmarks.gpu.measuring import NO_TIME, NO_VLLM, Plan, Row, measured
from tests.conftest import CHECKOUT
from tests.resources.models.managed.fake_vllm import install
from tests.resources.models.managed.test_engine import is_running, lines, until
from tests.sensors.watched import write_checkpoint


def served(tmp_path: Path, *options: str, seconds: float = 120.0) -> list[Row]:
    """Rows of the stand-in's server."""
    folder = write_checkpoint(tmp_path / "weights", b"1234")
    program = install(tmp_path / "bin", *options)
    plan = Plan(sizes=[TINY], questions={2: 4, 4: 3}, batch_size=2, device="cpu", vllm=str(program))
    return list(measured(plan, TINY, "vllm serve", folder, seconds))


def script(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu", *arguments],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=CHECKOUT, capture_output=True, text=True, check=False,
    )  # fmt: skip


def table(output: str) -> list[list[str]]:
    """The cells of the table's rows."""
    rows = [line.strip("| ").split(" | ") for line in output.splitlines() if line[:1] == "|"]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_a_server_is_measured_for_each_length_and_ends(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    rows = served(tmp_path, f"starts={starts}")
    assert [(row.tokens, row.reason, row.memory) for row in rows] == [(2, "", None), (4, "", None)]
    assert all(row.samples_per_second > 0 for row in rows)
    (pid,) = map(int, lines(starts))
    assert not is_running(pid)


def test_what_cannot_be_measured_is_rows_that_say_why(tmp_path: Path) -> None:
    rows = served(tmp_path, "ends=3")
    assert [row.tokens for row in rows] == [2, 4]
    assert all(row.reason.startswith("the server ended with code 3") for row in rows)


def test_what_takes_too_long_is_ended_with_its_server(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    rows = served(tmp_path, f"starts={starts}", "loading=99999", seconds=15.0)
    assert {row.reason for row in rows} == {NO_TIME}
    until(lambda: not any(is_running(int(pid)) for pid in lines(starts)))


def test_without_time_all_rows_are_printed_and_say_so() -> None:
    ran = script("--tiny", "--seconds", "0", "--vllm", "no-such-command")
    assert ran.returncode == 0, ran.stderr
    assert [row[2:4] for row in table(ran.stdout)] == [
        *([engine, f"not run: {NO_TIME}"] for engine in ("plain generate",) * 2),
        *([engine, f"not run: {NO_TIME}"] for engine in ("transformers",) * 2),
        *([engine, f"not run: {NO_VLLM}"] for engine in ("vllm serve",) * 2),
    ]


def test_without_a_gpu_the_message_says_how_to_try_it() -> None:
    ran = script()
    assert (ran.returncode, ran.stdout) == (
        0,
        "Skipped: no CUDA device. --tiny tries everything on the CPU.\n",
    )


@pytest.mark.long
def test_the_dry_run_measures_every_engine(tmp_path: Path) -> None:
    ran = script("--tiny", "--vllm", str(install(tmp_path / "bin")))
    assert ran.returncode == 0, ran.stderr
    rows = table(ran.stdout)
    assert [(row[1], row[2]) for row in rows] == [
        (tokens, engine)
        for engine in ("plain generate", "transformers", "vllm serve")
        for tokens in ("2", "4")
    ]
    assert [row[5] for row in rows[:2]] == ["1.00", "1.00"]
    assert all(float(row[3]) > 0 and float(row[5]) > 0 for row in rows)
    assert "CPU, torch" in ran.stdout
