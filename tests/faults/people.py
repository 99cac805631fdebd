import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

from tests.cases import read_rows
from tests.faults.accounts import FIRST, SECOND, bench_as, give
from tests.faults.homes import BenchHome
from tests.faults.processes import EVALUATE, require_sentence, running_bench, wait_for
from tests.faults.table import Fault, FindingError, Trial

_IMAGES = ("Käse.png", "[a, b].png")
_FOLDERS = (
    *("with blanks", "with # in it", "100%25", "why? & how", "ümlaut 家", "a'b\"c", "[x] {y} *"),
    *("h \U0002f81a\u2028", "sk-9ZpLw3Rk2Vt5Qx7"),
)


def faults() -> list[Fault]:
    """Odd names of images and folders, a full disk, and homes of several users."""
    return [
        *(_row(f"an image named {name} in the form {form}", "an archive of macOS, or a name",
               "found", partial(_evaluate_with_image_named, name=name, form=form))
          for name in _IMAGES for form in ("NFC", "NFD")),
        *(_row(f"a home in the folder {name!r}", "BENCH_HOME, and the working directory",
               "evaluated, or a sentence; messages show its path",
               partial(_evaluate_in_odd_folder, name=name))
          for name in _FOLDERS),
        _row("standard output on a full disk", "> /dev/full", "one sentence", _print_to_full_disk),
        _row("two users of one group evaluate in one home", "umask 002",
             "both evaluate, annotate and read; only the key of links is its owner's",
             _evaluate_as_two_users),
        _row("a home that may only be read", "another user, umask 022",
             "commands that read write nothing, and print the number", _read_only),
    ]  # fmt: skip


def _row(name: str, cause: str, expected: str, attempt: Callable[[Trial], str]) -> Fault:
    return Fault(
        group="people",
        name=name,
        cause=cause,
        expected=expected,
        attempt=attempt,
        short=False,
        timeout=300.0,
    )


def _require(outcome: object, expected: object) -> str:
    if outcome != expected:
        raise FindingError(f"{outcome}, expected {expected}")
    return str(outcome)


def _evaluate_in_odd_folder(trial: Trial, name: str) -> str:
    """Evaluate in a home folder of this name; a command that fails must show its path."""
    home = BenchHome(trial.folder / name).folder
    words = ("env", f"PWD={home}")
    with running_bench(home, EVALUATE, words) as process:
        status, output = wait_for(process)
    require_sentence(output)
    with running_bench(home, ("evaluate", "quiz", "--model", "gone"), words) as process:
        _, error = wait_for(process)
    path = str(home).replace("\u2028", "\\u2028")
    if path not in error:
        raise FindingError(f"the path is not shown: {error[-300:]}")
    if status and path in output:  # Dagster cannot keep databases in every folder
        return "a sentence that names the place"
    if status:
        raise FindingError(f"status {status}: {output[-300:]}")
    return _require_half(output)


def _print_to_full_disk(trial: Trial) -> str:
    words = ("sh", "-c", 'exec "$@" >/dev/full', "sh")
    with running_bench(BenchHome(trial.folder / "home").folder, EVALUATE, words) as process:
        status, output = wait_for(process)
    require_sentence(output)
    if status != 1 or "No space left on device" not in output:
        raise FindingError(f"status {status}: {output[-300:]}")
    return "a sentence"


_FIRST_USER: tuple[tuple[str, ...], ...] = (
    ("evaluate", "quiz", "--model", "m"),
    ("annotate", "ask", "codis/votes"),
    ("leaderboard",),
    ("report",),
)
_SECOND_USER = read_rows(__file__, "second_user.jsonl")


def _evaluate_as_two_users(trial: Trial) -> str:
    home = BenchHome(trial.folder / "home", further_toml='[annotation.tasks."codis/votes"]').folder
    give(home, FIRST)
    for arguments in _FIRST_USER:
        bench_as(FIRST, home, *arguments)
    for arguments in _SECOND_USER:
        bench_as(SECOND, home, *arguments)
    for arguments in _FIRST_USER:
        bench_as(FIRST, home, *arguments)
    private = [file.name for file in home.rglob("*") if file.stat().st_mode & 0o060 != 0o060]
    _require([name for name in private if name != "links.key"], [])
    return _require_half(bench_as(SECOND, home, "leaderboard", "quiz", "--json"))


def _read_only(trial: Trial) -> str:
    """Run commands as a user who may only read the home of another one."""
    home = BenchHome(trial.folder / "home").folder
    give(home, FIRST)
    bench_as(FIRST, home, "evaluate", "quiz", "--model", "m", umask="022")
    for path in (home, *home.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o022)
    states = _file_states(home)
    out = str(trial.folder / f"user-{SECOND}")
    for arguments in read_rows(__file__, "reader.jsonl"):
        bench_as(SECOND, home, *(word.format(out=out) for word in arguments))
    bench_as(SECOND, home, "report", code=1)  # it would write into the home
    _require(_file_states(home), states)
    return _require_half(bench_as(SECOND, home, "leaderboard", "quiz", "--json"))


def _file_states(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of modification of every file."""
    statuses = {str(path): path.stat() for path in folder.rglob("*") if path.is_file()}
    return {name: (status.st_size, status.st_mtime_ns) for name, status in statuses.items()}


def _require_half(output: str) -> str:
    """Require the accuracy of the model that says A in an output with lines of JSON."""
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in output.splitlines() if line.startswith("{")
    ]
    return _require([row["value"] for row in rows if row["model"] == "m"], [0.5])


def _evaluate_with_image_named(trial: Trial, name: str, form: Literal["NFC", "NFD"]) -> str:
    """Evaluate with an image whose file name has one form of Unicode, and its row the other."""
    home = BenchHome(trial.folder / "home")
    form_in_row: Literal["NFC", "NFD"] = "NFD" if form == "NFC" else "NFC"
    (home.folder / "0.png").rename(home.folder / normalize(form, name))
    file = home.folder / "quiz.jsonl"
    text = file.read_text("utf-8").replace('"0.png"', json.dumps(normalize(form_in_row, name)))
    file.write_text(text, encoding="utf-8")
    return _require(home.evaluate(), 0.5)
