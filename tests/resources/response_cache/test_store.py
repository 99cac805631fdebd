"""What was once asked is not asked again, whatever happens meanwhile."""

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.chat import Decoding, Image, Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.models.registry.baselines import BlindModel
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.response_cache.store import ResponseStore, merge_into
from tests.conftest import CHECKOUT
from tests.fakes.chat_server import Answer, ChatServer, texts
from tests.fakes.server_engines import engine, remembering, requests_for
from tests.fakes.stores import response_file
from tests.resources.response_cache.test_rows import keep, named, row


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


def test_a_second_run_sends_nothing(server: ChatServer, file: Path) -> None:
    first = remembering(server.base_url, file).response(requests_for("a", "b"))
    second = remembering(server.base_url, file).response(requests_for("b", "a"))
    assert server.n_requests == 2
    assert second == first[::-1]
    assert (first[0].text, first[0].completion_tokens, first[0].finish_reason) == ("A", 3, "stop")


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
def test_whatever_changes_a_response_is_sent_again(
    server: ChatServer, file: Path, other: dict[str, dict[str, Any]]
) -> None:
    (request,) = requests_for("a")
    remembering(server.base_url, file).response([request])
    changed = replace(request, **other.get("request", {}))
    for _ in range(2):
        remembering(server.base_url, file, **other.get("spec", {})).response([changed])
    assert server.n_requests == 2


def test_what_cannot_change_a_response_is_not_sent_again(server: ChatServer, file: Path) -> None:
    remembering(server.base_url, file).response(requests_for("a"))
    named = CachingModel("another", engine(server.base_url, concurrency=1), response_file(file))
    named.response(requests_for("a"))
    assert server.n_requests == 1


def test_a_model_s_own_tags_go_with_its_responses_and_ask_nothing_again(
    server: ChatServer, file: Path
) -> None:
    (plain,) = remembering(server.base_url, file).response(requests_for("{hm} up"))
    assert plain.parts.answer == "{HM} UP"
    model = CachingModel(
        "m", engine(server.base_url), response_file(file), thinking_tags=("{", "}")
    )
    (response,) = model.response(requests_for("{hm} up"))
    (blind,) = BlindModel(model, "blind").response(requests_for("{hm} up"))
    assert (response.parts.thought, response.parts.answer, response.text) == (
        "HM",
        "UP",
        plain.text,
    )
    assert blind == response
    assert model.signature.endswith("|thinking={ }")
    assert server.n_requests == 1


def start_process(server: ChatServer, file: Path, n: int) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "tests.fakes.server_engines",
        server.base_url,
        str(file),
        str(n),
    ]
    return subprocess.Popen(command, cwd=CHECKOUT)


def test_two_processes_write_at_once_and_lose_nothing(server: ChatServer, file: Path) -> None:
    both = [start_process(server, file, n) for n in (60, 80)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert n_stored(file) == 80


def test_kill_9_loses_no_more_than_was_under_way_or_waited_to_be_written(file: Path) -> None:
    with ChatServer(lambda body: Answer(text=texts(body)[0], wait=0.01)) as server:
        process = start_process(server, file, 1000)
        deadline = time.monotonic() + 60
        while server.n_answered < 500 and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0.1)  # what was under way is seen off
        sent, stored = server.n_requests, n_stored(file)
        assert 500 <= sent < 1000
        # 8 are under way at once, 20 wait for the caller, 200 to be written or for their commit.
        assert stored >= sent - 8 - 20 - 200
        every = list(map(str, range(1000)))
        responses = remembering(server.base_url, file).response(requests_for(*every))
        assert server.n_requests == sent + 1000 - stored
    assert [response.text for response in responses] == every


# What comes out of an engine and is no response is that request's error; the rest goes on.


class Saying:
    """An engine that gives what it is told to, right or wrong."""

    identity, decoding, peak_memory = "saying", Decoding(), None

    def __init__(self, *arrivals: tuple[int, Any]) -> None:
        self.arrivals = arrivals
        self.n_requests = 0

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        self.n_requests += len(requests)
        yield from self.arrivals

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def store(tmp_path: Path) -> ResponseStore:
    return response_file(tmp_path / "responses.sqlite")


@pytest.mark.parametrize(
    "output",
    [
        pytest.param("B", id="a bare text"),
        pytest.param(Response(text="\ud83d"), id="half a character"),
        pytest.param(Response(text=None), id="no text"),  # type: ignore[arg-type]
        pytest.param(Response(text="B", finish_reason=5), id="a number for the reason"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_response_is_an_error_of_its_request(
    store: ResponseStore, output: object
) -> None:
    model = CachingModel("m", Saying((1, output), (0, Response(text="A"))), store)
    first, second = model.response(requests_for("a", "b"))
    assert (first.text, second.text) == ("A", "")
    assert second.error.startswith("not a response: ")
    again = Saying((0, Response(text="B")))
    assert CachingModel("m", again, store).response(requests_for("a", "b"))[1].text == "B"
    assert again.n_requests == 1


@pytest.mark.parametrize("tokens", ["12", 2**63, 2**70, float(2**70), -1, 1.5, True, [3], {"a": 3}])
def test_a_number_of_tokens_of_any_kind_blocks_nothing(store: ResponseStore, tokens: Any) -> None:
    odd = Response(text="A", prompt_tokens=tokens, completion_tokens=tokens, image_tokens=(tokens,))
    for _ in range(2):
        (response,) = CachingModel("m", Saying((0, odd)), store).response(requests_for("a"))
        assert response == Response(text="A")


def test_what_never_comes_is_an_error(store: ResponseStore) -> None:
    model = CachingModel("m", Saying((1, Response(text="B"))), store)
    first, second = model.response(requests_for("a", "b"))
    assert (first.error, second.text) == ("the engine returned no response", "B")


@pytest.mark.parametrize("position", [-1, 2, None], ids=["before the first", "too far", "none"])
def test_a_response_to_nothing_is_stored_nowhere(store: ResponseStore, position: Any) -> None:
    with pytest.raises(ModelError, match=r"a response to request .* of 2"):
        CachingModel("m", Saying((position, Response(text="B"))), store).response(
            requests_for("a", "b")
        )
    assert store.tokens_of("saying") == store.tokens_of("nobody")


# Responses that are taken over from another store: the whole ones, and nothing else.


@pytest.fixture
def stores(tmp_path: Path) -> tuple[ResponseStore, ResponseStore]:
    return response_file(tmp_path / "a.sqlite"), response_file(tmp_path / "b.sqlite")


@pytest.mark.parametrize(
    ("sql", "left_out"),
    [
        pytest.param("UPDATE responses SET text = 'another'", 1, id="a damaged one"),
        pytest.param("UPDATE prompts SET turns = 'another'", 0, id="a damaged prompt"),
        pytest.param("UPDATE responses SET asked_at = 'yesterday'", 0, id="an unknown moment"),
    ],
)
def test_damage_does_not_spread(
    stores: tuple[ResponseStore, ResponseStore], sql: str, left_out: int
) -> None:
    here, there = stores
    keep(here, row("a"))
    with sqlite3.connect(here.place) as db:
        db.execute(sql)
    assert merge_into(there, here).left_out == left_out
    assert there.find([named("a")]) == here.find([named("a")])
    assert not list(there.prompts())  # the one of these tests is not what its digest says
