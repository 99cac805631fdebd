"""``bench audit permute-options``: several orders a question, same tables."""

import json

import pytest

from tests.fakes.chat_server import ChatServer
from tests.fakes.commands import bench

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


def tables(home):
    return set((home / "tables").rglob("*.parquet"))


@pytest.mark.long  # it opens a home
def test_a_model_that_says_the_first_gets_each_prompt_once_and_no_table(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    command = ("audit", "permute-options", "quiz", "--model", "mine")
    with ChatServer("A") as server:
        make_home(tmp_path, server.base_url)
        bench("tables", "questions", "quiz")
        before = tables(tmp_path)
        result = bench(*command)
        assert server.n_requests == 24 * 3
        rows = bench(*command, "--json").stdout.splitlines()
        assert server.n_requests == 24 * 3  # what was said is remembered
    assert "72 prompts in all orders" in result.stderr
    assert "1 left out: its options refer to each other" in result.stderr
    found = {row["figure"]: row for row in map(json.loads, rows)}
    values = [found[name]["value"] for name in ("circular", "letter_A")]
    assert values == pytest.approx([0, 1])
    assert found["all_orders"]["value"] == pytest.approx(1 / 3)
    assert found["letter_A"]["expected"] == pytest.approx(1 / 3)
    assert tables(tmp_path) == before
