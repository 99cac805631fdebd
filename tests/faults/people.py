"""What people do: names of other systems, odd folders, two users of one home."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

from tests.faults.accounts import FIRST, SECOND, bench_as, give
from tests.faults.homes import Whole
from tests.faults.processes import EVALUATE, ended, require_sentence, running
from tests.faults.table import Fault, FoundError, Trial

_IMAGES = ("Käse.png", "[a, b].png")
_FOLDERS = (
    *("with blanks", "with # in it", "100%25", "why? & how", "ümlaut 家", "a'b\"c", "[x] {y} *"),
    *("h \U0002f81a\u2028", "sk-9ZpLw3Rk2Vt5Qx7"),
)


def faults() -> list[Fault]:
    """Class by class."""
    return [
        *(_row(f"an image named {name} in the form {form}", "an archive of macOS, or a name",
               "found", partial(_named, name=name, form=form))
          for name in _IMAGES for form in ("NFC", "NFD")),
        *(_row(f"a home in the folder {name!r}", "BENCH_HOME, and the working directory",
               "evaluated, or a sentence; messages show its path", partial(_placed, name=name))
          for name in _FOLDERS),
        _row("standard output on a full disk", "> /dev/full", "one sentence", _full_output),
        _row("two users of one group evaluate in one home", "umask 002",
             "both evaluate, annotate and read; only the key of links is its owner's", _two_users),
        _row("a home that may only be read", "another user, umask 022",
             "commands that read write nothing, and print the number", _read_only),
    ]  # fmt: skip


def _row(name: str, made: str, must: str, attempt: Callable[[Trial], str]) -> Fault:
    return Fault(
        group="people", name=name, made=made, must=must, attempt=attempt, short=False, longest=300.0
    )


def _require(outcome: object, expected: object) -> str:
    if outcome != expected:
        raise FoundError(f"{outcome}, expected {expected}")
    return str(outcome)


def _placed(trial: Trial, name: str) -> str:
    home = Whole(trial.folder / name).home
    before = ("env", f"PWD={home}")
    with running(home, EVALUATE, before) as process:
        status, output = ended(process)
    require_sentence(output)
    with running(home, ("evaluate", "quiz", "--model", "gone"), before) as process:
        _, wrong = ended(process)
    path = str(home).replace("\u2028", "\\u2028")
    if path not in wrong:
        raise FoundError(f"the path is not shown: {wrong[-300:]}")
    if status and path in output:  # Dagster cannot keep databases in every folder
        return "a sentence that names the place"
    if status:
        raise FoundError(f"status {status}: {output[-300:]}")
    return _require_half(output)


def _full_output(trial: Trial) -> str:
    words = ("sh", "-c", 'exec "$@" >/dev/full', "sh")
    with running(Whole(trial.folder / "home").home, EVALUATE, words) as process:
        status, output = ended(process)
    require_sentence(output)
    if status != 1 or "No space left on device" not in output:
        raise FoundError(f"status {status}: {output[-300:]}")
    return "a sentence"


_FIRST_USER = (
    ("evaluate", "quiz", "--model", "m"),
    ("annotate", "ask", "codis/votes"),
    ("leaderboard",),
    ("report",),
)
_SECOND_USER = (
    ("evaluate", "quiz", "--model", "m"),
    ("evaluate", "quiz", "--model", "most-frequent"),
    ("evaluate", "quiz", "--model", "random", "--limit", "2"),
    ("annotate", "ask", "codis/votes"),
    ("annotate", "status"),
    ("leaderboard",),
    ("report",),
    ("tables", "check"),
    ("export", "csv"),
    ("home", "verify"),
)


def _two_users(trial: Trial) -> str:
    home = Whole(trial.folder / "home", more='[annotation.tasks."codis/votes"]').home
    give(home, FIRST)
    for arguments in _FIRST_USER:
        bench_as(FIRST, home, *arguments)
    for command in (*_SECOND_USER, *_FIRST_USER):
        bench_as(SECOND if command in _SECOND_USER else FIRST, home, *command)
    closed = [file for file in home.rglob("*") if file.stat().st_mode & 0o060 != 0o060]
    _require([one for one in closed if one.name != "links.key"], [])
    return _require_half(bench_as(SECOND, home, "leaderboard", "quiz", "--json"))


def _read_only(trial: Trial) -> str:
    home = Whole(trial.folder / "home").home
    give(home, FIRST)
    bench_as(FIRST, home, "evaluate", "quiz", "--model", "m", umask="022")
    for path in (home, *home.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o022)
    states = _states(home)
    out = str(trial.folder / f"user-{SECOND}")
    for command in (
        ("explain", "quiz/0", "--model", "m"),
        ("tables", "check"),
        ("tables", "list"),
        ("tables", "show", "quiz/scores"),
        ("tables", "questions", "quiz"),
        ("tables", "diff", "m", "m"),
        ("audit", "power", "quiz"),
        ("bundle", "reproduce", "quiz", "m"),
        ("bundle", "pack", "quiz", "m", f"{out}/m.zip"),
        ("export", "csv", "--out", f"{out}/csv"),
        ("report", "--out", f"{out}/report"),
        ("evaluate", "quiz", "--model", "m", "--dry-run"),
        ("models", "list"),
        ("home", "verify"),
    ):
        bench_as(SECOND, home, *command)
    bench_as(SECOND, home, "report", code=1)
    _require(_states(home), states)
    return _require_half(bench_as(SECOND, home, "leaderboard", "quiz", "--json"))


def _states(folder: Path) -> dict[str, tuple[int, int]]:
    outcome = {str(path): path.stat() for path in folder.rglob("*") if path.is_file()}
    return {name: (one.st_size, one.st_mtime_ns) for name, one in outcome.items()}


def _require_half(output: str) -> str:
    """Require the number of the model that says A among lines of JSON."""
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in output.splitlines() if line.startswith("{")
    ]
    return _require([row["value"] for row in rows if row["model"] == "m"], [0.5])


def _named(trial: Trial, name: str, form: Literal["NFC", "NFD"]) -> str:
    door = Whole(trial.folder / "home")
    other: Literal["NFC", "NFD"] = "NFD" if form == "NFC" else "NFC"
    (door.home / "0.png").rename(door.home / normalize(form, name))
    file = door.home / "quiz.jsonl"
    text = file.read_text("utf-8").replace('"0.png"', json.dumps(normalize(other, name)))
    file.write_text(text, encoding="utf-8")
    return _require(door.evaluate(), 0.5)
