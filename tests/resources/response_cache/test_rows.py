import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
import sqlalchemy as sa

from bench_assets.core.schema.chat import Decoding, Prompt, Request, Response
from bench_assets.core.schema.errors import HomeError
from bench_assets.core.schema.provenance import row_digest
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.response_cache.engine import VALIDATION_VERSION
from bench_resources.response_cache.rows import ResponseAverages, TokenCounts
from bench_resources.response_cache.store import ResponseStore
from tests.fakes.server_engines import requests_for
from tests.fakes.stores import response_file

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture(params=["a file", pytest.param("PostgreSQL", marks=pytest.mark.long)])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], ResponseStore]:
    """A function that opens the same store again."""
    if request.param == "a file":
        return lambda: response_file(tmp_path / "home" / "responses.sqlite")
    open_shared: Callable[[], ResponseStore] = request.getfixturevalue("open_shared_responses")
    return open_shared


@pytest.fixture
def store(open_store: Callable[[], ResponseStore]) -> ResponseStore:
    return open_store()


class ScriptedEngine:
    """An engine that gives responses in turn, and records its requests."""

    identity, decoding, peak_memory = "says", Decoding(), None

    def __init__(self, *responses: Response) -> None:
        self._responses = responses
        self.requests: list[Request] = []

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for position, request in enumerate(requests):
            self.requests.append(request)
            yield position, self._responses[position % len(self._responses)]

    def close(self) -> None: ...


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def row(key: str = "a", **columns: Any) -> dict[str, Any]:
    """A row with every column; its key is the digest of ``key``."""
    response_columns = {
        "model": "m", "decoding": "t=0", "prompt": digest_of("p"), "sample": 0, "text": "yes",
        "finish_reason": "stop", "prompt_tokens": 7, "completion_tokens": 1, "image_tokens": "",
        "seconds": 0.5, "note": "", "gate": VALIDATION_VERSION, "served": "",
    }  # fmt: skip
    undigested = {"key": digest_of(key), **response_columns, **columns}
    return {**undigested, "digest": row_digest(undigested)}


def keep(store: ResponseStore, *rows: dict[str, Any]) -> None:
    with store.request_session([stored["key"] for stored in rows]) as session:
        for stored in rows:
            session.keep(stored, '["p"]')


ANY_RESPONSE = {
    "no text": Response(text=""),
    "a text with every field": Response(
        text="(A)", finish_reason="stop", prompt_tokens=7, completion_tokens=3,
        image_tokens=(4, 12), seconds=1 / 3, note="enlarged", served="m-2024 fp_1",
    ),
    "unknown numbers": Response(text="a", prompt_tokens=None, seconds=None),
    "the character of number 0": Response(text="a\0b", note="\0", finish_reason="st\0p"),
    "what looks like an escape": Response(text=r"\u0000 \x00 \N %s %(a)s {a} $1 ''"),
    "letters of every width": Response(text="é 上 😀 \u2028 \x1b[0m \r\n\t"),
    "a megabyte": Response(text="long " * 200_000),
    "the most tokens": Response(text="a", prompt_tokens=10**9, completion_tokens=0, seconds=0.0),
    "seconds that are whole": Response(text="a", seconds=2.0),
    "what JSON would be": Response(text='{"text": null}', note='"', finish_reason="null"),
}  # fmt: skip


@pytest.mark.parametrize("response", ANY_RESPONSE.values(), ids=ANY_RESPONSE)
def test_any_response_is_read_back_unchanged(open_store, response):
    engine, requests = ScriptedEngine(response), requests_for("a")
    assert CachingModel("m", engine, open_store()).response(requests) == [response]
    assert CachingModel("m", engine, open_store()).response(requests) == [response]
    assert len(engine.requests) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE responses SET text = 'another'",
        "UPDATE responses SET text = NULL",
        "UPDATE responses SET finish_reason = 'length'",
        "UPDATE responses SET digest = ''",
        "UPDATE responses SET model = 'other'",
        "DELETE FROM responses",
    ],
)
def test_damaged_responses_are_requested_again(open_store, sql):
    def respond() -> int:
        """Number of requests that two responses take."""
        engine = ScriptedEngine(Response(text="A", seconds=float("nan")))  # equals no other number
        responses = CachingModel("m", engine, open_store()).response(requests_for("a", "b"))
        assert [response.text for response in responses] == ["A", "A"]
        return len(engine.requests)

    assert respond() == 2
    open_store().database.write(partial(_execute, sql))
    assert respond() == 2
    assert respond() == 0


def _execute(sql: str, connection: sa.Connection) -> None:
    connection.exec_driver_sql(sql)


@pytest.mark.parametrize(
    ("text", "sample"),
    [
        pytest.param("what? \0 \ud83d 上", 0, id="half a character, and that of number 0"),
        pytest.param("", 2**40, id="an empty prompt of a high sample number"),
    ],
)
def test_every_prompt_can_be_read_back(store: ResponseStore, text: str, sample: int) -> None:
    request = Request(prompt=Prompt.of(text), sample=sample)
    CachingModel("m", ScriptedEngine(Response(text="A")), store).response([request])
    stored_prompt = store.prompt(request.prompt.sha256)
    assert stored_prompt == Prompt.of(text).to_json().encode("utf-8", "backslashreplace").decode()
    assert store.prompt(digest_of("another")) is None
    assert store.prompt("no digest") is None


