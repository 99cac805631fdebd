import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from bench_assets.core.schema.errors import ModelError
from bench_assets.core.text.redaction import Secrets
from bench_resources.models.managed.process import copy_redacted
from tests.fakes.checkpoint_files import write_checkpoint
from tests.resources.models.api.serving import open_engine, responses_to

KEY = "sk-0123456789abcdefghijkl"


@contextmanager
def copied_pipe(log: Path) -> Iterator[int]:
    """A pipe to write to, whose content is copied into a log without the key."""
    read_end, write_end = os.pipe()
    streams = (os.fdopen(read_end, "rb"), log.open("wb", buffering=0))
    copying = Thread(target=copy_redacted, args=(*streams, Secrets({KEY: "MY_KEY"})))
    copying.start()
    yield write_end
    os.close(write_end)
    copying.join()


@pytest.mark.parametrize(
    ("chunks", "logged"),
    [
        pytest.param([b"loading\n", b"ready\n"], b"loading\nready\n", id="lines"),
        pytest.param([b"no end"], b"no end", id="a line without an end"),
        pytest.param([f"key {KEY}\n".encode()], b"key ***\n", id="a key"),
        pytest.param(
            [f"key {KEY[:9]}".encode(), f"{KEY[9:]} is mine".encode()],
            b"key *** is mine",
            id="a key in two pieces",
        ),
        pytest.param([b"\xff\n"], b"\xff\n", id="no UTF-8"),
    ],
)
def test_output_is_logged_without_keys(tmp_path: Path, chunks: list[bytes], logged: bytes) -> None:
    log = tmp_path / "server.log"
    with copied_pipe(log) as write_end:
        for chunk in chunks:
            os.write(write_end, chunk)
    assert log.read_bytes() == logged


def test_a_key_of_the_home_is_redacted_in_the_log_and_in_the_error(tmp_path, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    (tmp_path / "bench.toml").write_text('[models.a]\napi_key_env = "A_KEY"\n', encoding="utf-8")
    write_checkpoint(tmp_path / "w")
    with (
        open_engine(tmp_path / "w", tmp_path / "servers", f"prints={KEY}", "ends=3") as served,
        pytest.raises(ModelError, match=r"ended with code 3\n(?s:.*)the key is \*\*\*\n") as raised,
    ):
        responses_to(served, "?")
    (log,) = (tmp_path / "servers").glob("**/*.log")
    assert "the key is ***\n" in log.read_text(encoding="utf-8")
    assert KEY not in log.read_text(encoding="utf-8")
    assert KEY not in str(raised.value)


@pytest.mark.long
def test_a_question_that_ends_every_server_is_an_error_and_the_others_are_answered(tmp_path):
    weights = write_checkpoint(tmp_path / "run" / "step", b"1234")
    with open_engine(weights, tmp_path, "dies=poison", concurrency=1, max_tries=2) as served:
        first, poison, last = responses_to(served, "a", "poison", "b")
    assert (first.text, last.text) == ("1234 a", "1234 b")
    assert "connection" in poison.error or "disconnected" in poison.error.lower()
