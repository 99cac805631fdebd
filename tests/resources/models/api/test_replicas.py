"""Several servers behind one model: they share the work, die, come back, and move."""

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError
from resources.config.sections.servers import ServerSpec
from resources.models.registry.engines import engine_kind
from tests.chat_server import ChatServer
from tests.resources.models.api.asking import requests_for
from tests.resources.models.api.serving import asked, engine, said_by
from tests.resources.models.api.test_served import lines
from tests.resources.models.registry.test_opening import beside
from tests.sensors.watched import write_checkpoint

TEXTS = [f"question {n}" for n in range(60)]
EXPECTED = [f"1234 {text}" for text in TEXTS]


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "run" / "step", b"1234")


@pytest.mark.long
def test_one_that_dies_is_started_anew_and_only_what_it_had_is_asked_again(
    weights: Path, tmp_path: Path
) -> None:
    asked_file, starts = tmp_path / "asked", tmp_path / "starts"
    options = [f"asked={asked_file}", f"starts={starts}", "after=10", f"once={tmp_path / 'died'}"]
    with engine(weights, tmp_path, *options, "wait=0.01", replicas=2, concurrency=4) as served:
        assert said_by(asked(served, *TEXTS)) == EXPECTED
    assert 2 <= len(lines(starts)) <= 3  # two, and what came in place of the first that died
    times = Counter(lines(asked_file))
    assert set(times) == set(TEXTS)
    assert sum(times.values()) <= len(TEXTS) + 4  # what one had in hand


def test_the_only_one_dies_and_the_rest_waits_for_its_successor(
    weights: Path, tmp_path: Path
) -> None:
    options = ["after=10", f"once={tmp_path / 'died'}", f"asked={tmp_path / 'asked'}"]
    with engine(weights, tmp_path, *options, concurrency=2, max_tries=2) as served:
        assert said_by(asked(served, *TEXTS)) == EXPECTED
    assert len(lines(tmp_path / "asked")) <= len(TEXTS) + 2


@pytest.mark.long
def test_a_question_that_ends_every_server_is_an_error_and_the_others_are_answered(
    weights: Path, tmp_path: Path
) -> None:
    with engine(weights, tmp_path, "dies=poison", concurrency=1, max_tries=2) as served:
        first, poison, last = asked(served, "a", "poison", "b")
    assert (first.text, last.text) == ("1234 a", "1234 b")
    assert "connection" in poison.error or "disconnected" in poison.error.lower()


@pytest.mark.long
def test_servers_that_die_again_and_again_end_the_asking(weights: Path, tmp_path: Path) -> None:
    with (
        engine(weights, tmp_path, "after=1", concurrency=1, max_tries=2) as served,
        pytest.raises(ModelError, match="out of memory, says the stand-in"),
    ):
        asked(served, "a", "b", "c", "d", "e")


def spec_at(file: Path, **fields: object) -> ServerSpec:
    section = {"kind": "server", "model": "m", "addresses_file": str(file), "path": "w"} | fields
    return ServerSpec.model_validate(section)


def streamed(spec: ServerSpec, home: Path, n: int) -> Iterator[str]:
    kind = engine_kind(spec)
    assert kind
    for _, response in kind.engine(spec, beside(home)).stream(requests_for(*map(str, range(n)))):
        yield response.error or response.text


def test_a_new_address_is_taken_and_one_that_is_gone_is_left_while_a_run_asks(
    tmp_path: Path,
) -> None:
    write_checkpoint(tmp_path / "w")
    file = tmp_path / "addresses"
    with ChatServer("one", latency=0.005) as one, ChatServer("two", latency=0.005) as two:
        file.write_text(f"# the first\n{one.base_url}\nno address\n", encoding="utf-8")
        responses, by_then = [], 0
        for response in streamed(spec_at(file, concurrency=2), tmp_path, 200):
            responses.append(response)
            if len(responses) == 20:
                file.write_text(f"{two.base_url}/\n", encoding="utf-8")
            by_then = by_then or (one.n_requests if response == "two" else 0)
        assert {*responses} == {"one", "two"}
        assert one.n_requests + two.n_requests == 200
        assert one.n_requests <= by_then + 2


def test_a_key_in_a_file_of_addresses_is_told_by_no_response(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "w")
    file, key = tmp_path / "addresses", "K3y-0f-4n-4ddr3ss"
    with ChatServer(f"asked with {key}") as one, ChatServer(f"and {key}s") as two:
        file.write_text(f"{one.base_url}?api_key={key}\n", encoding="utf-8")
        responses = []
        for response in streamed(spec_at(file, concurrency=1), tmp_path, 4000):
            responses.append(response)
            if len(responses) == 3:
                file.write_text(f"{two.base_url}?api_key={key}s\n", encoding="utf-8")
    assert {*responses} == {"asked with ***", "and ***"}


def test_a_file_without_addresses_is_waited_for_and_then_said(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "w")
    file = tmp_path / "addresses"
    file.write_text("", encoding="utf-8")
    with pytest.raises(ModelError, match=r"addresses: no address for 0.1 s \(max_wait\)"):
        list(streamed(spec_at(file, max_wait=0.1), tmp_path, 1))
    with ChatServer("later") as server:
        threading.Timer(0.2, file.write_text, [server.base_url]).start()
        assert list(streamed(spec_at(file), tmp_path, 1)) == ["later"]


def test_no_file_is_said_at_once(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "w")
    with pytest.raises(ModelError, match="none: cannot be read: No such file"):
        list(streamed(spec_at(tmp_path / "none"), tmp_path, 1))
