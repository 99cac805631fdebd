"""What is counted of an asking, and what is not."""

import pytest

from bench_assets.core.schema.chat import Response
from bench_resources.response_cache.throughput import ProgressStyle, RequestProgress, Throughput

RESPONSES = [
    Response(text="a", prompt_tokens=100, completion_tokens=4),
    Response(text="b", prompt_tokens=50, completion_tokens=6),
    Response(error="nobody there", prompt_tokens=1_000),
]


def test_several_askings_add_up_and_failures_do_not_count() -> None:
    throughput = Throughput()
    throughput.count_batch(RESPONSES, 1.5, 2**20)
    throughput.count_batch(RESPONSES[:1], 0.5, 3 * 2**20)
    throughput.count_batch([], 0.0, None)
    assert throughput.metadata() == {
        "asking_seconds": 2.0,
        "responses_a_second": 1.5,
        "prompt_tokens_a_second": 125.0,
        "completion_tokens_a_second": 7.0,
        "device_memory_mib": 3.0,
    }


def test_what_has_arrived_is_reported_with_what_it_cost() -> None:
    """1,150 tokens of prompts at 2 a million, 10 of responses at 30: 0.0023 and 0.0003."""
    throughput = Throughput()
    assert throughput.describe_arrivals() == []
    for response in RESPONSES:
        throughput.count_arrival(response)
    assert throughput.describe_arrivals() == ["1 failed", "1,160 tokens"]
    throughput.at_prices(2, 30)
    assert throughput.describe_arrivals() == ["1 failed", "1,160 tokens", "0.0026 spent"]


# How far an asking has come is said every ten seconds: in the log, and to whom it is shown.


@pytest.mark.parametrize("shown", ["in the log", "as lines", "as a bar"])
def test_a_line_says_what_is_there_and_what_is_to_come(
    shown: ProgressStyle, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four of ten were known; two came in 12 s, so that the other four take 24 s."""
    clock = iter([0.0, 0.0, 6.0, 12.0])
    logged: list[str] = []
    with RequestProgress("m: quiz", logged.append, shown, lambda: next(clock)) as progress:
        progress(4, 4, 10)
        for done in (5, 6):
            progress.throughput.count_arrival(
                Response(text="a", prompt_tokens=500, completion_tokens=1)
            )
            progress(done, 4, 10)
    line = "m: quiz: 6 of 10 responses, 4 remembered, 1,002 tokens, 0.2/s"
    assert logged == [line if shown == "as a bar" else f"{line}, 24 s to go"]
    assert (logged[0] in capsys.readouterr().err.splitlines()) == (shown == "as lines")
    assert progress.metadata() == {"responses_remembered": 4, "responses_asked": 6}


def test_whoever_looks_at_what_arrived_does_not_look_when_all_is_there() -> None:
    """What it would score is scored next, and stored whole."""
    looks: list[int] = []
    progress = RequestProgress("m: quiz", lambda _: None, "in the log")
    progress.on_arrival = lambda: looks.append(1)
    for done in (1, 2, 3):
        progress(done, 0, 3)
    assert len(looks) == 2
