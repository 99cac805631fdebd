from unittest.mock import Mock

import pytest

from bench_assets.core.schema.chat import Response
from bench_resources.response_cache.throughput import RequestProgress, Throughput

RESPONSES = [
    Response(text="a", prompt_tokens=100, completion_tokens=4),
    Response(text="b", prompt_tokens=50, completion_tokens=6),
    Response(error="nobody there", prompt_tokens=1_000),
]


def test_batches_add_up_and_failed_requests_do_not_count() -> None:
    throughput = Throughput()
    throughput.count_batch(RESPONSES, seconds=1.5, peak_memory=2**20)
    throughput.count_batch(RESPONSES[:1], seconds=0.5, peak_memory=3 * 2**20)
    throughput.count_batch([], seconds=0.0, peak_memory=None)
    assert throughput.metadata() == {  # 3 responses, 100 + 50 + 100 and 4 + 6 + 4 tokens in 2 s
        "asking_seconds": 2.0,
        "responses_a_second": 1.5,
        "prompt_tokens_a_second": 125.0,
        "completion_tokens_a_second": 7.0,
        "device_memory_mib": 3.0,
    }


def test_arrived_responses_are_reported_with_their_cost() -> None:
    """1,150 prompt tokens at 2 a million cost 0.0023, 10 of responses at 30 cost 0.0003."""
    throughput = Throughput()
    assert throughput.describe_arrivals() == []
    for response in RESPONSES:
        throughput.count_arrival(response)
    assert throughput.describe_arrivals() == ["1 failed", "1,160 tokens"]
    throughput.set_prices(2, 30)
    assert throughput.describe_arrivals() == ["1 failed", "1,160 tokens", "0.0026 spent"]


@pytest.mark.parametrize(
    ("style", "logged_end", "n_printed"),
    [
        ("in the log", ", 24 s to go", 0),
        ("as lines", ", 24 s to go", 1),
        ("as a bar", "", 0),  # the bar itself has the estimate
    ],
)
def test_a_line_of_progress_estimates_the_time_left(style, logged_end, n_printed, capsys):
    """Four of ten were stored; two came in 12 s, so that the other four take 24 s."""
    clock = iter([0.0, 0.0, 6.0, 12.0])
    logged: list[str] = []
    with RequestProgress("m: quiz", logged.append, style, lambda: next(clock)) as progress:
        progress(4, 4, 10)
        response = Response(text="a", prompt_tokens=500, completion_tokens=1)
        for n_responses in (5, 6):
            progress.throughput.count_arrival(response)
            progress(n_responses, 4, 10)
    line = "m: quiz: 6 of 10 responses, 4 remembered, 1,002 tokens, 0.2/s"
    assert logged == [line + logged_end]
    assert capsys.readouterr().err.splitlines().count(logged[0]) == n_printed
    assert progress.metadata() == {"responses_remembered": 4, "responses_asked": 6}


def test_the_callback_of_arrivals_is_not_called_after_the_last_response() -> None:
    """The whole is scored and stored right afterwards."""
    on_arrival = Mock()
    progress = RequestProgress("m: quiz", lambda _: None, "in the log")
    progress.on_arrival = on_arrival
    for n_responses in (1, 2, 3):
        progress(n_responses, 0, 3)
    assert on_arrival.call_count == 2  # after the first and the second
