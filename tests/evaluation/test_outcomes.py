"""Requests that a server refuses, answers unreadably or answers with another model.

The numbers are counted by hand: of 100 questions whose answer is (A), 60 are answered (A), 20 (B),
10 in words that no rule reads, and 10 are refused.
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
ACCEPT_REFUSED = 'accept = ["refused"]\n'
FILTERED = Answer(status=400, text="The prompt was blocked by our content filter.")


def item_number(body):
    """The number of the item in a request, as written by the fixture ``home``."""
    (number,) = re.findall(r"Item (\d+)\.", "\n".join(texts(body)))
    return int(number)


def usual_answer(body):
    number = item_number(body)
    if number < 60:
        return "A"
    if number < 80:
        return "B"
    return UNREADABLE if number < 90 else FILTERED


class SwitchableServer(ChatServer):
    """A server whose answers a test can change while it runs."""

    def __init__(self):
        self.answer_to = usual_answer
        super().__init__(self._current_answer)

    def _current_answer(self, body):
        return self.answer_to(body)


@pytest.fixture
def server():
    with SwitchableServer() as running:
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
    rows = {(row["metric"], row["category"]): row for row in lines(result)}
    return rows["accuracy", "all"]


def test_refused_requests_stop_the_evaluation_with_their_reason_and_the_option(home, server):
    stderr = bench("evaluate", "quiz", "--model", "m", fails=True).stderr
    assert "10 of 100 rows fail the check every_question_answered" in stderr
    assert (
        "10 of 100 requests were permanently refused by the provider (content filter 10)" in stderr
    )
    assert "To score them as wrong: --accept refused" in stderr


@pytest.mark.parametrize(
    ("first_lines", "last_lines", "options"),
    [
        pytest.param("", "", ["--accept", "refused"], id="option"),
        pytest.param(ACCEPT_REFUSED, "", [], id="bench.toml", marks=pytest.mark.long),
        pytest.param(
            "", f"[suites.quiz]\n{ACCEPT_REFUSED}", [], id="suite's section", marks=pytest.mark.long
        ),
    ],
)
def test_accepted_refusals_count_as_wrong(home, server, first_lines, last_lines, options):
    toml = (home / "bench.toml").read_text()
    (home / "bench.toml").write_text(f"{first_lines}{toml}{last_lines}")

    result = bench("evaluate", "quiz", "--model", "m", "--json", *options)
    row = accuracy(result)
    assert (row["value"], row["n_scored"], row["n_unscored"], row["n_failed"]) == (0.6, 100, 0, 0)
    assert (row["n_refused"], row["n_no_answer"], row["unread"]) == (10, 0, 0.1)
    assert "|refused:10|n:100" in row["signature"]
    assert "quiz: 10 questions were permanently refused and count as wrong" in result.stderr


def test_accepted_refusals_are_on_the_leaderboard_and_not_sent_again(home, server):
    evaluate = ("evaluate", "quiz", "--model", "m", "--accept", "refused")
    bench(*evaluate)
    assert "10 refused" in bench("leaderboard", "quiz").stdout
    server.forget()
    bench(*evaluate)
    assert server.n_requests == 0


def answer_of_two_snapshots(body):
    """60 answers of one snapshot, then 40 of another; 75 are right."""
    number = item_number(body)
    model = "m-2025-05-13" if number < 60 else "m-2025-08-06"
    return Answer(text="A" if number < 75 else "B", model=model)


def test_a_model_that_changes_in_mid_run_stops_the_evaluation_until_accepted(home, server):
    server.answer_to = answer_of_two_snapshots
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
def test_another_answering_model_is_reported_also_from_cached_responses(home, server):
    server.answer_to = lambda body: Answer(text="A", model="smaller")
    first = bench("evaluate", "quiz", "--model", "m")
    cached = bench("evaluate", "quiz", "--model", "m")
    assert "quiz: answered by smaller (100)" in first.stderr
    assert "quiz: answered by smaller (100)" in cached.stderr
    assert server.n_requests == 100


@pytest.mark.long
def test_a_number_with_refusals_is_reproduced(home, server):
    bench("evaluate", "quiz", "--model", "m", "--accept", "refused")
    result = bench("bundle", "reproduce", "quiz", "m")
    assert "same digits: 1 numbers" in result.output


@pytest.mark.parametrize(
    ("options", "expected_message"),
    [
        ({"accept": ["refusd"]}, r"accept: expected a list of refused and mixed, got \['refusd'\]"),
        ({"accept": "refused"}, "accept: expected a list of refused and mixed, got 'refused'"),
    ],
    ids=["a word that is none", "no list"],
)
def test_an_unusable_option_is_refused_before_any_request(home, server, options, expected_message):
    with pytest.raises(BenchError, match=expected_message):
        bench_assets.evaluate("quiz", model="m", **options)
    assert server.n_requests == 0
