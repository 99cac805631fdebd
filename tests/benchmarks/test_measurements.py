"""``make coverage``, ``make bench`` and ``make bench-gpu`` in short, with tiny models."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.coverage.cells import Promise, tried
from benchmarks.coverage.every import every_promise
from benchmarks.gpu.checkpoint import TINY
from benchmarks.gpu.measuring import NO_TIME, Plan, Row, measured
from tests.conftest import CHECKOUT
from tests.fakes.checkpoint_files import write_checkpoint
from tests.resources.models.managed.fake_vllm import install
from tests.resources.models.managed.test_engine import is_running, lines, until

SHORT = 150


def _named(promise: Promise) -> str:
    return f"{promise.what}: {promise.of}"


def _small(promise: Promise) -> int:
    return min(promise.sizes)


FAST = [one for one in every_promise() if _small(one) == 30 and "of a corpus" not in one.of]
FAST = [one for one in FAST if one.of != "CIDEr"]  # people's captions take seconds to score


@pytest.mark.parametrize("promise", FAST, ids=_named)
def test_what_is_promised_is_kept_in_small_samples(promise: Promise) -> None:
    kept = tried(promise, 30, SHORT if "interval" in promise.what else 40)
    assert kept.holds, f"{kept.share:.1f} in 100"


@pytest.mark.long
@pytest.mark.parametrize("promise", every_promise(), ids=_named)
def test_what_is_promised_is_kept(promise: Promise) -> None:
    kept = tried(promise, _small(promise), 400)
    assert kept.holds, f"{kept.share:.1f} in 100"


def test_a_measurement_is_found_in_its_own_process_and_its_failure_is_reported():
    command = [sys.executable, "-m", "benchmarks", "no_such_measurement"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "No module named 'benchmarks.no_such_measurement'" in ran.stderr
    assert "not measured, because they failed: no_such_measurement" in ran.stdout
    assert ran.returncode == 1


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


def test_what_takes_too_long_is_ended_with_its_server(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    rows = served(tmp_path, f"starts={starts}", "loading=99999", seconds=15.0)
    assert {row.reason for row in rows} == {NO_TIME}
    until(lambda: not any(is_running(int(pid)) for pid in lines(starts)))


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
