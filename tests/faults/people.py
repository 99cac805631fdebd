"""What people do between two runs: images that are missing, names of other systems.

Whatever is printed afterwards equals a fresh evaluation, or is marked.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple
from unicodedata import normalize

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import BenchError
from bench_assets.file_benchmarks.suite import file_benchmark_suites
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.chat_server import Answer, ChatServer
from tests.faults.accounts import FIRST, SECOND, bench_as, give
from tests.faults.processes import ended, require_sentence, running
from tests.faults.table import Fault, FoundError, Trial

GROUP = "people between two runs"
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
_EDITS: Mapping[str, Callable[[Row], Row]] = {
    "is null": lambda row: row | {"image": None},
    "is NaN": lambda row: row | {"image": float("nan")},
    "has no key": lambda row: {name: cell for name, cell in row.items() if name != "image"},
    "is one of two in a list": lambda row: row | {"image": [row["image"], None]},
}


def _edit_rows(edit: Callable[[list[Row]], list[Row]]) -> "Callable[[Quiz], None]":
    return lambda quiz: quiz.write(edit(quiz.rows()))


def _swap_images(quiz: "Quiz") -> None:
    first, second = quiz.home / "0.png", quiz.home / "1.png"
    before = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(before)


def _overwrite_image(quiz: "Quiz") -> None:
    Image.new("RGB", (9, 9)).save(quiz.home / "0.png")


def _replace_folder(quiz: "Quiz") -> None:
    folder = quiz.home.rename(quiz.home.with_name("old"))
    shutil.copytree(folder, quiz.home)
    quiz.write([row | {"answer": "B"} for row in quiz.rows()])


def _move_file(quiz: "Quiz") -> None:
    quiz.file = quiz.file.rename(quiz.home / "moved.jsonl")
    quiz.write([row | {"answer": "A"} for row in quiz.rows()])
    (quiz.home / "bench.toml").write_text(_TOML.format(file=quiz.file.name, more=""))


def _change_setting(quiz: "Quiz") -> None:
    text = (quiz.home / "bench.toml").read_text().replace('says = "A"', 'says = "B"')
    (quiz.home / "bench.toml").write_text(text)


_CHANGES: "Mapping[str, Callable[[Quiz], None]]" = {
    "a key is corrected": _edit_rows(lambda rows: [rows[0] | {"answer": "B"}, *rows[1:]]),
    "a question is reworded": _edit_rows(lambda rows: [rows[0] | {"question": "Why?"}, *rows[1:]]),
    "two images are exchanged": _swap_images,
    "an image is overwritten": _overwrite_image,
    "a row is added": _edit_rows(lambda rows: [*rows, rows[0] | {"id": 99, "question": "New?"}]),
    "a row is removed": _edit_rows(lambda rows: rows[1:]),
    "the rows are reversed": _edit_rows(lambda rows: rows[::-1]),
    "the folder is replaced by a copy": _replace_folder,
    "the file is moved": _move_file,
    "the model's section is changed": _change_setting,
}
_NAMES = ("Käse.png", "[a, b].png")

_FOLDERS = ("h \U0002f81a\u2028", "sk-9ZpLw3Rk2Vt5Qx7")

_UNFINISHED: Mapping[str, Row] = {
    "with the status queued": {"status": "queued"},
    "with a list of errors": {"errors": [{"message": "half of it is missing"}]},
}


def faults() -> list[Fault]:
    """Class by class."""
    return [
        *(_row(f"the image of one row {name}", "edited after an evaluation",
               "that row is rejected; the number is that of a fresh home",
               partial(_without_image, edit=edit))
          for name, edit in _EDITS.items()),
        _row("the image of one row of a Parquet file is null", "written by datasets",
             "that row is rejected", _without_image_in_parquet),
        *(_row(f"a source of which {name}", "edited after an evaluation",
               "the number is that of a fresh home, or the evaluation says what changed",
               partial(_changed, change=change))
          for name, change in _CHANGES.items()),
        _row("rows without an image that are meant", 'images = "optional"',
             "they are questions", _optional_images),
        *(_row(f"an image named {name} in the form {form}", "an archive of macOS, or a name",
               "found", partial(_named, name=name, form=form))
          for name in _NAMES for form in ("NFC", "NFD")),
        *(_row(f"a home in the folder {name!r}", "BENCH_HOME, and the working directory",
               "evaluated; messages show its path", partial(_placed, name=name))
          for name in _FOLDERS),
        _row("a key that expires after three responses", "HTTP 401",
             "no number; then the rest is requested, and the number is that of a fresh home",
             _expired_key),
        *(_row(f"one request that a provider refuses {when}", "HTTP 400 in unknown words", must,
               partial(_refused, n=n))
          for when, n, must in (("once", 1, "asked again, and counted"),
                                ("every time", 99, "no number, or a wrong answer if accepted"))),
        *(_row(f"a body {name}", "HTTP 200", "asked again",
               partial(_unfinished, more=body))
          for name, body in _UNFINISHED.items()),
        _row("standard output on a full disk", "> /dev/full", "one sentence", _full_output),
        _row("a model with a name of 300 letters", "bench.toml", "one sentence", _long_name),
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

    def fresh(self, folder: Path) -> Number:
        """The same evaluation in a copy of the home without anything made before."""
        made = shutil.ignore_patterns("tables", "dagster", "images", "*.sqlite*", "digests.json")
        shutil.copytree(self.home, folder, ignore=made)
        copied = object.__new__(Quiz)
        copied.home, copied.file = folder, folder / self.file.name
        return copied.evaluate()


def _require(outcome: object, expected: object) -> str:
    if outcome != expected:
        raise FoundError(f"{outcome}, expected {expected}")
    return str(outcome)


def _without_image(trial: Trial, edit: Callable[[Row], Row]) -> str:
    quiz = Quiz(trial.folder / "home")
    _require(quiz.evaluate(), Number(0.5, 6, 0))
    first, *others = quiz.rows()
    quiz.write([edit(first), *others])
    try:
        _require(quiz.evaluate(), Number(2 / 5, 5, 1))
    except BenchError as error:
        if " before)" not in str(error):  # a table that would lose rows stays, and says so
            raise
    return _require(quiz.fresh(trial.folder / "fresh"), Number(2 / 5, 5, 1))


def _changed(trial: Trial, change: Callable[[Quiz], None]) -> str:
    quiz = Quiz(trial.folder / "home")
    _require(quiz.evaluate(), Number(0.5, 6, 0))
    change(quiz)
    try:
        outcome: Number | str = quiz.evaluate()
    except BenchError as error:
        outcome = str(error)
    fresh = quiz.fresh(trial.folder / "fresh")
    if isinstance(outcome, str) and " before)" in outcome:  # a table that lost rows says so
        return outcome
    return _require(outcome, fresh)


def _without_image_in_parquet(trial: Trial) -> str:
    quiz = Quiz(trial.folder / "home")
    rows = quiz.rows()
    for number, row in enumerate(rows):
        data = (quiz.home / row["image"]).read_bytes()
        row["image"] = None if number == len(rows) - 1 else {"bytes": data, "path": None}
    file = quiz.home / "quiz.parquet"
    pq.write_table(pa.Table.from_pylist(rows), file)
    (quiz.home / "bench.toml").write_text(_TOML.format(file=file.name, more=""))
    return _require(quiz.evaluate(), Number(2 / 5, 5, 1))


def _optional_images(trial: Trial) -> str:
    quiz = Quiz(trial.folder / "home", more='images = "optional"')
    rows = quiz.rows()
    edits = [*list(_EDITS.values())[:3], dict, dict]
    quiz.write([edit(row) for edit, row in zip(edits, rows[1:], strict=True)] + rows[:1])
    return _require(quiz.evaluate(), Number(0.5, 6, 0))


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


def _serve(trial: Trial, server: ChatServer) -> Quiz:
    quiz = Quiz(trial.folder / "home")
    section = f'[models.s]\nkind = "server"\nmodel = "m"\nbase_url = "{server.base_url}"\n'
    with (quiz.home / "bench.toml").open("a") as file:
        file.write(f"{section}concurrency = 1\nmax_tries = 2\n")
    return quiz


def _fail(quiz: Quiz) -> str:
    try:
        number = quiz.evaluate("s")
    except BenchError as error:
        return str(error)
    raise FoundError(f"a number without all responses: {number}")


def _expired_key(trial: Trial) -> str:
    with ChatServer() as server:
        quiz = _serve(trial, server)
        server.answer_with(lambda _: "A" if server.n_requests <= 3 else Answer(status=401))
        _fail(quiz)
        server.answer_with(lambda _: "A")
        server.forget()
        _require(quiz.evaluate("s"), Number(0.5, 6, 0))
        return _require(server.n_requests, 3)


def _refused(trial: Trial, n: int) -> str:
    words = Answer(status=400, text="The planets do not agree")
    refusals = iter([words] * n)
    with ChatServer() as server:
        quiz = _serve(trial, server)
        server.answer_with(lambda body: next(refusals, "A") if "of 0?" in str(body) else "A")
        if n > 1:
            if "The planets do not agree" not in (message := _fail(quiz)):
                raise FoundError(f"not in the server's words: {message}")
            return _require(quiz.evaluate("s", ["refused"]), Number(2 / 6, 6, 0))
        return _require(quiz.evaluate("s"), Number(0.5, 6, 0))


def _unfinished(trial: Trial, more: Row) -> str:
    choice = {"index": 0, "message": {"content": "B"}, "finish_reason": "stop"}
    with ChatServer() as server:
        quiz = _serve(trial, server)
        server.fail_next(1, Answer(raw=json.dumps({"choices": [choice], **more}).encode()))
        return _require(quiz.evaluate("s"), Number(0.5, 6, 0))


def _full_output(trial: Trial) -> str:
    quiz = Quiz(trial.folder / "home")
    words = ("sh", "-c", 'exec "$@" >/dev/full', "sh")
    with running(quiz.home, ("evaluate", "quiz", "--model", "m"), words) as process:
        status, output = ended(process)
    require_sentence(output)
    if status != 1 or "No space left on device" not in output:
        raise FoundError(f"status {status}: {output[-300:]}")
    return "a sentence"


def _long_name(trial: Trial) -> str:
    quiz = Quiz(trial.folder / "home")
    with (quiz.home / "bench.toml").open("a") as file:
        file.write(f'[models.{"m" * 300}]\nkind = "scripted"\nsays = "A"\n')
    with running(quiz.home, ("evaluate", "quiz", "--model", "m" * 300)) as process:
        status, output = ended(process)
    require_sentence(output)
    return _require(status, 1)


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