def test_the_first_response_to_a_request_is_kept(store: ResponseStore) -> None:
    keep(store, row("a", text="first"))
    keep(store, row("a", text="second"))
    assert store.find([digest_of("a")])[digest_of("a")].text == "first"


def test_a_response_that_cannot_be_written_is_an_error(store: ResponseStore) -> None:
    with pytest.raises(KeyError, match="no column"):
        keep(store, row("a") | {"no column": 1})


def test_a_full_queue_and_the_end_are_written_without_waiting_for_more(store, monkeypatch):
    monkeypatch.setattr("bench_resources.response_cache.sessions._BATCH_SECONDS", 5.0)
    keys = [digest_of(str(n)) for n in range(250)]
    started_at = perf_counter()
    keep(store, *(row(str(n)) for n in range(250)))
    assert perf_counter() - started_at < 5
    assert store.find(keys).keys() == set(keys)


def test_stopping_half_way_keeps_what_arrived(open_store: Callable[[], ResponseStore]) -> None:
    def stop_at_ten(n_responses: int, n_stored: int, n_requests: int) -> None:
        if n_responses == 10:
            raise KeyboardInterrupt

    engine = ScriptedEngine(Response(text="A"))
    requests = requests_for(*(str(n) for n in range(30)))
    with pytest.raises(KeyboardInterrupt):
        CachingModel("m", engine, open_store(), stop_at_ten).response(requests)
    CachingModel("m", engine, open_store()).response(requests)
    assert len(engine.requests) == 30


def test_tokens_and_averages_are_of_one_model_alone(store: ResponseStore) -> None:
    keep(
        store,
        row("a", prompt_tokens=10, completion_tokens=4, seconds=1.0),
        row("b", prompt_tokens=None, completion_tokens=1, seconds=None),
        row("c", decoding="t=1"),
        row("d", model="other"),
    )
    assert store.tokens_of("m") == TokenCounts(prompt=17, completion=6)  # 10 + 7, 4 + 1 + 1
    assert store.tokens_of("nobody") == TokenCounts()
    assert store.averages("m", "t=0") == ResponseAverages(seconds=1.0, tokens=2.5)  # of a and b
    assert store.averages("m", "t=2") == ResponseAverages()


def test_responses_are_dropped_by_key(store: ResponseStore) -> None:
    keep(store, row("a"), row("b"))
    assert store.drop([digest_of("a"), digest_of("unknown"), "no digest"]) == 1
    assert store.drop([]) == 0
    assert [stored["key"] for stored in store.rows()] == [digest_of("b")]


def test_responses_are_removed_by_model_and_decoding(store: ResponseStore) -> None:
    keep(store, row("b"), row("c", model="other", decoding=""), row("d", decoding="t=1"))
    assert store.remove(["m|t=0", "nobody"]) == 1
    assert store.remove([]) == 0
    assert {stored["key"] for stored in store.rows()} == {digest_of("c"), digest_of("d")}
    assert store.remove(["other", "m|t=1"]) == 2


@pytest.mark.parametrize(
    ("first_seconds", "second_seconds", "expected_text"),
    [
        pytest.param(0, 60, "first", id="the later one comes second"),
        pytest.param(60, 0, "second", id="the later one came first"),
        pytest.param(0, 0, "first", id="both at the same second"),
    ],
)
def test_the_older_response_stays_when_stores_are_merged(
    store: ResponseStore, first_seconds: int, second_seconds: int, expected_text: str
) -> None:
    merged_twice = ("second", second_seconds)
    for text, seconds in (("first", first_seconds), merged_twice, merged_twice):
        asked_at = NOON + timedelta(seconds=seconds)
        store.merge([{**row("a", text=text), "asked_at": asked_at}], {digest_of("p"): '["p"]'})
    (stored,) = store.rows()
    assert stored["text"] == expected_text
    assert stored["asked_at"] == NOON


def test_responses_are_counted_from_a_moment_on(store: ResponseStore) -> None:
    store.merge([{**row(), "asked_at": NOON}], {digest_of("p"): '["p"]'})
    assert store.count_since(NOON) == 1
    assert store.count_since(NOON + timedelta(seconds=1)) == 0


def downgrade(store: ResponseStore) -> None:
    """Change a store to revision 1, with one row."""
    keep(store, row("a", note="image 1: enlarged"))
    store.database.write(partial(_execute, "ALTER TABLE responses DROP COLUMN served"))
    set_revision = (
        "UPDATE bench_revisions SET version_num = 'responses_0001'"
        " WHERE version_num = 'responses_0002'"
    )
    store.database.write(partial(_execute, set_revision))


def test_a_store_of_revision_1_is_read_once_it_is_migrated(store, open_store):
    downgrade(store)
    with pytest.raises(HomeError, match=r"older version\. Run `bench home migrate-schema`"):
        open_store()
    assert store.database.migrate(("responses",)) == ["responses"]
    response = open_store().find([digest_of("a")])[digest_of("a")]
    assert (response.served, response.note) == ("", "image 1: enlarged")
