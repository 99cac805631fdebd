"""A server that dies comes back or ends the run; its output is logged without keys."""

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
from tests.resources.models.api.serving import engine, responses_to

KEY = "sk-0123456789abcdefghijkl"


@contextmanager
def copied(file: Path) -> Iterator[int]:
    """A pipe that is copied into a file."""
    out, into = os.pipe()
    opened = (os.fdopen(out, "rb"), file.open("wb", buffering=0), Secrets({KEY: "MY_KEY"}))
    copying = Thread(target=copy_redacted, args=opened)
    copying.start()
    yield into
    os.close(into)
    copying.join()


def written(folder: Path, *parts: bytes) -> bytes:
    file = folder / "said.log"
    with copied(file) as into:
        for part in parts:
            os.write(into, part)
    return file.read_bytes()


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        pytest.param([b"loading\n", b"ready\n"], b"loading\nready\n", id="lines"),
        pytest.param([b"no end"], b"no end", id="a line without an end"),
        pytest.param([f"key {KEY}\n".encode()], b"key ***\n", id="a key"),
        pytest.param(
            [f"key {KEY[:9]}".encode(), f"{KEY[9:]} is mine".encode()],
            b"key *** is mine",
            id="a key in two pieces",
        ),
        pytest.param([b"\xff\n"], b"\xff\n", id="what is no text"),
    ],
)
def test_its_output_is_logged_without_keys(tmp_path: Path, parts: list[bytes], kept: bytes) -> None:
    assert written(tmp_path, *parts) == kept


def test_a_key_of_the_home_is_in_no_servers_log_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", KEY)
    (tmp_path / "bench.toml").write_text('[models.a]\napi_key_env = "A_KEY"\n', encoding="utf-8")
    write_checkpoint(tmp_path / "w")
    with (
        engine(tmp_path / "w", tmp_path / "servers", f"prints={KEY}", "ends=3") as served,
        pytest.raises(ModelError, match=r"ended with code 3\n(?s:.*)the key is \*\*\*\n") as raised,
    ):
        responses_to(served, "?")
    (log,) = (tmp_path / "servers").glob("**/*.log")
    assert "the key is ***\n" in log.read_text(encoding="utf-8")
    assert KEY not in str(raised.value) + log.read_text(encoding="utf-8")


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "run" / "step", b"1234")


@pytest.mark.long
def test_a_question_that_ends_every_server_is_an_error_and_the_others_are_answered(
    weights: Path, tmp_path: Path
) -> None:
    with engine(weights, tmp_path, "dies=poison", concurrency=1, max_tries=2) as served:
        first, poison, last = responses_to(served, "a", "poison", "b")
    assert (first.text, last.text) == ("1234 a", "1234 b")
    assert "connection" in poison.error or "disconnected" in poison.error.lower()
