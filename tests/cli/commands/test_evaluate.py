"""Evaluations as they are typed: models, wrong names, parts of the questions, and options."""

import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_resources.config.models_toml import read_models
from tests.fakes.chat_server import ChatServer
from tests.fakes.commands import bench, lines


@pytest.fixture(scope="module")
def server():
    with ChatServer("A") as one:
        yield one


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A home with four questions of a benchmark of its own, in two categories."""
    folder = tmp_path_factory.mktemp("built")
    rows = [
        {"id": n, "question": f"What is {n}?", "answer": "A", "category": f"kind {n % 2}"}
        for n in range(4)
    ]
    (folder / "quiz.jsonl").write_text("\n".join(map(json.dumps, rows)))
    file = folder / "quiz.jsonl"  # a copy of the home finds it, and has no questions to build
    (folder / "bench.toml").write_text(f'[benchmarks.quiz]\nfile = "{file}"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(folder))
        bench("tables", "questions", "quiz")
    return folder


@pytest.fixture
def home(built, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return shutil.copytree(built, tmp_path / "home")


def tables(home):
    return {file: file.read_bytes() for file in (home / "tables").rglob("*.parquet")}


def test_a_server_is_evaluated_by_its_address_as_if_it_had_a_section(home, server):
    place = f"{server.base_url}#m"
    first = bench("evaluate", "quiz", "--model", place, "--json")
    n_requests = server.n_requests
    name = lines(first)[0]["model"]
    assert f"{place} is named {name} from now on" in first.stderr
    assert list(read_models(home)) == [name]
    with (home / "bench.toml").open("a") as file:
        file.write(f'[models.mine]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "m"\n')
    written = lines(bench("evaluate", "quiz", "--model", place, "--json"))
    assert server.n_requests == n_requests  # its identity is the same
    assert [{**row, "model": name} for row in written] == lines(first)
    assert {row["model"] for row in written} == {"mine"}


def test_nothing_is_kept_of_an_address_that_refuses_or_of_a_dry_run(home):
    place = "http://127.0.0.1:9/v1#m"
    stderr = bench("evaluate", "quiz", "--model", place, code=1).stderr
    assert "error: http://127.0.0.1:9/v1: Connection refused: no server is listening" in stderr
    (row,) = lines(bench("evaluate", "quiz", "--model", place, "--dry-run", "--json"))
    assert (row["model"], row["requests"]) == ("m@127.0.0.1-9", 4)
    assert not (home / "models.toml").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(["--model", "rendom"], "did you mean 'random'", id="model"),
        pytest.param(["--condition", "no_contxt"], "did you mean 'no_context'", id="condition"),
        pytest.param(["--judge", "rulse"], "no judge named 'rulse'", id="judge"),
        pytest.param(["--judge", "paper:gtp"], "no judge named 'gtp'", id="a judge's model"),
        pytest.param(["--scorer", "strct"], "did you mean 'strict'", id="scorer"),
        pytest.param(["--source", "nowhere"], "nowhere: no such folder", id="source"),
        pytest.param(["--category", "nope"], "no category named 'nope'", id="category"),
        pytest.param(["--limit", "1", "--judge", "gtp"], "no judge named 'gtp'", id="of a part"),
    ],
)
def test_a_wrong_name_is_refused_before_any_build_or_request(home, server, options, message):
    before, n_requests = tables(home), server.n_requests
    models = ["--model", f"{server.base_url}#m"]
    assert message in bench("evaluate", "codis", *models, *options, code=1).stderr
    assert (tables(home), server.n_requests) == (before, n_requests)
    assert not (home / "tables" / "codis").exists()


def test_a_part_is_marked_and_goes_into_no_table(home, server):
    place = f"{server.base_url}#part"
    before = tables(home)
    command = ("evaluate", "quiz", "--model", place, "--limit", "2", "--json")
    (estimate,) = lines(bench(*command, "--dry-run"))
    assert estimate["requests"] == 2
    rows = lines(bench(*command))
    assert {row["partial"] for row in rows} == {"2 of 4 questions"}
    assert all(row["signature"].endswith("|partial:2 of 4 questions") for row in rows)
    assert tables(home) == before
    n_requests = server.n_requests
    bench("evaluate", "quiz", "--model", place)
    assert server.n_requests == n_requests + 2  # only the rest


@pytest.mark.long
def test_models_are_tried_one_by_one_and_a_bad_one_does_not_end_the_rest(home):
    (home / "bench.toml").write_text(
        '[models.gone]\nkind = "transformers"\npath = "gone"\n'
        '[models.says]\nkind = "scripted"\nsays = "A"\n'
    )
    names = ("nobody", "./nowhere", "gone", "says")
    rows = lines(bench("models", "check", *names, "--json", code=1))
    assert [(row["model"], bool(row["failures"])) for row in rows] == [
        *(("nobody", True), ("./nowhere", True), ("gone", True), ("says", False)),
    ]
    assert lines(bench("models", "list", "says", "--json"))[0]["kind"] == "scripted"


FILE = [
    {"question": f"Is {n} even?", "options": ["yes", "no"], "answer": "AB"[n % 2], "id": str(n)}
    | {"category": "small" if n < 4 else "large"}
    for n in range(8)
]
BENCH_TOML = """
[benchmarks.parity]
file = "parity.jsonl"

