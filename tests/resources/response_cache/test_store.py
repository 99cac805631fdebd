"""What was once asked is not asked again, whatever happens meanwhile."""

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.chat import Decoding, Image, Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.models.registry.baselines import BlindModel
from bench_resources.response_cache.caching_model import CachingModel
from tests.chat_server import Answer, ChatServer, texts
from tests.resources.models.api.asking import engine, remembering, requests_for
from tests.resources.stores import response_file

CHECKOUT = Path(__file__).parents[3]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    def echo(body: dict[str, Any]) -> str | int:
        return 400 if texts(body) == ["odd"] else texts(body)[-1].upper()

    with ChatServer(echo) as running:
        yield running


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "responses.sqlite"


def n_stored(file: Path) -> int:
    with closing(sqlite3.connect(file)) as db:
        return int(db.execute("SELECT count(*) FROM responses").fetchone()[0])


def test_a_second_asking_asks_nothing(server: ChatServer, file: Path) -> None:
    first = remembering(server.base_url, file).response(requests_for("a", "b"))
    second = remembering(server.base_url, file).response(requests_for("b", "a"))
    assert server.n_requests == 2
    assert second == first[::-1]
    assert (first[0].text, first[0].completion_tokens, first[0].finish_reason) == ("A", 3, "stop")


def test_edited_prompts_are_asked_and_no_others(server: ChatServer, file: Path) -> None:
    names = [f"question {n}" for n in range(200)]
    remembering(server.base_url, file).response(requests_for(*names))
    server.forget()
    edited = [f"{name}, edited" if n % 5 == 0 else name for n, name in enumerate(names)]
    responses = remembering(server.base_url, file).response(requests_for(*edited))
    assert sorted(texts(body)[0] for body in server.bodies) == sorted(set(edited) - set(names))
    assert [response.text for response in responses] == [name.upper() for name in edited]


def test_equal_requests_are_asked_once_and_all_answered(server: ChatServer, file: Path) -> None:
    responses = remembering(server.base_url, file).response(requests_for("a", "b", "a"))
    assert [response.text for response in responses] == ["A", "B", "A"]
    assert server.n_requests == 2


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"request": {"sample": 1}}, id="another draw"),
        pytest.param({"request": {"temperature": 0.5}}, id="another temperature of the request"),
        pytest.param({"request": {"prompt": Prompt.of("a", Image("png"))}}, id="with an image"),
        pytest.param({"spec": {"temperature": 0.5}}, id="another temperature of the model"),
        pytest.param({"spec": {"revision": "2"}}, id="another revision"),
        pytest.param({"spec": {"extra_body": {"top_k": 1}}}, id="another field"),
    ],
)
def test_whatever_changes_a_response_is_asked_again(
    server: ChatServer, file: Path, other: dict[str, dict[str, Any]]
) -> None:
    (request,) = requests_for("a")
    remembering(server.base_url, file).response([request])
    changed = replace(request, **other.get("request", {}))
    for _ in range(2):
        remembering(server.base_url, file, **other.get("spec", {})).response([changed])
    assert server.n_requests == 2


def test_what_cannot_change_a_response_is_not_asked_again(server: ChatServer, file: Path) -> None:
    remembering(server.base_url, file).response(requests_for("a"))
    named = CachingModel("another", engine(server.base_url, concurrency=1), response_file(file))
    named.response(requests_for("a"))
    assert server.n_requests == 1


def test_a_model_s_own_tags_go_with_its_responses_and_ask_nothing_again(
    server: ChatServer, file: Path
) -> None:
    (plain,) = remembering(server.base_url, file).response(requests_for("{hm} up"))
    assert plain.said.answer == "{HM} UP"
    model = CachingModel(
        "m", engine(server.base_url), response_file(file), thinking_tags=("{", "}")
    )
    (response,) = model.response(requests_for("{hm} up"))
    (blind,) = BlindModel(model, "blind").response(requests_for("{hm} up"))
    assert (response.said.thought, response.said.answer, response.text) == ("HM", "UP", plain.text)
    assert blind == response
    assert model.signature.endswith("|thinking={ }")
    assert server.n_requests == 1


