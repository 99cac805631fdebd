"""``bench evaluate --elicit``: rows of its own, calibration, the report, and what is refused."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app

FILE = [
    {"question": f"Is {n} even?", "options": ["yes", "no"], "answer": "AB"[n % 2], "id": str(n)}
    | {"category": "small" if n < 4 else "large"}
    for n in range(8)
]
BENCH_TOML = """
[benchmarks.parity]
file = "parity.jsonl"

[benchmarks.free]
file = "free.jsonl"

[models.prior]
kind = "elicited"
of = "tiny-vlm/step-4440"
elicit = "likelihood-unconditional"
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two files of questions, one of which has options."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "bench.toml").write_text(BENCH_TOML)
    (folder / "parity.jsonl").write_text("".join(f"{json.dumps(question)}\n" for question in FILE))
    free = {"question": "How many?", "answer": "2", "id": "1"}
    (folder / "free.jsonl").write_text(json.dumps(free) + "\n")
    return folder


def run(home: Path, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, words, env={"BENCH_HOME": str(home)})
    return done.exit_code, done.output


def rows(home: Path, *words: str) -> list[dict]:
    code, output = run(home, *words, "--json")
    assert code == 0, output
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def evaluated(home: Path) -> dict[str, dict[str, dict]]:
    """Model -> metric -> row, after one model was evaluated in four ways."""
    model = ("--model", "tiny-vlm/step-4440")
    metrics = rows(home, "evaluate", "parity", *model)
    metrics += rows(home, "evaluate", "parity", *model, "--elicit", "likelihood")
    metrics += rows(home, "evaluate", "parity", *model, "--elicit", "constrained")
    metrics += rows(home, "evaluate", "parity", "--model", "prior")
    kept: dict[str, dict[str, dict]] = {}
    for row in metrics:
        if row["category"] == "all":
            kept.setdefault(row["model"], {})[row["metric"]] = row
    return kept


def test_each_method_has_a_row_of_its_own_and_signs_it(home: Path, evaluated):
    name = "tiny-vlm/step-4440"
    assert list(evaluated) == [name, f"{name}+likelihood", f"{name}+constrained", "prior"]
    signed = {
        model: re.search(r"elicit=([a-z-]+)", metrics["accuracy"]["signature"])
        for model, metrics in evaluated.items()
    }
    assert [value and value[1] for value in signed.values()] == [
        None,
        "likelihood-letters-none",
        "constrained-letters",
        "likelihood-letters-unconditional",
    ]
    board = {row["model"] for row in rows(home, "leaderboard", "parity")}
    assert set(evaluated) <= board


def test_what_is_elicited_is_never_unread(evaluated):
    for model, metrics in evaluated.items():
        row = metrics["accuracy"]
        assert (row["n_failed"], row["n_unscored"], row["n_scored"]) == (0, 0, 8), model
        if "+" in model:
            assert (row["unread"], row["n_no_answer"]) == (0, 0)


def test_likelihoods_have_calibration_and_other_answers_have_none(evaluated):
    added = {"calibration_error", "mean_confidence", "accuracy_of_confident_half"}
    has = {model: added <= set(metrics) for model, metrics in evaluated.items()}
    assert list(has.values()) == [False, True, False, True]
    metrics = evaluated["tiny-vlm/step-4440+likelihood"]
    assert 0.5 <= metrics["mean_confidence"]["value"] <= 1
    assert metrics["accuracy_of_confident_half"]["n_scored"] >= 4


@pytest.mark.parametrize("model", ["tiny-vlm/step-4440+likelihood", "prior"])
def test_a_number_is_reproduced_from_cached_likelihoods(home: Path, evaluated, model: str):
    _, output = run(home, "bundle", "reproduce", "parity", model)
    assert "same digits" in output, output


def test_the_report_draws_reliability(home: Path, evaluated):
    code, output = run(home, "report")
    assert code == 0, output
    texts = [file.read_text("utf-8") for file in (home / "report").rglob("*number-parity*")]
    drawn = [text for text in texts if "data:image/svg+xml;base64," in text]
    assert len(drawn) == len([model for model in evaluated if "likelihood" in model]) + 1  # prior


def test_a_task_without_options_says_so_in_a_sentence(home: Path):
    code, output = run(
        home, "evaluate", "free", "--model", "tiny-vlm/step-4440", "--elicit", "likelihood"
    )
    flat = " ".join(output.split())
    assert code == 1
    assert "free: likelihood cannot be elicited: 1 of 1 questions do not have options" in flat
    assert "use --elicit generate" in flat


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "random", "--elicit", "likelihood"), "random: does not support likelihood"),
        (("--model", "random", "--elicit", "guess"), "expected generate, likelihood or"),
        (("--model", "prior", "--elicit", "likelihood"), "prior is elicited already"),
    ],
    ids=["a baseline", "no method", "twice"],
)
def test_what_cannot_be_elicited_so_is_refused(home: Path, words, message: str):
    code, output = run(home, "evaluate", "parity", *words)
    assert code == 1
    assert message in " ".join(output.split())


def test_a_reading_parses_what_elicitation_leaves_none_of(home: Path):
    code, output = run(
        home, "evaluate", "parity", "--model", "prior", "--elicit", "likelihood", "--scorer", "x"
    )
    assert code == 2
    assert "--scorer" in output
