"""``make coverage``, ``make bench`` and ``make bench-gpu``, shortened and with tiny models."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.coverage.promise import Promise
from benchmarks.coverage.registry import all_promises
from benchmarks.gpu.checkpoint import TINY
from benchmarks.gpu.measuring import NO_TIME, Plan, measure_engine
from tests.conftest import CHECKOUT
from tests.fakes.checkpoint_files import write_checkpoint
from tests.resources.models.managed.fake_vllm import install
from tests.resources.models.managed.test_engine import is_running, read_lines, wait_until


def _promise_id(promise: Promise) -> str:
    return f"{promise.event}: {promise.population}"


def _is_fast(promise: Promise) -> bool:
    """Whether a trial takes little time: a small sample, and no captions to score."""
    population = promise.population
    return min(promise.sizes) == 30 and population != "CIDEr" and "of a corpus" not in population


FAST_PROMISES = [promise for promise in all_promises() if _is_fast(promise)]


@pytest.mark.parametrize("promise", FAST_PROMISES, ids=_promise_id)
def test_a_promise_is_kept_in_small_samples(promise: Promise) -> None:
    n_samples = 150 if "interval" in promise.event else 40
    percent = promise.measure(30, n_samples)
    assert promise.holds(percent, n_samples), f"{percent:.1f} in 100"


@pytest.mark.long
@pytest.mark.parametrize("promise", all_promises(), ids=_promise_id)
def test_a_promise_is_kept_in_more_repetitions(promise: Promise) -> None:
    percent = promise.measure(min(promise.sizes), 400)
    assert promise.holds(percent, 400), f"{percent:.1f} in 100"


def test_a_measurement_that_fails_is_reported():
    command = [sys.executable, "-m", "benchmarks", "no_such_measurement"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "No module named 'benchmarks.no_such_measurement'" in result.stderr
    assert "not measured, because they failed: no_such_measurement" in result.stdout
    assert result.returncode == 1


def run_gpu_benchmark(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu", *arguments],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=CHECKOUT, capture_output=True, text=True, check=False,
    )  # fmt: skip


def read_markdown_table(output: str) -> list[dict[str, str]]:
    """The rows of a Markdown table, by column."""
    lines = [line.strip("| ").split("|") for line in output.splitlines() if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in cells] for cells in lines]
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_a_measurement_that_takes_too_long_is_ended_with_its_server(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    folder = write_checkpoint(tmp_path / "weights", b"1234")
    program = str(install(tmp_path / "bin", f"starts={starts}", "loading=99999"))
    plan = Plan(sizes=[TINY], questions={2: 4, 4: 3}, batch_size=2, device="cpu", vllm=program)
    rows = list(measure_engine(plan, TINY, "vllm serve", folder, seconds=15.0))
    assert {row.reason for row in rows} == {NO_TIME}
    wait_until(lambda: not any(is_running(int(pid)) for pid in read_lines(starts)))


@pytest.mark.long
def test_the_dry_run_measures_every_engine(tmp_path: Path) -> None:
    result = run_gpu_benchmark("--tiny", "--vllm", str(install(tmp_path / "bin")))
    assert result.returncode == 0, result.stderr
    assert "CPU, torch" in result.stdout
    rows = read_markdown_table(result.stdout)
    assert [(row["engine"], row["tokens a response"]) for row in rows] == [
        ("plain generate", "2"),
        ("plain generate", "4"),
        ("transformers", "2"),
        ("transformers", "4"),
        ("vllm serve", "2"),
        ("vllm serve", "4"),
    ]
    shares = [float(row["of plain generate"]) for row in rows]
    assert shares[:2] == [1.0, 1.0]  # of plain generate itself
    assert min(shares) > 0
    assert all(float(row["samples/s"]) > 0 for row in rows)
