"""A store that is away, refuses, or breaks its promises."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import HomeError
from bench_resources.cluster.object_store import ObjectBlobs
from bench_resources.config.stores import open_shared_blobs
from bench_resources.storage.blobs.files import open_blobs
from tests.fakes.object_store import KEYS, Front

stores = pytest.importorskip("obstore.store", reason="make cluster-check installs obstore")
pytestmark = pytest.mark.long


@pytest.fixture
def front(store_endpoint: str) -> Iterator[Front]:
    with Front(store_endpoint) as server:
        yield server
        server.shutdown()


def opened(bucket: str, front: Front, patience: float = 5) -> ObjectBlobs:
    store = stores.from_url(
        f"{bucket}/team",
        endpoint=front.endpoint,
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )
    return ObjectBlobs(store, f"{bucket}/team", patience)


def test_a_store_that_is_away_for_a_while_is_waited_for(
    bucket: str, front: Front, caplog: pytest.LogCaptureFixture
) -> None:
    blobs = opened(bucket, front)
    for status in (503, 500, 429):
        front.away_for(0.2, status)
        blobs.put("a", b"x")
        front.away_for(0.2, status)
        assert blobs.put_new(f"new-{status}", b"x")
        front.away_for(0.2, status)
        assert blobs.get("a") == b"x"
        front.away_for(0.2, status)
        assert "a" in [blob.name for blob in blobs.list()]
    assert len(caplog.messages) == 12  # once each
    assert f"{bucket}/team: cannot be reached (503 Service Unavailable; SlowDown)" in caplog.text


def test_of_a_variable_in_the_address_messages_have_the_name(
    bucket: str, store_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_BUCKET", bucket.removeprefix("s3://"))
    shared = open_shared_blobs(Path(), "tables", "s3://{A_BUCKET}", store_endpoint)
    shared.put("a", b"x")
    assert open_blobs(Path(), "tables", bucket, store_endpoint).get("a") == b"x"
    assert shared.named("a") == "s3://{A_BUCKET}/tables/a"


def test_a_store_that_does_not_come_back_is_one_sentence(bucket: str, front: Front) -> None:
    front.answer = 503
    with pytest.raises(HomeError) as raised:
        opened(bucket, front, 0.1).put("a", b"x")
    assert (
        str(raised.value) == f"{bucket}/team: cannot be reached (503 Service Unavailable; SlowDown)"
    )


def test_a_put_that_was_taken_but_answered_with_an_error_is_ours(bucket: str, front: Front) -> None:
    blobs = opened(bucket, front)
    front.taken_but_answered = 503
    assert blobs.put_new("a", b"ours")
    assert blobs.get("a") == b"ours"
    assert not blobs.put_new("a", b"theirs")


@pytest.mark.parametrize("status", [401, 403])
def test_keys_that_do_not_allow_it_are_refused_at_once_and_not_shown(
    bucket: str, front: Front, status: int
) -> None:
    blobs = opened(bucket, front, 60)
    front.answer = status
    began = time.monotonic()
    for go in (lambda: blobs.get("a"), lambda: blobs.put("a", b"x"), lambda: list(blobs.list())):
        with pytest.raises(HomeError, match="access denied") as raised:
            go()
        assert not any(key in str(raised.value) for key in KEYS.values() if key != "us-east-1")
    assert time.monotonic() - began < 5


def test_a_store_without_conditional_puts_is_refused(
    bucket: str, front: Front, tmp_path: Path
) -> None:
    front.ignores_conditions = True
    for _ in range(2):
        with pytest.raises(HomeError, match=r"overwrites an existing object.*If-None"):
            open_blobs(tmp_path, "tables", bucket, front.endpoint)
