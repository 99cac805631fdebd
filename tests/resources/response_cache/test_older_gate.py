"""What an older gate let in is found and dropped, and nothing else."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from resources.response_cache.engine import VALIDATION_VERSION
from resources.response_cache.maintenance import find_invalid_responses
from resources.response_cache.port import ResponseAverages, TokenCounts
from resources.response_cache.sqlite_file import row_digest
from resources.response_cache.sqlite_store import SqliteResponseStore
from tests.chat_server import ChatServer
from tests.resources.models.api.asking import remembering, requests_for

HERE = "server:http://s/v1|m"


@pytest.fixture
def store(tmp_path: Path) -> SqliteResponseStore:
    return SqliteResponseStore(tmp_path / "responses.sqlite")


def put(store: SqliteResponseStore, key: str, **columns: Any) -> None:
    row = {"key": key, "model": HERE, "prompt": "p", "text": "A", "finish_reason": "stop"}
    row |= columns
    row["digest"] = row_digest(row)
    with closing(store.connect()) as db, db:
        marks = ", ".join("?" * len(row))
        db.execute(
            f"INSERT INTO responses ({', '.join(row)}) VALUES ({marks})", tuple(row.values())
        )


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        pytest.param({"finish_reason": "error", "text": ""}, "broken off", id="an error"),
        pytest.param({"finish_reason": "abort", "text": "hal"}, "broken off", id="half a text"),
        pytest.param({"finish_reason": "load"}, "broken off", id="only loaded"),
        pytest.param(
            {"finish_reason": "abort", "model": "m@1,vllm"}, "broken off", id="not of a server"
        ),
        pytest.param({"finish_reason": "done"}, "'done' is none", id="an unknown reason"),
        pytest.param({"text": ""}, "empty", id="no text, of whatever kind it was"),
        pytest.param({"text": " ", "finish_reason": ""}, "empty", id="and no reason"),
        pytest.param({"text": None}, "text is no text", id="null"),
        pytest.param({"text": b"A"}, "text is no text", id="bytes"),
        pytest.param(
            {"finish_reason": b"stop"}, "finish_reason is no text", id="a reason in bytes"
        ),
    ],
)
def test_what_the_gate_of_today_would_not_let_in(
    store: SqliteResponseStore, columns: dict[str, Any], why: str
) -> None:
    put(store, "good")
    put(store, "bad", **columns)
    (found,) = find_invalid_responses(store)
    assert (found.key, found.prompt) == ("bad", "p")
    assert why in found.why
    assert store.drop([found.key, "unknown"]) == 1
    assert list(find_invalid_responses(store)) == []
    assert store.find(["good", "bad"]).keys() == {"good"}


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({}, id="a text"),
        pytest.param({"finish_reason": ""}, id="a text without a reason"),
        pytest.param({"text": "", "finish_reason": "length"}, id="cut off before it began"),
        pytest.param({"text": "", "finish_reason": "content_filter"}, id="stopped by a filter"),
        pytest.param({"text": "", "model": "m@1"}, id="nothing, said by a model that runs here"),
        pytest.param(
            {"text": "", "gate": VALIDATION_VERSION}, id="nothing, let in by the gate of today"
        ),
        pytest.param({"finish_reason": "no specialist", "model": "python"}, id="a word of its own"),
        pytest.param({"prompt_tokens": float(2**70)}, id="a text whose tokens nobody counted"),
        pytest.param({"image_tokens": "4 x"}, id="or those of its images"),
    ],
)
def test_what_it_would_let_in_stays(store: SqliteResponseStore, columns: dict[str, Any]) -> None:
    put(store, "a", **columns)
    assert list(find_invalid_responses(store)) == []
    assert store.drop([]) == 0
    assert not store.find(["a"])["a"].error


def test_tokens_that_an_older_gate_took_for_a_number_count_for_nothing(
    store: SqliteResponseStore,
) -> None:
    odd = [float(2**70), "many", -5, 2**62]
    for number, tokens in enumerate([*odd, 7]):
        put(store, str(number), prompt_tokens=tokens, completion_tokens=tokens, decoding="t")
    assert [response.prompt_tokens for response in store.find(list("01234")).values()] == [
        None
    ] * 4 + [7]
    assert store.tokens_of(HERE) == TokenCounts(prompt=7, completion=7)
    assert store.earlier(HERE, "t") == ResponseAverages(tokens=7.0)


def test_what_can_no_longer_be_read_is_asked_again_and_blocks_nothing_else(
    store: SqliteResponseStore,
) -> None:
    with ChatServer() as server:
        model = remembering(server.base_url, store.file)
        model.response(requests_for("a", "b"))
        with closing(store.connect()) as db, db:
            db.execute(
                "UPDATE responses SET text = CAST(x'ff41' AS TEXT), gate = ''"
                " WHERE key IN (SELECT min(key) FROM responses)"
            )
        assert len(list(find_invalid_responses(store))) == 1
        for _ in range(2):
            assert [response.text for response in model.response(requests_for("a", "b"))] == [
                "A",
                "A",
            ]
        assert server.n_requests == 3
        assert list(find_invalid_responses(store)) == []


def test_dropped_responses_are_asked_once_more_and_then_are_of_the_gate_of_today(
    store: SqliteResponseStore,
) -> None:
    with ChatServer(lambda _: "") as server:
        model = remembering(server.base_url, store.file)
        model.response(requests_for("a"))
        with closing(store.connect()) as db, db:
            db.execute("UPDATE responses SET gate = ''")
        assert store.drop([one.key for one in find_invalid_responses(store)]) == 1
        assert [model.response(requests_for("a"))[0].text for _ in range(2)] == ["", ""]
        assert server.n_requests == 2
    assert list(find_invalid_responses(store)) == []