def test_errors_are_not_remembered(server: ChatServer, file: Path) -> None:
    model = remembering(server.base_url, file)
    responses = model.response(requests_for("odd", "a"))
    assert [(response.text, response.error) for response in responses] == [
        ("", "HTTP 400: as asked"),
        ("A", ""),
    ]
    model.response(requests_for("odd", "a", "b"))
    # A refused request is sent a second time.
    assert sorted(texts(body)[0] for body in server.bodies[3:]) == ["b", "odd", "odd"]


def test_nothing_at_all_is_an_error(server: ChatServer, file: Path) -> None:
    server.fail_next(20, 500)
    with pytest.raises(ModelError, match="m: all 1 requests failed: HTTP 500"):
        remembering(server.base_url, file).response(requests_for("a"))


def test_requests_that_are_refused_twice_are_an_outcome(server: ChatServer, file: Path) -> None:
    (response,) = remembering(server.base_url, file).response(requests_for("odd"))
    assert (response.error, response.refusal) == ("HTTP 400: as asked", "request refused")


def test_a_prompt_can_be_read_again(server: ChatServer, file: Path) -> None:
    (request,) = requests_for("a")
    remembering(server.base_url, file).response([request])
    assert response_file(file).prompt(request.prompt.sha256) == '[["user",["a"]]]'
    assert response_file(file).prompt("0") is None


def test_stopping_half_way_keeps_what_arrived(server: ChatServer, file: Path) -> None:
    def stop_at_ten(done: int, remembered: int, total: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    model = CachingModel("m", engine(server.base_url), response_file(file), stop_at_ten)
    with pytest.raises(KeyboardInterrupt):
        model.response(requests_for(*map(str, range(100))))
    assert n_stored(file) == 10
    asked = server.n_requests
    remembering(server.base_url, file).response(requests_for(*map(str, range(100))))
    assert server.n_requests <= asked + 90 + 32  # 32: the default concurrency


def test_progress_counts_what_is_remembered_and_what_is_new(server: ChatServer, file: Path) -> None:
    remembering(server.base_url, file).response(requests_for("a"))
    seen: list[tuple[int, int, int]] = []
    model = CachingModel(
        "m", engine(server.base_url), response_file(file), lambda *counts: seen.append(counts)
    )
    model.response(requests_for("a", "b", "c"))
    assert seen == [(1, 1, 3), (2, 1, 3), (3, 1, 3)]


def asking_process(server: ChatServer, file: Path, n: int) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "tests.resources.models.api.asking",
        server.base_url,
        str(file),
        str(n),
    ]
    return subprocess.Popen(command, cwd=CHECKOUT)


def test_two_processes_write_at_once_and_lose_nothing(server: ChatServer, file: Path) -> None:
    both = [asking_process(server, file, n) for n in (60, 80)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert n_stored(file) == 80


def test_kill_9_loses_no_more_than_was_under_way_or_waited_to_be_written(file: Path) -> None:
    with ChatServer(lambda body: Answer(text=texts(body)[0], wait=0.01)) as server:
        process = asking_process(server, file, 1000)
        deadline = time.monotonic() + 60
        while server.n_answered < 500 and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0.1)  # what was under way is seen off
        asked, stored = server.n_requests, n_stored(file)
        assert 500 <= asked < 1000
        # 8 are under way at once, 20 wait for the caller, 200 to be written or for their commit.
        assert stored >= asked - 8 - 20 - 200
        every = list(map(str, range(1000)))
        responses = remembering(server.base_url, file).response(requests_for(*every))
        assert server.n_requests == asked + 1000 - stored
    assert [response.text for response in responses] == every


class Noted:
    """An engine that says how many tokens images became, and what was changed."""

    identity, decoding, peak_memory = "noted", Decoding(), None

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for n, _ in enumerate(requests):
            yield n, Response(text="yes", image_tokens=(4, 12), note="enlarged: 1x1 px to 28x28 px")

    def close(self) -> None:
        """Nothing is held."""


def test_tokens_of_images_and_notes_come_back(file: Path) -> None:
    first, again = (
        CachingModel("m", Noted(), response_file(file)).response(requests_for("a"))
        for _ in range(2)
    )
    assert first == again
    assert (again[0].image_tokens, again[0].note) == ((4, 12), "enlarged: 1x1 px to 28x28 px")


def test_a_store_may_be_created_by_many_at_once(file: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        stores = list(threads.map(lambda _: response_file(file), range(16)))
    assert all(store.find(["a"]) == {} for store in stores)
