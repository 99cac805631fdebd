"""Two machines say the same digits of one home."""

import os
import subprocess
import sys

import pytest

from tests.workspace.reproducing import CHECKOUT, make_home

ELSEWHERE = {
    "LC_ALL": "tr_TR.UTF-8",
    "TZ": "Pacific/Kiritimati",
    "OMP_NUM_THREADS": "3",
    "OPENBLAS_NUM_THREADS": "3",
    "PYTHONHASHSEED": "4711",
}
HERE = dict.fromkeys(ELSEWHERE, "1") | {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "1"}


@pytest.mark.long
def test_two_machines_say_the_same_digits(tmp_path):
    """Two homes at two places, as processes: other locale, time zone, threads and hashes."""
    shown = []
    for place, machine in (("a", HERE), ("b c/\u00e4", ELSEWHERE)):
        home = tmp_path / place / "home"
        make_home(home)
        outputs = []
        for words in (
            ["bundle", "reproduce", "shelf", "gone/step-1"],
            ["bundle", "pack", "shelf", "written", str(home / "b.zip"), "--json"],
            ["bundle", "verify", str(home / "b.zip")],
        ):
            command = [sys.executable, "-m", "bench_assets", *words]
            env = os.environ | machine | {"BENCH_HOME": str(home), "PYTHONPATH": str(CHECKOUT)}
            done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, check=True)
            outputs.append(done.stdout.decode().replace(str(home), "HOME"))
        shown.append((outputs, (home / "b.zip").read_bytes()))
    assert shown[0] == shown[1]
    assert "same digits: 3 numbers" in shown[0][0][2]
