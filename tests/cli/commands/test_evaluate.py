import json
import re
import shutil
from pathlib import Path

import pytest

from bench_resources.config.models_toml import read_models
from tests.cases import read_cases
from tests.fakes.chat_server import ChatServer
from tests.fakes.commands import bench, file_contents, lines


@pytest.fixture(scope="module")
def server():
    with ChatServer("A") as chat_server:
        yield chat_server


@pytest.fixture(scope="module")
def quiz_home(tmp_path_factory):
    """A home whose one benchmark, the quiz, has four questions in two categories."""
    folder = tmp_path_factory.mktemp("quiz_home")
    rows = [
        {"id": n, "question": f"What is {n}?", "answer": "A", "category": f"kind {n % 2}"}
        for n in range(4)
    ]
    (folder / "quiz.jsonl").write_text("\n".join(map(json.dumps, rows)))
    file = folder / "quiz.jsonl"  # absolute, so that copies of the home need no new build
    (folder / "bench.toml").write_text(f'[benchmarks.quiz]\nfile = "{file}"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(folder))
        bench("tables", "questions", "quiz")
    return folder


@pytest.fixture
def home(quiz_home, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return shutil.copytree(quiz_home, tmp_path / "home")


def test_a_server_by_its_address_shares_responses_with_its_section(home, server):
    address = f"{server.base_url}#m"
    first = bench("evaluate", "quiz", "--model", address, "--json")
    n_requests = server.n_requests
    name = lines(first)[0]["model"]
    assert f"{address} is named {name} from now on" in first.stderr
    assert list(read_models(home)) == [name]
    with (home / "bench.toml").open("a") as file:
        file.write(f'[models.mine]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "m"\n')
    rows = lines(bench("evaluate", "quiz", "--model", address, "--json"))
    assert server.n_requests == n_requests  # its identity is the same
    assert [{**row, "model": name} for row in rows] == lines(first)
    assert {row["model"] for row in rows} == {"mine"}


def test_an_address_is_not_stored_by_a_refused_or_a_dry_run(home):
    address = "http://127.0.0.1:9/v1#m"
    stderr = bench("evaluate", "quiz", "--model", address, code=1).stderr
    assert "error: http://127.0.0.1:9/v1: Connection refused: no server is listening" in stderr
    (row,) = lines(bench("evaluate", "quiz", "--model", address, "--dry-run", "--json"))
    assert (row["model"], row["requests"]) == ("m@127.0.0.1-9", 4)
    assert not (home / "models.toml").exists()


@pytest.mark.parametrize(("options", "expected_message"), read_cases(__file__, "wrong_names.jsonl"))
def test_a_wrong_name_is_refused_before_any_build_or_request(
    home, server, options, expected_message
):
    before, n_requests = file_contents(home / "tables"), server.n_requests
    models = ["--model", f"{server.base_url}#m"]
    assert expected_message in bench("evaluate", "codis", *models, *options, code=1).stderr
    assert (file_contents(home / "tables"), server.n_requests) == (before, n_requests)
    assert not (home / "tables" / "codis").exists()


def test_a_partial_evaluation_is_marked_and_written_to_no_table(home, server):
    address = f"{server.base_url}#part"
    before = file_contents(home / "tables")
    command = ("evaluate", "quiz", "--model", address, "--limit", "2", "--json")
    (estimate,) = lines(bench(*command, "--dry-run"))
    assert estimate["requests"] == 2
    rows = lines(bench(*command))
    assert {row["partial"] for row in rows} == {"2 of 4 questions"}
    assert all(row["signature"].endswith("|partial:2 of 4 questions") for row in rows)
    assert file_contents(home / "tables") == before
    n_requests = server.n_requests
    bench("evaluate", "quiz", "--model", address)
    assert server.n_requests == n_requests + 2  # only the remaining two questions


@pytest.mark.long
def test_each_model_is_checked_although_others_fail(home):
    (home / "bench.toml").write_text(
        '[models.gone]\nkind = "transformers"\npath = "gone"\n'
        '[models.says]\nkind = "scripted"\nsays = "A"\n'
    )
    names = ("nobody", "./nowhere", "gone", "says")
    rows = lines(bench("models", "check", *names, "--json", code=1))
    assert [row["model"] for row in rows] == list(names)
    assert [row["model"] for row in rows if not row["failures"]] == ["says"]


PARITY_QUESTIONS = [
    {
        "id": str(n),
        "question": f"Is {n} even?",
        "options": ["yes", "no"],
        "answer": "AB"[n % 2],
        "category": "small" if n < 4 else "large",
    }
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
MODEL = "tiny-vlm/step-4440"


@pytest.fixture(scope="module")
def parity_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a file of eight questions of two options."""
    folder = tmp_path_factory.mktemp("parity_home")
    (folder / "bench.toml").write_text(BENCH_TOML)
    (folder / "parity.jsonl").write_text("\n".join(map(json.dumps, PARITY_QUESTIONS)))
    return folder


@pytest.fixture(scope="module")
def metrics(parity_home: Path) -> dict[str, dict[str, dict]]:
    """Model -> metric -> row over all questions, of answers as text and by likelihood."""
    command = ("evaluate", "parity", "--model", MODEL, "--json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(parity_home))
        rows = [*lines(bench(*command)), *lines(bench(*command, "--elicit", "likelihood"))]
    metrics: dict[str, dict[str, dict]] = {}
    for row in rows:
        if row["category"] == "all":
            metrics.setdefault(row["model"], {})[row["metric"]] = row
    return metrics


@pytest.fixture
def _at_parity_home(parity_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_HOME", str(parity_home))


@pytest.mark.usefixtures("_at_parity_home")
def test_each_method_of_elicitation_has_its_own_row(metrics):
    assert list(metrics) == [MODEL, f"{MODEL}+likelihood"]
    board = [row["model"] for row in lines(bench("leaderboard", "parity", "--json"))]
    assert sorted(board) == sorted(metrics)


def test_only_an_elicited_number_has_its_method_in_the_signature(metrics):
    assert "elicit=" not in metrics[MODEL]["accuracy"]["signature"]
    signature = metrics[f"{MODEL}+likelihood"]["accuracy"]["signature"]
    assert re.findall(r"elicit=([a-z-]+)", signature) == ["likelihood-letters-none"]


def test_only_likelihoods_have_calibration(metrics):
    calibration = {"calibration_error", "mean_confidence", "accuracy_of_confident_half"}
    assert calibration.isdisjoint(metrics[MODEL])
    assert metrics[f"{MODEL}+likelihood"].keys() == metrics[MODEL].keys() | calibration


@pytest.mark.usefixtures("_at_parity_home", "metrics")
def test_a_number_is_reproduced_from_cached_likelihoods():
    result = bench("bundle", "reproduce", "parity", f"{MODEL}+likelihood")
    assert "same digits" in result.stdout


@pytest.mark.usefixtures("_at_parity_home")
def test_a_scorer_is_refused_with_likelihoods():
    options = ("--model", "prior", "--elicit", "likelihood", "--scorer", "x")
    assert "--scorer cannot be" in bench("evaluate", "parity", *options, code=2).stderr
