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
IMAGE_SUFFIXES = {".jpg", ".png", ".ppm"}
UNNOTICED = {
    "wild6d/test_set/pkl_annotations/bottle/*.pkl"
}  # a bottle looks the same from all sides


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
    """A home that has built the mini edition of a suite once from its raw material."""
    EDITIONS[suite].write(folder / "raw")
    (folder / "bench.toml").write_text(f'[sources]\n{suite} = "raw"\n')
    build(folder, suite)
    return folder


def read_bases(home, suite):
    """Numbers of rows and fields of each raw file or group of files, as the build recorded them."""
    (folder,) = (home / "tables").rglob(f".bases/{suite}/files")
    bases = {file: json.loads(file.read_text()) for file in folder.rglob("*.json")}
    return {
        file.relative_to(folder).as_posix().removesuffix(".json"): base
        for file, base in bases.items()
    }


def raw_files(home, pattern):
    """Raw files below a name, a pattern or a folder; without images."""
    raw = home / "raw"
    for file in sorted(raw.rglob("*")):
        relative = file.relative_to(raw)
        paths = (relative.as_posix(), relative.parent.as_posix())
        is_matching = any(fnmatch(path, pattern) for path in paths)
        if file.is_file() and file.suffix not in IMAGE_SUFFIXES and is_matching:
            yield file


def cut_in_half(file, field):
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def drop_rows(file, field):
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[: len(lines) // 2]))


def repeat_rows(file, field):
    lines = file.read_text().splitlines(keepends=True)
    n_headers = int(file.suffix == ".csv")
    repeated = lines[n_headers : n_headers + len(lines) // 2]
    file.write_text("".join([*lines, *repeated]))


def set_to_null(file, field):
    rows = map(json.loads, file.read_text().splitlines())
    file.write_text("".join(json.dumps({**row, field: None}) + "\n" for row in rows))


def rename_field(file, field):
    """Spell a field backwards: in the header of a CSV file, or wherever it occurs."""
    name = field.encode()
    if file.suffix == ".csv":
        header, _, rows = file.read_bytes().partition(b"\n")
        file.write_bytes(re.sub(rb"\b%s\b" % name, name[::-1], header) + b"\n" + rows)
    else:
        file.write_bytes(re.sub(rb"\b%s\b" % name, name[::-1], file.read_bytes()))


def changes(name, fields):
    """Changes of a raw file: function, field, and a pattern of the error message."""
    yield cut_in_half, "", "JSON|cut short|before"
    if name.endswith((".jsonl", ".csv")):
        yield drop_rows, "", r"\d+ rows \(\d+ before\)"
        if fields:
            yield repeat_rows, "", r"rows are there twice \(\d+ before\)|Keep one"
    top_level = [field for field, n in fields.items() if "." not in field and n > 1]
    for field in dict.fromkeys((*top_level[:1], *top_level[-1:])):  # the first and the last
        if name.endswith(".jsonl"):
            yield set_to_null, field, rf"field '{field}'"
        yield rename_field, field, rf"field '({field}|{field[::-1]})'|{field}.*\d+ of \d+ rows"


def error_of_build(home, suite):
    """The message of the error that stops a build; "" if there is none."""
    try:
        build(home, suite)
    except BenchError as error:
        return str(error)
    return ""


def read_contents(folder):
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*.*")}


def read_mtimes(folder):
    return {file: file.stat().st_mtime_ns for file in folder.rglob("*.*")}


@pytest.mark.parametrize(
    "suite",
    [pytest.param("blink", marks=pytest.mark.long), "codis", "cogbench", "journeybench", "multi"],
)
def test_an_edition_has_the_same_bytes_in_each_folder_and_is_written_once(suite, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    EDITIONS[suite].write(first)
    EDITIONS[suite].write(second)
    assert read_contents(first) == read_contents(second)

    mtimes = read_mtimes(first)
    EDITIONS[suite].write(first)
    assert read_mtimes(first) == mtimes


def error_of_changed_files(home, suite, change, field, files):
    """Build a suite after a change of raw files, restore them, and return the error."""
    contents = {file: file.read_bytes() for file in files}
    for file in files:
        change(file, field)
    message = error_of_build(home, suite)
    for file, content in contents.items():
        file.write_bytes(content)
    return message


@pytest.mark.long
@pytest.mark.parametrize("suite", EDITIONS)
def test_each_change_of_each_raw_file_is_named(suite, tmp_path):
    home = make_home(tmp_path, suite)
    unnamed, read_files = [], set[Path]()
    for name, base in sorted(read_bases(home, suite).items()):
        files = list(raw_files(home, name))
        read_files.update(files)
        if not files or name in UNNOTICED:
            continue
        for change, field, pattern in changes(name, base["fields"]):
            message = error_of_changed_files(home, suite, change, field, files)
            print(f"{suite} | {name} | {change.__name__} {field} | {message:.200}")
            if name not in message or not re.search(pattern, message):
                unnamed.append((name, change.__name__, field, message))
    assert unnamed == []
    assert set(raw_files(home, "*")) == read_files
    build(home, suite)


@pytest.mark.long
def test_a_repaired_source_is_built_after_it_was_refused(tmp_path):
    pairs = entries()
    write_release(tmp_path / "raw")
    (tmp_path / "bench.toml").write_text('[sources]\ncodis = "raw"\n')
    build(tmp_path, "codis")
    repeated = [{**pair, "question": f"Once more: {pair['question']}"} for pair in pairs[:100]]
    (tmp_path / "raw/data.json").write_text(json.dumps([*pairs, *repeated]))
    pattern = r"100 of \d+ rows are rejected \(0 before\)"
    assert re.search(pattern, error_of_build(tmp_path, "codis"))
    (tmp_path / "raw/data.json").write_text(json.dumps(pairs))
    build(tmp_path, "codis")
