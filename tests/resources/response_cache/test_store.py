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
from tests.fakes.server_engines import caching_model, engine, requests_for
from tests.fakes.stores import response_file
from tests.resources.response_cache.test_rows import digest_of, keep, row


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


def test_a_second_run_sends_no_requests(server: ChatServer, file: Path) -> None:
    first = caching_model(server.base_url, file).response(requests_for("a", "b"))
    second = caching_model(server.base_url, file).response(requests_for("b", "a"))
    assert server.n_requests == 2
    assert second == first[::-1]
    assert (first[0].text, first[0].completion_tokens, first[0].finish_reason) == ("A", 3, "stop")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"request": {"sample": 1}}, id="another draw"),
        pytest.param({"request": {"temperature": 0.5}}, id="another temperature of the request"),
        pytest.param({"request": {"prompt": Prompt.of("a", Image("png"))}}, id="with an image"),
        pytest.param({"spec": {"temperature": 0.5}}, id="another temperature of the model"),
        pytest.param({"spec": {"revision": "2"}}, id="another revision"),
        pytest.param({"spec": {"extra_body": {"top_k": 1}}}, id="another field"),
    ],
)
def test_a_request_with_another_setting_is_sent_once(server, file, changes):
    (request,) = requests_for("a")
    caching_model(server.base_url, file).response([request])
    changed = replace(request, **changes.get("request", {}))
    for _ in range(2):
        caching_model(server.base_url, file, **changes.get("spec", {})).response([changed])
    assert server.n_requests == 2


def test_another_name_or_concurrency_sends_no_request(server: ChatServer, file: Path) -> None:
    caching_model(server.base_url, file).response(requests_for("a"))
    same_engine = engine(server.base_url, concurrency=1)
    CachingModel("another", same_engine, response_file(file)).response(requests_for("a"))
    assert server.n_requests == 1


def test_thinking_tags_split_stored_responses_too(server: ChatServer, file: Path) -> None:
    (plain,) = caching_model(server.base_url, file).response(requests_for("{hm} up"))
    assert plain.parts.answer == "{HM} UP"
    model = CachingModel(
        "m", engine(server.base_url), response_file(file), thinking_tags=("{", "}")
    )
    (response,) = model.response(requests_for("{hm} up"))
    (blind,) = BlindModel(model, "blind").response(requests_for("{hm} up"))
    assert (response.parts.thought, response.parts.answer) == ("HM", "UP")
    assert response.text == plain.text
    assert blind == response
    assert model.signature.endswith("|thinking={ }")
    assert server.n_requests == 1


def start_process(server: ChatServer, file: Path, n: int) -> subprocess.Popen[bytes]:
    """Start a process that needs the responses to the first ``n`` requests."""
    program = [sys.executable, "-m", "tests.fakes.server_engines"]
    return subprocess.Popen([*program, server.base_url, str(file), str(n)], cwd=CHECKOUT)


def test_two_processes_write_at_once_and_lose_nothing(server: ChatServer, file: Path) -> None:
    processes = [start_process(server, file, n) for n in (60, 80)]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert n_stored(file) == 80


def test_kill_9_loses_no_more_than_was_in_flight_or_waited_to_be_written(file: Path) -> None:
    with ChatServer(lambda body: Answer(text=texts(body)[0], wait=0.01)) as server:
        process = start_process(server, file, 1000)
        deadline = time.monotonic() + 60
        while server.n_answered < 500 and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0.1)  # for requests in flight
        n_sent, n_kept = server.n_requests, n_stored(file)
        assert 500 <= n_sent < 1000
        # 8 are in flight at once, 20 wait for the caller, 200 to be written or for their commit.
        assert n_kept >= n_sent - 8 - 20 - 200
        prompts = [str(n) for n in range(1000)]
        responses = caching_model(server.base_url, file).response(requests_for(*prompts))
        assert server.n_requests == n_sent + 1000 - n_kept
    assert [response.text for response in responses] == prompts


class ArbitraryEngine:
    """An engine with a list of outputs, valid or not, and their positions."""

    identity, decoding, peak_memory = "saying", Decoding(), None

    def __init__(self, *outputs: tuple[int, Any]) -> None:
        self.outputs = outputs
        self.n_requests = 0

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        self.n_requests += len(requests)
        yield from self.outputs

    def close(self) -> None: ...


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
def test_an_invalid_output_is_an_error_of_its_request(store: ResponseStore, output: object) -> None:
    model = CachingModel("m", ArbitraryEngine((1, output), (0, Response(text="A"))), store)
    first, second = model.response(requests_for("a", "b"))
    assert (first.text, second.text) == ("A", "")
    assert second.error.startswith("not a response: ")

    retry_engine = ArbitraryEngine((0, Response(text="B")))
    _, retried = CachingModel("m", retry_engine, store).response(requests_for("a", "b"))
    assert retried.text == "B"
    assert retry_engine.n_requests == 1


@pytest.mark.parametrize("tokens", ["12", 2**63, 2**70, float(2**70), -1, 1.5, True, [3], {"a": 3}])
def test_invalid_token_counts_of_a_response_are_dropped(store: ResponseStore, tokens: Any) -> None:
    output = Response(
        text="A", prompt_tokens=tokens, completion_tokens=tokens, image_tokens=(tokens,)
    )
    model = CachingModel("m", ArbitraryEngine((0, output)), store)
    assert model.response(requests_for("a")) == [Response(text="A")]
    assert model.response(requests_for("a")) == [Response(text="A")]  # as stored


def test_a_response_that_never_comes_is_an_error(store: ResponseStore) -> None:
    model = CachingModel("m", ArbitraryEngine((1, Response(text="B"))), store)
    first, second = model.response(requests_for("a", "b"))
    assert (first.error, second.text) == ("the engine returned no response", "B")


@pytest.mark.parametrize("position", [-1, 2, None], ids=["before the first", "too far", "none"])
def test_a_response_to_no_request_is_not_stored(store: ResponseStore, position: Any) -> None:
    model = CachingModel("m", ArbitraryEngine((position, Response(text="B"))), store)
    with pytest.raises(ModelError, match=r"a response to request .* of 2"):
        model.response(requests_for("a", "b"))
    assert list(store.rows()) == []


@pytest.fixture
def stores(tmp_path: Path) -> tuple[ResponseStore, ResponseStore]:
    return response_file(tmp_path / "a.sqlite"), response_file(tmp_path / "b.sqlite")


@pytest.mark.parametrize(
    ("sql", "n_left_out"),
    [
        pytest.param("UPDATE responses SET text = 'another'", 1, id="a damaged one"),
        pytest.param("UPDATE prompts SET turns = 'another'", 0, id="a damaged prompt"),
        pytest.param("UPDATE responses SET asked_at = 'yesterday'", 0, id="an unknown moment"),
    ],
)
def test_only_undamaged_responses_are_merged(stores, sql, n_left_out):
    source, target = stores
    keep(source, row("a"))
    with sqlite3.connect(source.place) as db:
        db.execute(sql)
    assert merge_into(target, source).left_out == n_left_out
    assert target.find([digest_of("a")]) == source.find([digest_of("a")])
    assert not list(target.prompts())  # the digest of the prompt of row() is of another text
