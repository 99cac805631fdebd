"""``bench audit permute-options``: several orders a question, same tables."""

import json
import shutil

import pytest

from tests.fakes.chat_server import ChatServer
from tests.fakes.commands import bench

pytestmark = pytest.mark.long  # each opens a home

COLOURS = ("red", "blue", "green")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A home with 24 questions of three options, and one whose options refer to each other.

    Beside them a benchmark of words, which has no options.
    """
    folder = tmp_path_factory.mktemp("built")
    rows = [
        {"id": n, "question": f"Sign {n}?", "options": COLOURS, "answer": "ABC"[n % 3]}
        for n in range(24)
    ]
    rows.append({"id": "x", "question": "?", "options": ["red", "None of them"], "answer": "A"})
    (folder / "quiz.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "words.jsonl").write_text('{"id": "w", "question": "Its name?", "answer": "red"}')
    (folder / "bench.toml").write_text(
        '[benchmarks.quiz]\nfile = "quiz.jsonl"\n[benchmarks.words]\nfile = "words.jsonl"\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(folder))
        bench("tables", "questions", "quiz")
    return folder


@pytest.fixture
def home(built, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return shutil.copytree(built, tmp_path / "home")


def add_model(home, server):
    with (home / "bench.toml").open("a") as file:
        file.write(
            f'[models.mine]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "m"\n'
            "concurrency = 32\n"
        )


def tables(home):
    return set((home / "tables").rglob("*.parquet"))


def test_a_model_that_says_the_first_gets_each_prompt_once_and_no_table(home):
    before = tables(home)
    with ChatServer("A") as server:
        add_model(home, server)
        result = bench("audit", "permute-options", "quiz", "--model", "mine")
        assert server.n_requests == 24 * 3
        rows = bench(
            "audit", "permute-options", "quiz", "--model", "mine", "--json"
        ).stdout.splitlines()
        assert server.n_requests == 24 * 3  # what was said is remembered
    assert "72 prompts in all orders" in result.stderr
    assert "1 left out: its options refer to each other" in result.stderr
    found = {row["figure"]: row for row in map(json.loads, rows)}
    values = [found[name]["value"] for name in ("circular", "letter_A")]
    assert values == pytest.approx([0, 1])
    assert found["all_orders"]["value"] == pytest.approx(1 / 3)
    assert found["letter_A"]["expected"] == pytest.approx(1 / 3)
    assert tables(home) == before
