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


def start_python(code, home):
    """Start a process that runs code, with a home whose model has the key in ``code``."""
    (home / "bench.toml").write_text(
        '[models.m]\nkind = "server"\nbase_url = "http://h"\nmodel = "m"\napi_key_env = "THE_KEY"\n'
    )
    variables = {"BENCH_HOME": str(home), "THE_KEY": KEY, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", code.replace("KEY", KEY)],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("signal_number", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")]
)
def test_a_signal_while_bench_is_loaded_ends_it_with_one_message(signal_number, name, tmp_path):
    process = start_python(LOADING, tmp_path)
    assert process.stdout.readline() == "loading\n"
    process.send_signal(signal_number)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + signal_number
    assert stderr == f"stopped by {name}: {RESUME_MESSAGE}\n"


def test_an_exception_that_nobody_caught_is_printed_without_the_key(tmp_path):
    process = start_python(FAILING, tmp_path)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert KEY not in stderr
    assert stderr.startswith("Traceback")
    assert "RuntimeError: first: http://h/?key=***\n" in stderr
    assert stderr.endswith("ValueError: second ***\n")


def test_threads_finalizers_and_warnings_print_no_key(tmp_path):
    process = start_python(IN_DAGSTERS_PROCESSES, tmp_path)
    _, stderr = process.communicate(timeout=60)
    assert KEY not in stderr
    messages = ("in a thread ***", "while it is deleted ***", "a warning ***", "uncaught ***")
    assert [text for text in messages if text not in stderr] == []
    assert "Exception in thread worker:\n" in stderr


def test_importing_the_workbench_does_not_import_sqlalchemy():
    code = (
        "import bench_assets.workspace.materialization.workbench, sys;"
        "sys.exit('sqlalchemy' in sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert process.returncode == 0
