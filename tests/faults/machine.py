import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.faults.homes import CLEAN, BenchHome
from tests.faults.processes import EVALUATE, require_sentence, running_bench, wait_for
from tests.faults.servers.healing import key_set
from tests.faults.servers.server import MisbehavingServer
from tests.faults.table import Fault, FindingError, SkippedError, Trial

_SHIM = Path(__file__).with_name("shim.c")


def faults() -> list[Fault]:
    """Broken disks, a clock that goes back, and a deleted response store."""
    return [
        *(_broken_disk(name, part) for name, part in (
            ("the response store", "responses.sqlite"), ("tables", "/tables/"),
            ("Dagster's databases", "/dagster/"))),
        Fault(
            group="machine", name="the clock goes back two hours", short=False, timeout=600.0,
            cause="clock_gettime() of a shim", expected="the right number",
            attempt=_evaluate_with_wrong_clock,
        ),
        Fault(
            group="machine", name="the response store is deleted while it is used",
            cause="rm of the file and its log", short=False, is_random=True, timeout=600.0,
            expected="an error that names the file, and the right number afterwards",
            attempt=_delete_store_while_asking,
        ),
    ]  # fmt: skip


def _broken_disk(name: str, part: str) -> Fault:
    return Fault(
        group="machine", name=f"input/output errors on {name}",
        cause=f"write() to {part} gives EIO", short=False, timeout=600.0,
        expected="a sentence and a status, and the right number after the disk is repaired",
        attempt=lambda trial: _evaluate_on_broken_disk(trial, part),
    )  # fmt: skip


def _with_shim(folder: Path, variables: Mapping[str, str]) -> list[str]:
    """Words before a command that preload the shim, with the variables that it reads."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise SkippedError("no C compiler here")
    library = folder / "shim.so"
    command = [compiler, "-shared", "-fPIC", "-o", str(library), str(_SHIM), "-ldl"]
    subprocess.run(command, check=True)
    settings = [f"{name}={value}" for name, value in variables.items()]
    return ["env", f"LD_PRELOAD={library}", *settings]


def _require_right_number(home: BenchHome) -> None:
    with key_set():
        value = home.evaluate()
    if value != CLEAN:
        message = (home.folder / "output.txt").read_text("utf-8") if value is None else ""
        raise FindingError(f"another number afterwards: {value} {message}")


def _evaluate_on_broken_disk(trial: Trial, part: str) -> str:
    with MisbehavingServer() as server:
        home = BenchHome(trial.folder / "home", server.base_url)
        shim = _with_shim(trial.folder, {"FAULT_EIO": part})
        with running_bench(home.folder, EVALUATE, shim) as process:
            status, output = wait_for(process)
        require_sentence(output)
        if status == 0:
            raise FindingError("exit code 0 in spite of the errors")
        _require_right_number(home)
    return f"status {status}, then the right number"


def _evaluate_with_wrong_clock(trial: Trial) -> str:
    with MisbehavingServer() as server:
        home = BenchHome(trial.folder / "home", server.base_url)
        shim = _with_shim(trial.folder, {"FAULT_CLOCK": "1"})
        with running_bench(home.folder, EVALUATE, shim) as process:
            status, output = wait_for(process)
        require_sentence(output)
        if status:
            raise FindingError(f"status {status}: {output[-300:]}")
        _require_right_number(home)
    return "the right number"


def _delete_store_while_asking(trial: Trial) -> str:
    """Delete the response store after a drawn number of requests."""
    with MisbehavingServer(latency=0.5) as server:
        home = BenchHome(trial.folder / "home", server.base_url)
        with running_bench(home.folder) as process:
            n_requests = trial.rng.randint(1, 4)
            while server.received.total() < n_requests and process.poll() is None:
                pass
            for file in home.folder.glob("responses.sqlite*"):
                file.unlink(missing_ok=True)
            status, output = wait_for(process)
        require_sentence(output)
        if status == 0 or "responses.sqlite" not in output:
            raise FindingError(f"status {status}: {output[-300:]}")
        _require_right_number(home)
    return f"status {status}, then the right number"
