"""How far an asking has come is said every ten seconds: in the log, and to whom it is shown."""

import pytest

from bench_assets.core.schema.chat import Response
from bench_resources.response_cache.throughput import ProgressStyle, RequestProgress


@pytest.mark.parametrize("shown", ["in the log", "as lines", "as a bar"])
def test_a_line_says_what_is_there_and_what_is_to_come(
    shown: ProgressStyle, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four of ten were known; two came in 12 s, so that the other four take 24 s."""
    clock = iter([0.0, 0.0, 6.0, 12.0])
    logged: list[str] = []
    with RequestProgress("m: quiz", logged.append, shown, lambda: next(clock)) as told:
        told(4, 4, 10)
        for done in (5, 6):
            told.throughput.see(Response(text="a", prompt_tokens=500, completion_tokens=1))
            told(done, 4, 10)
    line = "m: quiz: 6 of 10 responses, 4 remembered, 1,002 tokens, 0.2/s"
    assert logged == [line if shown == "as a bar" else f"{line}, 24 s to go"]
    assert (logged[0] in capsys.readouterr().err.splitlines()) == (shown == "as lines")
    assert told.metadata() == {"responses_remembered": 4, "responses_asked": 6}


def test_whoever_looks_at_what_arrived_does_not_look_when_all_is_there() -> None:
    """What it would score is scored next, and stored whole."""
    looks: list[int] = []
    told = RequestProgress("m: quiz", lambda _: None, "in the log")
    told.on_arrival = lambda: looks.append(1)
    for done in (1, 2, 3):
        told(done, 0, 3)
    assert len(looks) == 2
