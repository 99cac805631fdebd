"""`--source` is remembered: every command that reads finds what was evaluated from a source."""

import json
import shutil
from pathlib import Path

import pytest

import bench_assets
from bench_assets.core.schema.errors import SettingsError, SourceError
from tests.cases import read_rows
from tests.fakes.codis_source import entry, write_release
from tests.fakes.commands import bench, lines

TOML = Path(__file__).with_name("opening.toml").read_text(encoding="utf-8")


def write_questions(file: Path, keys: str) -> Path:
    question = {"question": "Which?", "options": ["red", "blue"]}
    rows = [
        question | {"id": f"{file.stem}-{n}", "question": f"Which of {n}?", "answer": key}
        for n, key in enumerate(keys)
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def evaluate(suite: str, *options: object) -> None:
    model = "a" if suite == "fridge" else "random"
    bench("evaluate", suite, "--model", model, *options)


@pytest.fixture(scope="session")
def evaluated_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose suites were evaluated from files that bench.toml does not name."""
    folder = tmp_path_factory.mktemp("remembered")
    home = folder / "home"
    home.mkdir()
    (home / "bench.toml").write_text(TOML)
    write_questions(home / "one.jsonl", "AAAA")
    write_questions(folder / "two.jsonl", "ABBB")
    write_questions(folder / "three.jsonl", "AABB")
    pairs = [entry(), entry(id="001", image_id="b.png")]
    write_release(folder / "codis", pairs, images=("a.png", "b.png"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(home))
        evaluate("fridge", "--source", folder / "two.jsonl")
        bench("evaluate", "fridge", "--model", "b", "--source", folder / "two.jsonl")
        evaluate("codis", "--source", folder / "codis")
    return folder


@pytest.fixture
def folder(evaluated_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it; the sources are where they were."""
    shutil.copytree(evaluated_folder / "home", tmp_path / "home")
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return evaluated_folder


FINDING_FAULTS = ("audit run --json",)  # exit code 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "command", "expected"), read_rows(__file__, "reading_commands.jsonl")
)
def test_what_reads_finds_what_was_evaluated_from_a_source(
    folder: Path, name: str, command: list[str], expected: str
) -> None:
    result = bench(*command, code=int(name in FINDING_FAULTS))
    assert expected in result.output
    lists_all = name.startswith(("leaderboard", "report"))
    assert ("as in its last evaluation" in result.stderr) != lists_all


def ids(*options: object) -> list[str]:
    return [row["question_id"] for row in lines(bench("tables", "questions", *options, "--json"))]


@pytest.mark.long
def test_the_last_evaluation_counts_and_a_source_that_is_named_before_it(folder: Path) -> None:
    three = folder / "three.jsonl"
    assert ids("fridge", "--source", three)[0] == "fridge/three-0"
    assert ids("fridge")[0] == "fridge/two-0"  # looking is not evaluating
    assert ids("fridge", "--source", "default")[0] == "fridge/one-0"
    evaluate("fridge", "--source", three, "--dry-run")
    assert ids("fridge")[0] == "fridge/two-0"
    evaluate("fridge", "--source", three, "--limit", "2")
    assert ids("fridge")[0] == "fridge/three-0"
    shown = bench("tables", "show", "fridge/scores", "--source", folder / "two.jsonl").stdout
    assert "fridge/two-3" in shown


@pytest.mark.long
def test_a_source_of_bench_toml_is_evaluated_and_then_read_unless_another_is_named(
    folder: Path, tmp_path: Path
) -> None:
    evaluate("fridge")
    assert ids("fridge")[0] == "fridge/one-0"
    evaluate("fridge", "--source", folder / "two.jsonl")
    toml = tmp_path / "home/bench.toml"
    toml.write_text(f'{TOML}\n[sources]\nfridge = "{folder / "three.jsonl"}"\n')
    assert ids("fridge")[0] == "fridge/three-0"  # what is written later counts


@pytest.mark.long
def test_what_is_remembered_reads_on_without_its_folder_and_names_it_when_it_is_needed(
    folder: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(folder / "codis", moved)
    evaluate("codis", "--source", moved)
    shutil.rmtree(moved)
    assert "acc_p" in bench("explain", "codis/000/1", "--model", "random").stdout
    for command in (("audit", "run", "codis"), ("evaluate", "codis", "--model", "a")):
        result = bench(*command, code=1)
        assert f"error: {moved}: no such folder" in result.stderr
        assert f"codis: from {moved}, as in its last evaluation" in result.stderr
    with pytest.raises(SourceError, match=f"{moved}: no such folder"):
        bench_assets.load("codis")


@pytest.mark.long
@pytest.mark.usefixtures("folder")
def test_tables_of_homes_that_remember_nothing_are_named(tmp_path: Path) -> None:
    (tmp_path / "home/sources.toml").unlink()
    result = bench("explain", "fridge/two-1", "--model", "a", code=1)
    assert "fridge/questions is of another source, name it with --source" in result.stderr


@pytest.mark.usefixtures("folder")
def test_entries_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "home/sources.toml").write_text("fridge = 3\n")
    assert "sources.toml, entry fridge" in bench("tables", "list", code=1).stderr
    with pytest.raises(SettingsError, match=r"sources\.toml"):
        bench_assets.load("fridge")
