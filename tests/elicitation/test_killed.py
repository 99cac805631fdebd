"""A run that is killed in the middle asks for the rest only."""

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.elicitation.asking import TWELVE, predict
from tests.fakes.chat_server import ChatServer, texts
from tests.resources.models.registry.test_elicited_model import vllm
from tests.resources.stores import response_file


def requests_of(server: ChatServer) -> Counter[str]:
    """Requests by question; a likelihood takes one for each option."""
    counts = Counter(texts(body)[0] for body in server.bodies)
    return Counter({text: n for text, n in counts.items() if text.startswith("Number")})


def test_what_was_stored_before_a_kill_is_not_requested_again(tmp_path: Path):
    file = tmp_path / "responses.sqlite"
    with ChatServer(vllm, latency=0.05) as server:
        command = [sys.executable, "-m", "tests.elicitation.asking", server.base_url, str(file)]
        process = subprocess.Popen(command)
        deadline = time.monotonic() + 60
        while server.n_answered < 2 + 10 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.kill()
        process.wait()
        begun = requests_of(server)
        stored = len(list(response_file(file).rows()))
        assert 0 < stored < len(TWELVE)
        assert len(begun) < len(TWELVE)
        server.forget()
        predictions = predict(server.base_url, file)
        again = requests_of(server)
    assert not any(prediction.error for prediction in predictions)
    assert len(again) == len(TWELVE) - stored  # also those that were in flight
    assert set(again.values()) == {2}
    assert len(list(response_file(file).rows())) == len(TWELVE)
