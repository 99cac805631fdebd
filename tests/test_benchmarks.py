"""``make bench``: each measurement runs in a process of its own."""

import subprocess
import sys


def test_a_measurement_is_found_in_its_own_process_and_its_failure_is_reported():
    command = [sys.executable, "-m", "benchmarks", "no_such_measurement"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "No module named 'benchmarks.no_such_measurement'" in ran.stderr
    assert "not measured, because they failed: no_such_measurement" in ran.stdout
    assert ran.returncode == 1
