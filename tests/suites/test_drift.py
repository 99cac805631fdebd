"""Each raw file that a suite reads, cut in half, with fewer or repeated rows or a field gone."""

import json
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import BenchError, TableError
from bench_assets.suites.blink.synthetic import edition as blink
from bench_assets.suites.codis import synthetic as codis
from bench_assets.suites.cogbench.synthetic import edition as cogbench
from bench_assets.suites.journeybench.synthetic import edition as journeybench
from bench_assets.suites.multi.synthetic import edition as multi
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.codis_release import entries, write_release

EDITIONS = {
    "blink": blink,
    "codis": codis,
    "cogbench": cogbench,
    "journeybench": journeybench,
    "multi": multi,
}
IMAGES = {".jpg", ".png", ".ppm"}
UNREAD = {"wild6d/test_set/pkl_annotations/bottle/*.pkl"}  # a bottle looks the same from all sides


def build(home, suite):
    """Build the questions of a suite under all conditions that have what they need."""
    settings = load_settings(home)
    with Workbench(settings, catalog=load_catalog(settings, only={suite})) as bench:
        bench.refresh_questions(suite)
        for task in bench.catalog.tasks_of(suite):
            for condition in task.conditions:
                try:
                    bench.questions(task, condition)
                except TableError as error:
                    if "no table yet" not in str(error):
                        raise


def make_home(folder, suite):
    """A home that has built the raw material of a suite once."""
    EDITIONS[suite].write(folder / "raw")
    (folder / "bench.toml").write_text(f'[sources]\n{suite} = "raw"\n')
    build(folder, suite)
    return folder


def read_bases(home, suite):
    """Rows and fields of each raw file, or group of them, that the build has read."""
    (folder,) = (home / "tables").rglob(f".bases/{suite}/files")
    bases = {file: json.loads(file.read_text()) for file in folder.rglob("*.json")}
    return {
        file.relative_to(folder).as_posix().removesuffix(".json"): base
        for file, base in bases.items()
    }


def raw_files(home, name):
    """Files of a base, which may be a pattern or a folder; without images."""
    raw = home / "raw"
    for file in sorted(raw.rglob("*")):
        relative = file.relative_to(raw)
        names = (relative.as_posix(), relative.parent.as_posix())
        if file.is_file() and file.suffix not in IMAGES and any(fnmatch(n, name) for n in names):
            yield file


def cut(file, field):
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def drop_rows(file, field):
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[: len(lines) // 2]))


def repeat_rows(file, field):
    lines = file.read_text().splitlines(keepends=True)
    first = int(file.suffix == ".csv")
    file.write_text("".join([*lines, *lines[first : first + len(lines) // 2]]))


def empty(file, field):
    rows = map(json.loads, file.read_text().splitlines())
    file.write_text("".join(json.dumps({**row, field: None}) + "\n" for row in rows))


def rename(file, field):
    """Rename a field: of objects, of a pickle, or of the first line."""
    name = field.encode()
    if file.suffix == ".csv":
        header, _, rows = file.read_bytes().partition(b"\n")
        file.write_bytes(re.sub(rb"\b%s\b" % name, name[::-1], header) + b"\n" + rows)
    else:
        file.write_bytes(re.sub(rb"\b%s\b" % name, name[::-1], file.read_bytes()))


def changes(name, fields):
    """Changes of a raw file, each with what the message has to say besides its name."""
    yield cut, "", "JSON|cut short|before"
    if name.endswith((".jsonl", ".csv")):
        yield drop_rows, "", r"\d+ rows \(\d+ before\)"
        if fields:
            yield repeat_rows, "", r"rows are there twice \(\d+ before\)|Keep one"
    outer = [field for field, n in fields.items() if "." not in field and n > 1]
    for field in dict.fromkeys((*outer[:1], *outer[-1:])):
        if name.endswith(".jsonl"):
            yield empty, field, rf"field '{field}'"
        yield rename, field, rf"field '({field}|{field[::-1]})'|{field}.*\d+ of \d+ rows"


def outcome(home, suite):
    try:
        build(home, suite)
    except BenchError as error:
        return str(error)
    return "built"


def contents(folder):
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*.*")}


@pytest.mark.parametrize(
    "suite",
    [pytest.param("blink", marks=pytest.mark.long), "codis", "cogbench", "journeybench", "multi"],
)
def test_an_edition_is_written_again_with_the_same_bytes_and_then_touched_no_more(suite, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    EDITIONS[suite].write(one)
    EDITIONS[suite].write(other)
    assert contents(one) == contents(other)
    before = {file: file.stat().st_mtime_ns for file in one.rglob("*.*")}
    EDITIONS[suite].write(one)
    assert {file: file.stat().st_mtime_ns for file in one.rglob("*.*")} == before


@pytest.mark.long
@pytest.mark.parametrize("suite", EDITIONS)
def test_each_change_of_each_raw_file_is_named(suite, tmp_path):
    home, passed, files = make_home(tmp_path, suite), [], set[Path]()
    for name, base in sorted(read_bases(home, suite).items()):
        members = {file: file.read_bytes() for file in raw_files(home, name)}
        files |= members.keys()
        if not members or name in UNREAD:
            continue
        for change, field, message in changes(name, base["fields"]):
            for file in members:
                change(file, field)
            text = outcome(home, suite)
            print(f"{suite} | {name} | {change.__name__} {field} | {text:.200}")
            if not (re.search(re.escape(name), text) and re.search(message, text)):
                passed.append((name, change.__name__, field, text))
            for file, content in members.items():
                file.write_bytes(content)
    assert passed == []
    assert {file for file in raw_files(home, "*")} - files == set()
    build(home, suite)


@pytest.mark.long
def test_a_mended_source_passes_after_a_later_step_has_refused_it(tmp_path):
    pairs = entries()
    write_release(tmp_path / "raw")
    (tmp_path / "bench.toml").write_text('[sources]\ncodis = "raw"\n')
    build(tmp_path, "codis")
    again = [{**pair, "question": f"Once more: {pair['question']}"} for pair in pairs[:100]]
    (tmp_path / "raw/data.json").write_text(json.dumps([*pairs, *again]))
    message = r"100 of \d+ rows are rejected \(0 before\)"
    assert re.search(message, outcome(tmp_path, "codis"))
    (tmp_path / "raw/data.json").write_text(json.dumps(pairs))
    build(tmp_path, "codis")
