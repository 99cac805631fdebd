"""A signal before ``bench`` is loaded; what is printed of an exception that nobody caught."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench_assets.workspace.console.signals import RESUME_MESSAGE

ROOT = Path(__file__).parents[2]
KEY = "sk-start-7Qx9ZpLw3Rk2Vt5"
LOADING = """
import sys, time
class Slow:  # stands in front of what is loaded
    def find_spec(self, name, path=None, target=None):
        if name == "bench_assets.cli.main":
            print("loading", flush=True)
            try:
                time.sleep(60)
            except BaseException:  # as some packages catch it
                pass
sys.meta_path.insert(0, Slow())
from bench_assets.cli.start import main
main()
"""
FAILING = """
import types, sys
def fail(place):
    raise RuntimeError(f"{place}: http://h/?key=KEY")
def app():
    try:
        fail("first")
    except RuntimeError as why:
        raise ValueError("second KEY") from why
sys.modules["bench_assets.cli.main"] = types.SimpleNamespace(app=app)
from bench_assets.cli.start import main
main()
"""
IN_DAGSTERS_PROCESSES = """
import threading, warnings
from pathlib import Path
from bench_resources.redaction.logs import redact_stderr
from bench_resources.config.environment import default_home
redact_stderr(default_home())
def fail():
    raise RuntimeError("in a thread KEY")
class Failing:
    def __del__(self):
        raise RuntimeError("while it is deleted KEY")
thread = threading.Thread(target=fail, name="worker")
thread.start()
thread.join()
Failing()
warnings.warn("a warning KEY")
raise RuntimeError("uncaught KEY")
"""


def started(code, home):
    """Start Python with a home folder whose model has a key."""
    (home / "bench.toml").write_text(
        '[models.m]\nkind = "server"\nbase_url = "http://h"\nmodel = "m"\napi_key_env = "THE_KEY"\n'
    )
    variables = {"BENCH_HOME": str(home), "THE_KEY": KEY, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", code.replace("KEY", KEY)]
    return subprocess.Popen(
        command, env={**os.environ, **variables}, stdout=pipe, stderr=pipe, text=True
    )


@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")]
)
def test_a_signal_while_it_is_loaded_ends_it_with_a_sentence(number, name, tmp_path):
    process = started(LOADING, tmp_path)
    assert process.stdout.readline() == "loading\n"
    process.send_signal(number)
    stderr = process.communicate(timeout=60)[1]
    assert (process.returncode, stderr) == (128 + number, f"stopped by {name}: {RESUME_MESSAGE}\n")


def test_an_exception_that_nobody_caught_is_printed_without_the_key(tmp_path):
    process = started(FAILING, tmp_path)
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == 1
    assert KEY not in stderr
    assert stderr.startswith("Traceback")
    assert "RuntimeError: first: http://h/?key=***\n" in stderr
    assert stderr.endswith("ValueError: second ***\n")


def test_nothing_that_python_prints_tells_the_key(tmp_path):
    process = started(IN_DAGSTERS_PROCESSES, tmp_path)
    stderr = process.communicate(timeout=60)[1]
    assert KEY not in stderr
    shown = ("in a thread ***", "while it is deleted ***", "a warning ***", "uncaught ***")
    assert [text for text in shown if text not in stderr] == []
    assert "Exception in thread worker:\n" in stderr


def test_a_command_that_records_nothing_does_not_load_what_records():
    loading = (
        "import bench_assets.workspace.materialization.workbench, sys;"
        "sys.exit('sqlalchemy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", loading], cwd=ROOT, check=False).returncode == 0
