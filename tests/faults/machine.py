"""What machines and other programs do: I/O errors, clocks, deletions."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.faults.homes import CLEAN, Whole
from tests.faults.processes import EVALUATE, ended, require_sentence, running
from tests.faults.servers.healing import key_set
from tests.faults.servers.server import MisbehavingServer
from tests.faults.table import Fault, FoundError, SkippedError, Trial

_SHIM = Path(__file__).with_name("shim.c")


def faults() -> list[Fault]:
    """One a kind."""
    return [
        *(_row(f"input/output errors on {what}", f"write() to {part} gives EIO", part=part)
          for what, part in (("the response store", "responses.sqlite"), ("tables", "/tables/"),
                             ("Dagster's databases", "/dagster/"))),
        Fault(
            group="machine", name="the clock goes back two hours", made="clock_gettime() of a shim",
            must="the right number", attempt=_clock, short=False, longest=600.0,
        ),
        Fault(
            group="machine", name="the response store is deleted while it is used",
            made="rm of the file and its log", short=False, drawn=True, longest=600.0,
            must="an error that names the file, and the right number afterwards", attempt=_deleted,
        ),
    ]  # fmt: skip


def _row(name: str, made: str, part: str) -> Fault:
    return Fault(
        group="machine", name=name, made=made, short=False, longest=600.0,
        must="a sentence and a status, and the right number once the disk is well",
        attempt=lambda trial: _broken_disk(trial, part),
    )  # fmt: skip


def _shimmed(folder: Path, faults: Mapping[str, str]) -> list[str]:
    """Words before a command that give it the faults."""
    if not (compiler := shutil.which("cc")):
        raise SkippedError("no C compiler here")
    library = folder / "shim.so"
    words = [compiler, "-shared", "-fPIC", "-o", str(library), str(_SHIM), "-ldl"]
    subprocess.run(words, check=True)
    return ["env", f"LD_PRELOAD={library}", *(f"{name}={value}" for name, value in faults.items())]


def _again(door: Whole) -> None:
    with key_set():
        value = door.evaluate()
    if value != CLEAN:
        message = (door.home / "said.txt").read_text("utf-8") if value is None else ""
        raise FoundError(f"another number afterwards: {value} {message}")


def _broken_disk(trial: Trial, part: str) -> str:
    with MisbehavingServer() as server:
        door = Whole(trial.folder / "home", server.base_url)
        with running(door.home, EVALUATE, _shimmed(trial.folder, {"FAULT_EIO": part})) as process:
            status, output = ended(process)
        require_sentence(output)
        if status == 0:
            raise FoundError("it ended as if all were well")
        _again(door)
    return f"status {status}, then the right number"


def _clock(trial: Trial) -> str:
    with MisbehavingServer() as server:
        door = Whole(trial.folder / "home", server.base_url)
        with running(door.home, EVALUATE, _shimmed(trial.folder, {"FAULT_CLOCK": "1"})) as process:
            status, output = ended(process)
        require_sentence(output)
        if status:
            raise FoundError(f"status {status}: {output[-300:]}")
        _again(door)
    return "the right number"


def _deleted(trial: Trial) -> str:
    with MisbehavingServer(latency=0.5) as server:
        door = Whole(trial.folder / "home", server.base_url)
        with running(door.home) as process:
            until = trial.rng.randint(1, 4)
            while sum(server.received.values()) < until and process.poll() is None:
                pass
            for file in door.home.glob("responses.sqlite*"):
                file.unlink(missing_ok=True)
            status, output = ended(process)
        require_sentence(output)
        if status == 0 or "responses.sqlite" not in output:
            raise FoundError(f"status {status}: {output[-300:]}")
        _again(door)
    return f"status {status}, then the right number"
