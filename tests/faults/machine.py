"""What machines and other programs do: I/O errors, clocks, deletions, hostile texts."""

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.faults.homes import CLEAN, Whole
from tests.faults.processes import EVALUATE, ended, require_sentence, running
from tests.faults.servers.healing import key_set
from tests.faults.servers.server import MisbehavingServer
from tests.faults.table import Fault, FoundError, SkippedError, Trial
from tests.report.many_samples import ManySamples

_SHIM = Path(__file__).with_name("shim.c")
_HOSTILE = (
    "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "\u202e\x1b[2J\x00",
    "=HYPERLINK(1)", "{{7*7}}", "${7*7}", '");alert(1)//', "\u2028", "<!--", "]]>", "A", "\\",
)  # fmt: skip
N_ROWS = 100_000
_SCRIPT = re.compile(r'Bench\.put\("[^"\\<]+",(.*)\);\n', re.DOTALL)
_NUMBER = re.compile(r"What is ([0-9]+)\?")


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
        Fault(
            group="machine", name="a report over 100,000 rows of hostile texts",
            made="questions and responses with markup, scripts and controls",
            must="each is there, as a text and as nothing else", attempt=_report, short=False,
            longest=600.0,
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


class _HostileSamples(ManySamples):
    words = _HOSTILE

    def _words(self, n: int) -> str:
        return super()._words(3)


def _report(trial: Trial) -> str:
    samples = _HostileSamples(trial.folder, N_ROWS)
    samples.add_model("m")
    page = samples.report()
    if "alert(1)" in page.read_text("utf-8"):
        raise FoundError(f"a text of a question is markup of {page.name}")
    found: Counter[str] = Counter()
    for script in (page.parent / "data").rglob("*.js"):
        put = _SCRIPT.fullmatch(script.read_text("utf-8"))
        if not put or "<" in put[1]:
            raise FoundError(f"{script.name}: more than one value of JSON, or markup in it")
        embedded = json.dumps(json.loads(put[1]), ensure_ascii=False)
        found.update(_NUMBER.findall(embedded))
        found.update(said=embedded.count("It is ("))
    n = found.pop("said")
    if (n, len(found)) != (N_ROWS, N_ROWS):
        raise FoundError(f"{n} responses and {len(found)} questions of {N_ROWS} each")
    return f"{N_ROWS} questions and responses, each as a text"
