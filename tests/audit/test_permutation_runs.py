import json

import pytest

from bench_assets.audit.permutation_runs import permutation_outcomes
from bench_assets.audit.robustness.option_permutations import PermutedQuestion
from bench_assets.core.schema.rows import Score
from tests.fakes.chat_server import ChatServer
from tests.fakes.commands import bench, lines
from tests.fakes.rows import prediction, question

COLOURS = ("red", "blue", "green")


def make_home(home, base_url):
    """24 questions of three options, and one whose options refer to each other."""
    rows = [
        {"id": n, "question": f"Sign {n}?", "options": COLOURS, "answer": "ABC"[n % 3]}
        for n in range(24)
    ]
    rows.append({"id": "x", "question": "?", "options": ["red", "None of them"], "answer": "A"})
    (home / "quiz.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (home / "bench.toml").write_text(
        f'[benchmarks.quiz]\nfile = "quiz.jsonl"\n[models.mine]\nkind = "server"\nmodel = "m"\n'
        f'base_url = "{base_url}"\nconcurrency = 32\n'
    )


def table_files(home):
    return set((home / "tables").rglob("*.parquet"))


@pytest.mark.long  # it opens a home
def test_orders_are_asked_once_and_write_no_tables(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    command = ("audit", "permute-options", "quiz", "--model", "mine")
    with ChatServer("A") as server:
        make_home(tmp_path, server.base_url)
        bench("tables", "questions", "quiz")
        tables_before = table_files(tmp_path)
        first = bench(*command)
        cached = bench(*command, "--json")

    assert server.n_requests == 24 * 3  # the second command reads cached responses
    assert "72 prompts in all orders" in first.stderr
    assert "1 left out: its options refer to each other" in first.stderr
    assert table_files(tmp_path) == tables_before

    figures = {row["figure"]: row for row in lines(cached)}
    assert figures["circular"]["value"] == pytest.approx(0)
    assert figures["letter_A"]["value"] == pytest.approx(1)
    assert figures["letter_A"]["expected"] == pytest.approx(1 / 3)
    assert figures["all_orders"]["value"] == pytest.approx(1 / 3)


def test_of_several_responses_the_first_counts():
    permuted = PermutedQuestion(
        question=question(options=COLOURS, answer=("A",)),
        original_id="q",
        number=1,
        places=(0, 1, 2),
    )
    scores = [
        Score.of(prediction(sample=sample), points=points, answer=(letter,))
        for sample, points, letter in [(0, 1.0, "A"), (1, 0.0, "B")]
    ]
    ((outcome,),) = permutation_outcomes([permuted], scores).values()
    assert (outcome.share, outcome.place) == (1.0, 0)
