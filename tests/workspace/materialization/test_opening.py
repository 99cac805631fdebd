import json
import shutil
from pathlib import Path

import pytest

import bench_assets
from bench_assets.asset_factory.configured_runner import configured_reader
from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.workspace.materialization.opening import open_workbench
from tests.cases import read_rows
from tests.fakes.codis_source import entry, write_release
from tests.fakes.commands import bench, lines

TOML = Path(__file__).with_name("opening.toml").read_text(encoding="utf-8")


def write_questions(file: Path, keys: str) -> None:
    """Write a question for each key; the ids begin with the name of the file."""
    rows = [
        {
            "id": f"{file.stem}-{n}",
            "question": f"Which of {n}?",
            "options": ["red", "blue"],
            "answer": key,
        }
        for n, key in enumerate(keys)
    ]
    file.write_text("\n".join(map(json.dumps, rows)))


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
    """The folder of the sources; the home of the test is a copy of its home."""
    shutil.copytree(evaluated_folder / "home", tmp_path / "home")
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return evaluated_folder


COMMANDS_WITH_FINDINGS = ("audit run --json",)  # exit code 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "command", "expected"), read_rows(__file__, "reading_commands.jsonl")
)
def test_commands_read_the_tables_of_the_last_evaluated_source(folder, name, command, expected):
    result = bench(*command, code=int(name in COMMANDS_WITH_FINDINGS))
    assert expected in result.output
    reads_one_suite = not name.startswith(("leaderboard", "report"))
    assert ("as in its last evaluation" in result.stderr) == reads_one_suite


def first_question(*options: object) -> str:
    """Id of the first question that ``bench tables questions`` prints."""
    first_row = lines(bench("tables", "questions", *options, "--json"))[0]
    return str(first_row["question_id"])


@pytest.mark.long
def test_a_source_that_is_named_is_read_and_not_remembered(folder: Path) -> None:
    assert first_question("fridge", "--source", folder / "three.jsonl") == "fridge/three-0"
    assert first_question("fridge") == "fridge/two-0"
    assert first_question("fridge", "--source", "default") == "fridge/one-0"


@pytest.mark.long
def test_the_source_of_the_last_evaluation_is_remembered_but_not_of_a_dry_run(folder: Path) -> None:
    evaluate("fridge", "--source", folder / "three.jsonl", "--dry-run")
    assert first_question("fridge") == "fridge/two-0"
    evaluate("fridge", "--source", folder / "three.jsonl", "--limit", "2")
    assert first_question("fridge") == "fridge/three-0"
    # The tables of the other source are still there.
    scores = bench("tables", "show", "fridge/scores", "--source", folder / "two.jsonl").stdout
    assert "fridge/two-3" in scores


@pytest.mark.long
def test_an_evaluation_without_a_source_brings_back_that_of_bench_toml(folder: Path) -> None:
    evaluate("fridge")
    assert first_question("fridge") == "fridge/one-0"


@pytest.mark.long
def test_a_source_added_to_bench_toml_replaces_a_remembered_one(folder, tmp_path):
    evaluate("fridge", "--source", folder / "two.jsonl")
    toml = tmp_path / "home/bench.toml"
    toml.write_text(f'{TOML}\n[sources]\nfridge = "{folder / "three.jsonl"}"\n')
    assert first_question("fridge") == "fridge/three-0"


@pytest.fixture
def deleted_source(folder: Path, tmp_path: Path) -> Path:
    """A source that was deleted after an evaluation."""
    source = tmp_path / "moved"
    shutil.copytree(folder / "codis", source)
    evaluate("codis", "--source", source)
    shutil.rmtree(source)
    return source


@pytest.mark.long
@pytest.mark.usefixtures("deleted_source")
def test_tables_of_a_deleted_source_can_be_read() -> None:
    assert "acc_p" in bench("explain", "codis/000/1", "--model", "random").stdout


@pytest.mark.long
@pytest.mark.parametrize("command", ["audit run codis", "evaluate codis --model a"])
def test_a_command_that_needs_a_deleted_source_names_it(deleted_source: Path, command: str) -> None:
    result = bench(*command.split(), code=1)
    assert f"error: {deleted_source}: no such folder" in result.stderr
    assert f"codis: from {deleted_source}, as in its last evaluation" in result.stderr


@pytest.mark.long
def test_loading_a_deleted_source_is_an_error_that_names_it(deleted_source: Path) -> None:
    with pytest.raises(SourceError, match=f"{deleted_source}: no such folder"):
        bench_assets.load("codis")


@pytest.mark.long
@pytest.mark.usefixtures("folder")
def test_tables_of_a_source_that_is_not_remembered_are_named(tmp_path: Path) -> None:
    (tmp_path / "home/sources.toml").unlink()
    result = bench("explain", "fridge/two-1", "--model", "a", code=1)
    assert "fridge/questions is of another source, name it with --source" in result.stderr


@pytest.mark.usefixtures("folder")
def test_a_remembered_source_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "home/sources.toml").write_text("fridge = 3\n")
    assert "sources.toml, entry fridge" in bench("tables", "list", code=1).stderr
    with pytest.raises(SettingsError, match=r"sources\.toml"):
        bench_assets.load("fridge")


def test_a_judge_model_may_be_named_for_its_reading_alone(tmp_path, monkeypatch):
    """Tasks of MULTI have no judge, and a judge model is also the reader."""
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    with open_workbench("multi", judge="random") as workbench:
        (task,) = workbench.catalog.tasks_of("multi")
        assert configured_reader(task, workbench.settings, "random") == "random"
