"""What every memory of responses must do: one table, run on the file and on the database."""

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
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], ResponseStore]:
    """Opens the same store again and again."""
    if request.param == "a file":
        return lambda: response_file(tmp_path / "home" / "responses.sqlite")
    shared: Callable[[], ResponseStore] = request.getfixturevalue("open_shared_responses")
    return shared


@pytest.fixture
def store(another: Callable[[], ResponseStore]) -> ResponseStore:
    return another()


class Says:
    """An engine that gives one response after the other, and counts what it was asked."""

    identity, decoding, peak_memory = "says", Decoding(), None

    def __init__(self, *responses: Response) -> None:
        self._responses = responses
        self.requests: list[Request] = []

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for n, request in enumerate(requests):
            self.requests.append(request)
            yield n, self._responses[n % len(self._responses)]

    def close(self) -> None:
        """Nothing is held."""


def named(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def row(key: str = "a", **columns: Any) -> dict[str, Any]:
    """A whole row, in the words of a test; key and prompt are digests of them."""
    response_columns = {
        "model": "m", "decoding": "t=0", "prompt": named("p"), "sample": 0, "text": "yes",
        "finish_reason": "stop", "prompt_tokens": 7, "completion_tokens": 1, "image_tokens": "",
        "seconds": 0.5, "note": "", "gate": VALIDATION_VERSION, "served": "",
    }  # fmt: skip
    whole = {"key": named(key), **response_columns, **columns}
    return {**whole, "digest": row_digest(whole)}


def keep(store: ResponseStore, *rows: dict[str, Any]) -> None:
    with store.request_session([stored["key"] for stored in rows]) as session:
        for stored in rows:
            session.keep(stored, '["p"]')


ANY_RESPONSE = {
    "no text": Response(text=""),
    "a text with all it may have": Response(
        text="(A)", finish_reason="stop", prompt_tokens=7, completion_tokens=3,
        image_tokens=(4, 12), seconds=1 / 3, note="enlarged", served="m-2024 fp_1",
    ),
    "numbers that nobody counted": Response(text="a", prompt_tokens=None, seconds=None),
    "the character of number 0": Response(text="a\0b", note="\0", finish_reason="st\0p"),
    "what looks like an escape": Response(text=r"\u0000 \x00 \N %s %(a)s {a} $1 ''"),
    "letters of every width": Response(text="é 上 😀 \u2028 \x1b[0m \r\n\t"),
    "a megabyte": Response(text="long " * 200_000),
    "most tokens": Response(text="a", prompt_tokens=10**9, completion_tokens=0, seconds=0.0),
    "seconds that are whole": Response(text="a", seconds=2.0),
    "what JSON would be": Response(text='{"text": null}', note='"', finish_reason="null"),
}  # fmt: skip


@pytest.mark.parametrize("response", ANY_RESPONSE.values(), ids=ANY_RESPONSE)
def test_whatever_was_responded_comes_back_as_it_was(
    another: Callable[[], ResponseStore], response: Response
) -> None:
    engine, requests = Says(response), requests_for("a")
    first, again = (CachingModel("m", engine, another()).response(requests) for _ in range(2))
    assert first == again == [response]
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
def test_damaged_responses_are_requested_again_and_kept(
    another: Callable[[], ResponseStore], sql: str
) -> None:
    n_requests = []
    for damage in (sql, "", ""):
        engine = Says(Response(text="A", seconds=float("nan")))  # a number that equals no other
        responses = CachingModel("m", engine, another()).response(requests_for("a", "b"))
        assert [response.text for response in responses] == ["A", "A"]
        n_requests.append(len(engine.requests))
        if damage:
            another().database.write(partial(_execute, damage))
    assert n_requests == [2, 2, 0]


def _execute(sql: str, connection: sa.Connection) -> None:
    connection.exec_driver_sql(sql)


@pytest.mark.parametrize(
    ("text", "sample"),
    [
        pytest.param("what? \0 \ud83d 上", 0, id="half a character, and that of number 0"),
        pytest.param("", 2**40, id="nothing, drawn very often"),
    ],
)
def test_every_prompt_can_be_read_again(store: ResponseStore, text: str, sample: int) -> None:
    request = Request(prompt=Prompt.of(text), sample=sample)
    CachingModel("m", Says(Response(text="A")), store).response([request])
    sent = store.prompt(request.prompt.sha256)
    assert sent is not None
    assert Prompt.of(text).to_json().encode("utf-8", "backslashreplace").decode() == sent
    assert store.prompt(named("another")) is None
    assert store.prompt("no digest") is None


def test_of_two_that_keep_a_response_the_first_one_s_stays(store: ResponseStore) -> None:
    keep(store, row("a", text="first"))
    keep(store, row("a", text="second"))
    assert store.find([named("a")])[named("a")].text == "first"


def test_a_full_queue_and_the_end_are_written_without_waiting_for_more(
    store: ResponseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench_resources.response_cache.sessions._BATCH_SECONDS", 5.0)
    rows = [row(str(number)) for number in range(250)]
    started = perf_counter()
    keep(store, *rows)
    assert perf_counter() - started < 5
    assert store.find([row["key"] for row in rows]).keys() == {row["key"] for row in rows}


def test_stopping_half_way_keeps_what_arrived(another: Callable[[], ResponseStore]) -> None:
    def stop_at_ten(done: int, remembered: int, total: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    engine = Says(Response(text="A"))
    requests = requests_for(*map(str, range(30)))
    with pytest.raises(KeyboardInterrupt):
        CachingModel("m", engine, another(), stop_at_ten).response(requests)
    CachingModel("m", engine, another()).response(requests)
    assert len(engine.requests) == 30


def test_tokens_and_how_responses_were_are_of_one_model_alone(store: ResponseStore) -> None:
    keep(
        store,
        row("a", prompt_tokens=10, completion_tokens=4, seconds=1.0),
        row("b", prompt_tokens=None, completion_tokens=1, seconds=None),
        row("c", decoding="t=1"),
        row("d", model="other"),
    )
    assert store.tokens_of("m") == TokenCounts(prompt=17, completion=6)
    assert store.tokens_of("nobody") == TokenCounts()
    assert store.averages("m", "t=0") == ResponseAverages(seconds=1.0, tokens=2.5)
    assert store.averages("m", "t=2") == ResponseAverages()


def test_what_is_dropped_or_removed_is_gone_and_nothing_else(store: ResponseStore) -> None:
    keep(store, row("a"), row("b"), row("c", model="other", decoding=""), row("d", decoding="t=1"))
    assert store.drop([named("a"), named("unknown"), "no digest"]) == 1
    assert store.drop([]) == 0
    assert store.remove(["m|t=0|thinking=<t> </t>", "nobody"]) == 1
    assert store.remove([]) == 0
    assert {row["key"] for row in store.rows()} == {named("c"), named("d")}
    assert store.remove(["other", "m|t=1"]) == 2


@pytest.mark.parametrize(
    ("first", "second", "stays"),
    [
        pytest.param(0, 60, "first", id="the later one comes second"),
        pytest.param(60, 0, "second", id="the later one came first"),
        pytest.param(0, 0, "first", id="both at the same second"),
    ],
)
def test_of_two_stores_that_are_merged_the_older_response_stays(
    store: ResponseStore, first: int, second: int, stays: str
) -> None:
    for text, seconds in (("first", first), ("second", second), ("second", second)):
        moment = NOON + timedelta(seconds=seconds)
        store.merge([{**row("a", text=text), "asked_at": moment}], {named("p"): '["p"]'})
    (kept,) = store.rows()
    assert kept == {**row("a", text=stays), "asked_at": kept["asked_at"]}
    assert store.count_since(NOON + timedelta(seconds=1)) == 0
    assert store.count_since(NOON) == 1


def older(store: ResponseStore) -> None:
    """Make a store of revision 1 of it, with one row."""
    keep(store, row("a", note="image 1: enlarged"))
    revision = "UPDATE bench_revisions SET version_num = 'responses_0001'"

    def work(connection: sa.Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE responses DROP COLUMN served")
        connection.exec_driver_sql(f"{revision} WHERE version_num = 'responses_0002'")

    store.database.write(work)


def test_a_store_of_revision_1_is_read_once_it_is_migrated(
    store: ResponseStore, another: Callable[[], ResponseStore]
) -> None:
    older(store)
    with pytest.raises(HomeError, match=r"older version\. Run `bench home migrate-schema`"):
        another()
    assert store.database.migrate(("responses",)) == ["responses"]
    response = another().find([named("a")])[named("a")]
    assert (response.served, response.note) == ("", "image 1: enlarged")
