"""What people do: names of other systems, odd folders, two users of one home."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple
from unicodedata import normalize

from PIL import Image

from bench_assets.catalog import Catalog
from bench_assets.file_benchmarks.suite import file_benchmark_suites
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.faults.accounts import FIRST, SECOND, bench_as, give
from tests.faults.processes import ended, require_sentence, running
from tests.faults.table import Fault, FoundError, Trial

GROUP = "people"
Row = dict[str, Any]

_TOML = """
[benchmarks.quiz]
file = "{file}"
{more}
[models.m]
kind = "scripted"
says = "A"
"""
_GOLD = "ABBABA"


_NAMES = ("Käse.png", "[a, b].png")

_FOLDERS = ("h \U0002f81a\u2028", "sk-9ZpLw3Rk2Vt5Qx7")


def faults() -> list[Fault]:
    """Class by class."""
    return [
        *(_row(f"an image named {name} in the form {form}", "an archive of macOS, or a name",
               "found", partial(_named, name=name, form=form))
          for name in _NAMES for form in ("NFC", "NFD")),
        *(_row(f"a home in the folder {name!r}", "BENCH_HOME, and the working directory",
               "evaluated; messages show its path", partial(_placed, name=name))
          for name in _FOLDERS),
        _row("standard output on a full disk", "> /dev/full", "one sentence", _full_output),
        _row("two users of one group evaluate in one home", "umask 002",
             "both evaluate, annotate and read; only the key of links is its owner's", _two_users),
        _row("a home that may only be read", "another user, umask 022",
             "commands that read write nothing, and print the number", _read_only),
    ]  # fmt: skip


def _row(
    name: str, made: str, must: str, attempt: Callable[[Trial], str], *, short: bool = False
) -> Fault:
    return Fault(
        group=GROUP, name=name, made=made, must=must, attempt=attempt, short=short, longest=300.0
    )


class Number(NamedTuple):
    """What is printed of an evaluation."""

    value: float
    n_scored: int
    n_rejected: int | None


class Quiz:
    """A home of six questions with an image each, and a model that says A."""

    def __init__(self, home: Path, rows: list[Row] | None = None, more: str = "") -> None:
        self.home, self.file = home, home / "quiz.jsonl"
        home.mkdir(parents=True)
        (home / "bench.toml").write_text(_TOML.format(file=self.file.name, more=more))
        self.write(rows or [self.row(number) for number in range(len(_GOLD))])

    def row(self, number: int, image: str = "") -> Row:
        """A question, whose image is written if it is not there."""
        file = self.home / (image or f"{number}.png")
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (40 * number, 0, 0)).save(file)
        fields = {"id": number, "question": f"Which of {number}?", "options": ["red", "blue"]}
        return fields | {"answer": _GOLD[number], "image": image or f"{number}.png"}

    def rows(self) -> list[Row]:
        """The questions as they are written."""
        return list(map(json.loads, self.file.read_text("utf-8").splitlines()))

    def write(self, rows: list[Row]) -> None:
        """Write the questions."""
        self.file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def evaluate(self, model: str = "m", accept: Sequence[str] = ()) -> Number:
        """Evaluate, as ``bench evaluate`` does."""
        settings = load_settings(self.home).with_overrides(accept=accept)
        suites = tuple(suite for _, suite in file_benchmark_suites(settings))
        with Workbench(settings, catalog=Catalog(suites=suites)) as bench:
            bench.refresh_questions("quiz")
            bench.evaluate(["quiz"], model)
            (row,) = [metric for metric in bench.metrics("quiz", model) if metric.category == "all"]
            return Number(row.value, row.n_scored, row.n_rejected)


def _require(outcome: object, expected: object) -> str:
    if outcome != expected:
        raise FoundError(f"{outcome}, expected {expected}")
    return str(outcome)


def _placed(trial: Trial, name: str) -> str:
    quiz = Quiz(trial.folder / name)
    before = ("env", f"PWD={quiz.home}")
    with running(quiz.home, ("evaluate", "quiz", "--model", "m", "--json"), before) as process:
        status, output = ended(process)
    require_sentence(output)
    if status:
        raise FoundError(f"status {status}: {output[-300:]}")
    with running(quiz.home, ("evaluate", "quiz", "--model", "gone"), before) as process:
        _, wrong = ended(process)
    path = str(quiz.home / "bench.toml").replace("\u2028", "\\u2028")
    if path not in wrong:
        raise FoundError(f"the path is not shown: {wrong[-300:]}")
    (row,) = _leaderboard(output, "m")
    return _require(row["value"], 0.5)


def _full_output(trial: Trial) -> str:
    quiz = Quiz(trial.folder / "home")
    words = ("sh", "-c", 'exec "$@" >/dev/full', "sh")
    with running(quiz.home, ("evaluate", "quiz", "--model", "m"), words) as process:
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
    quiz = Quiz(trial.folder / "home", more='\n[annotation.tasks."codis/votes"]')
    give(quiz.home, FIRST)
    for arguments in _FIRST_USER:
        bench_as(FIRST, quiz.home, *arguments)
    for command in (*_SECOND_USER, *_FIRST_USER):
        bench_as(SECOND if command in _SECOND_USER else FIRST, quiz.home, *command)
    closed = [file for file in quiz.home.rglob("*") if file.stat().st_mode & 0o060 != 0o060]
    _require([one for one in closed if one.name != "links.key"], [])
    (row,) = _leaderboard(bench_as(SECOND, quiz.home, "leaderboard", "quiz", "--json"), "m")
    return _require(row["value"], 0.5)


def _read_only(trial: Trial) -> str:
    quiz = Quiz(trial.folder / "home")
    give(quiz.home, FIRST)
    bench_as(FIRST, quiz.home, "evaluate", "quiz", "--model", "m", umask="022")
    for path in (quiz.home, *quiz.home.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o022)
    states = _states(quiz.home)
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
        bench_as(SECOND, quiz.home, *command)
    bench_as(SECOND, quiz.home, "report", code=1)
    _require(_states(quiz.home), states)
    (row,) = _leaderboard(bench_as(SECOND, quiz.home, "leaderboard", "quiz", "--json"), "m")
    return _require(row["value"], 0.5)


def _states(folder: Path) -> dict[str, tuple[int, int]]:
    outcome = {str(path): path.stat() for path in folder.rglob("*") if path.is_file()}
    return {name: (one.st_size, one.st_mtime_ns) for name, one in outcome.items()}


def _leaderboard(output: str, model: str) -> list[Row]:
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [row for row in rows if row["model"] == model]


def _named(trial: Trial, name: str, form: Literal["NFC", "NFD"]) -> str:
    quiz = Quiz(trial.folder / "home")
    rows = quiz.rows()
    other: Literal["NFC", "NFD"] = "NFD" if form == "NFC" else "NFC"
    row = quiz.row(0, normalize(form, name))
    quiz.write([row | {"image": normalize(other, name)}, *rows[1:]])
    return _require(quiz.evaluate(), Number(0.5, 6, 0))