[models.prior]
kind = "elicited"
of = "tiny-vlm/step-4440"
elicit = "likelihood-texts"
"""


@pytest.fixture(scope="module")
def parity_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a file of questions with options."""
    folder = tmp_path_factory.mktemp("parity_home")
    (folder / "bench.toml").write_text(BENCH_TOML)
    (folder / "parity.jsonl").write_text("".join(f"{json.dumps(question)}\n" for question in FILE))
    return folder


def run(parity_home: Path, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, words, env={"BENCH_HOME": str(parity_home)})
    return done.exit_code, done.output


def rows(parity_home: Path, *words: str) -> list[dict]:
    code, output = run(parity_home, *words, "--json")
    assert code == 0, output
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def evaluated(parity_home: Path) -> dict[str, dict[str, dict]]:
    """Model -> metric -> row, after one model was evaluated in two ways."""
    model = ("--model", "tiny-vlm/step-4440")
    metrics = rows(parity_home, "evaluate", "parity", *model)
    metrics += rows(parity_home, "evaluate", "parity", *model, "--elicit", "likelihood")
    kept: dict[str, dict[str, dict]] = {}
    for row in metrics:
        if row["category"] == "all":
            kept.setdefault(row["model"], {})[row["metric"]] = row
    return kept


def test_each_method_has_a_row_of_its_own_and_signs_it(parity_home: Path, evaluated):
    name = "tiny-vlm/step-4440"
    assert list(evaluated) == [name, f"{name}+likelihood"]
    signed = {
        model: re.search(r"elicit=([a-z-]+)", metrics["accuracy"]["signature"])
        for model, metrics in evaluated.items()
    }
    assert [value and value[1] for value in signed.values()] == [None, "likelihood-letters-none"]
    board = {row["model"] for row in rows(parity_home, "leaderboard", "parity")}
    assert set(evaluated) <= board


def test_likelihoods_have_calibration_and_other_answers_have_none(evaluated):
    added = {"calibration_error", "mean_confidence", "accuracy_of_confident_half"}
    has = {model: added <= set(metrics) for model, metrics in evaluated.items()}
    assert list(has.values()) == [False, True]
    metrics = evaluated["tiny-vlm/step-4440+likelihood"]
    assert 0.5 <= metrics["mean_confidence"]["value"] <= 1
    assert metrics["accuracy_of_confident_half"]["n_scored"] >= 4


def test_a_number_is_reproduced_from_cached_likelihoods(parity_home: Path, evaluated):
    model = "tiny-vlm/step-4440+likelihood"
    _, output = run(parity_home, "bundle", "reproduce", "parity", model)
    assert "same digits" in output, output


def test_a_reading_parses_what_elicitation_leaves_none_of(parity_home: Path):
    code, output = run(
        parity_home,
        "evaluate",
        "parity",
        "--model",
        "prior",
        "--elicit",
        "likelihood",
        "--scorer",
        "x",
    )
    assert code == 2
    assert "--scorer" in output
