"""What becomes of requests: refused for good, unread, answered by another model; over a server.

The numbers are counted by hand: of 100 questions whose answer is (A), 60 are answered (A), 20 (B),
10 in words that nobody can read, and 10 are refused.
"""

import json
import re

import pytest

import bench_assets
from bench_assets.core.schema.errors import BenchError
from tests.fakes.chat_server import Answer, ChatServer, texts
from tests.fakes.commands import bench, lines

UNREADABLE = "It depends on what the person who drew it had in mind."
TOML = """
[benchmarks.quiz]
file = "quiz.jsonl"
[models.m]
kind = "server"
base_url = "{url}"
model = "m"
max_tries = 1
"""
FILTERED = Answer(status=400, text="The prompt was blocked by our content filter.")


def number(body):
    """Which question is asked."""
    (found,) = re.findall(r"Item (\d+)\.", "\n".join(texts(body)))
    return int(found)


def usual(body):
    n = number(body)
    if n >= 90:
        return FILTERED
    return "A" if n < 60 else "B" if n < 80 else UNREADABLE


class Served(ChatServer):
    """Answers as it is told at the moment."""

    def __init__(self):
        self.says = usual
        super().__init__(self._say)

    def _say(self, body):
        return self.says(body)


@pytest.fixture
def server():
    with Served() as running:
        yield running


@pytest.fixture
def home(tmp_path, monkeypatch, server):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    rows = [
        {"id": n, "question": f"Item {n}. Which?", "options": ["red", "blue"], "answer": "A"}
        for n in range(100)
    ]
    (tmp_path / "quiz.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "bench.toml").write_text(TOML.format(url=server.base_url))
    return tmp_path


def accuracy(result):
    (row,) = [
        row for row in lines(result) if (row["metric"], row["category"]) == ("accuracy", "all")
    ]
    return row


def test_what_is_refused_stops_the_number_and_says_how_many_why_and_the_option(home, server):
    stderr = bench("evaluate", "quiz", "--model", "m", fails=True).stderr
    assert "10 of 100 rows fail the check every_question_answered" in stderr
    assert "10 of 100 requests were refused for good by the provider (content filter 10)" in stderr
    assert "To score them as wrong: --accept refused" in stderr


@pytest.mark.parametrize(
    "how",
    [
        "option",
        pytest.param("bench.toml", marks=pytest.mark.long),
        pytest.param("the suite's section", marks=pytest.mark.long),
    ],
)
def test_what_is_refused_counts_as_wrong_where_that_is_accepted(home, server, how):
    toml = (home / "bench.toml").read_text()
    if how == "bench.toml":
        (home / "bench.toml").write_text(f'accept = ["refused"]\n{toml}')
    elif how != "option":
        (home / "bench.toml").write_text(f'{toml}\n[suites.quiz]\naccept = ["refused"]\n')
    option = ["--accept", "refused"] if how == "option" else []
    result = bench("evaluate", "quiz", "--model", "m", "--json", *option)
    row = accuracy(result)
    assert (row["value"], row["n_scored"], row["n_unscored"], row["n_failed"]) == (0.6, 100, 0, 0)
    assert (row["n_refused"], row["n_no_answer"], row["unread"]) == (10, 0, 0.1)
    assert "|refused:10|n:100" in row["signature"]
    assert "quiz: 10 questions were refused for good and count as wrong" in result.stderr
    assert "10 refused" in bench("leaderboard", "quiz").stdout
    (standing,) = lines(bench("leaderboard", "quiz", "--json"))
    assert (standing["n_refused"], standing["unread"]) == (10, 0.1)
    server.forget()
    bench("evaluate", "quiz", "--model", "m", *option)
    assert server.n_requests == 0


def changes(body):
    """60 answers of one snapshot, then 40 of another."""
    model = "m-2025-05-13" if number(body) < 60 else "m-2025-08-06"
    return Answer(text="A" if number(body) < 75 else "B", model=model)


def test_a_model_that_changes_in_mid_run_is_seen_and_stops_the_number(home, server):
    server.says = changes
    stderr = bench("evaluate", "quiz", "--model", "m", fails=True).stderr
    mixed = "answered by 2 models: m-2025-05-13 (60), m-2025-08-06 (40)"
    assert f"{mixed}. To measure them as one: --accept mixed" in stderr
    server.forget()
    result = bench("evaluate", "quiz", "--model", "m", "--accept", "mixed", "--json")
    row = accuracy(result)
    assert (row["value"], row["n_scored"], server.n_requests) == (0.75, 100, 0)
    assert row["served"] == "m-2025-05-13 (60), m-2025-08-06 (40)"
    assert "|mixed:2|n:100" in row["signature"]
    assert "quiz: answered by m-2025-05-13 (60), m-2025-08-06 (40)" in result.stderr
    assert "mixed: 2 models answered" in bench("leaderboard", "quiz").stdout


@pytest.mark.long
def test_another_model_that_answers_all_is_reported_also_when_its_responses_are_cached(
    home, server
):
    server.says = lambda body: Answer(text="A", model="smaller")
    for _ in range(2):
        result = bench("evaluate", "quiz", "--model", "m")
        assert "quiz: answered by smaller (100)" in result.stderr


@pytest.mark.long
def test_a_number_with_refusals_is_reproduced(home, server):
    bench("evaluate", "quiz", "--model", "m", "--accept", "refused")
    result = bench("bundle", "reproduce", "quiz", "m")
    assert "same digits: 1 numbers" in result.output


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"accept": ["refusd"]}, r"accept: expected a list of refused and mixed, got \['refusd'\]"),
        ({"accept": "refused"}, "accept: expected a list of refused and mixed, got 'refused'"),
    ],
    ids=["a word that is none", "no list"],
)
def test_what_cannot_be_used_is_refused_before_any_request(home, server, given, message):
    with pytest.raises(BenchError, match=message):
        bench_assets.evaluate("quiz", model="m", **given)
    assert server.n_requests == 0
