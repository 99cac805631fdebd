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
def proxy(store_endpoint: str) -> Iterator[Front]:
    with Front(store_endpoint) as server:
        yield server
        server.shutdown()


def open_object_blobs(bucket: str, proxy: Front, patience: float = 5) -> ObjectBlobs:
    store = stores.from_url(
        f"{bucket}/team",
        endpoint=proxy.endpoint,
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )
    return ObjectBlobs(store, f"{bucket}/team", patience)


@pytest.mark.parametrize("status", [503, 500, 429])
def test_an_operation_waits_until_the_store_is_available(bucket, proxy, caplog, status):
    blobs = open_object_blobs(bucket, proxy)
    proxy.away_for(0.2, status)
    blobs.put("a", b"x")
    proxy.away_for(0.2, status)
    assert blobs.put_new("new", b"x")
    proxy.away_for(0.2, status)
    assert blobs.get("a") == b"x"
    proxy.away_for(0.2, status)
    assert sorted(blob.name for blob in blobs.list()) == ["a", "new"]
    assert len(caplog.messages) == 4  # one for each operation


def test_a_variable_of_the_address_is_not_replaced_in_messages(bucket, store_endpoint, monkeypatch):
    monkeypatch.setenv("A_BUCKET", bucket.removeprefix("s3://"))
    shared = open_shared_blobs(Path(), "tables", "s3://{A_BUCKET}", store_endpoint)
    shared.put("a", b"x")
    assert open_blobs(Path(), "tables", bucket, store_endpoint).get("a") == b"x"
    assert shared.named("a") == "s3://{A_BUCKET}/tables/a"


def test_a_store_that_stays_unavailable_is_an_error_of_one_sentence(bucket, proxy, caplog):
    proxy.answer = 503
    with pytest.raises(HomeError) as raised:
        open_object_blobs(bucket, proxy, patience=0.1).put("a", b"x")
    message = f"{bucket}/team: cannot be reached (503 Service Unavailable; SlowDown)"
    assert str(raised.value) == message
    assert message in caplog.text


def test_a_put_that_the_store_took_before_an_error_is_this_writer_s(bucket, proxy):
    blobs = open_object_blobs(bucket, proxy)
    proxy.taken_but_answered = 503
    assert blobs.put_new("a", b"ours")
    assert blobs.get("a") == b"ours"
    assert not blobs.put_new("a", b"theirs")


def get_object(blobs: ObjectBlobs) -> None:
    blobs.get("a")


def put_object(blobs: ObjectBlobs) -> None:
    blobs.put("a", b"x")


def list_objects(blobs: ObjectBlobs) -> None:
    list(blobs.list())


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("operation", [get_object, put_object, list_objects])
def test_denied_access_is_an_error_at_once_that_shows_no_key(bucket, proxy, status, operation):
    blobs = open_object_blobs(bucket, proxy, patience=60)
    proxy.answer = status
    started_at = time.monotonic()
    with pytest.raises(HomeError, match="access denied") as raised:
        operation(blobs)
    assert time.monotonic() - started_at < 5
    assert KEYS["AWS_ACCESS_KEY_ID"] not in str(raised.value)
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in str(raised.value)


def test_a_store_without_conditional_puts_is_refused_each_time(bucket, proxy, tmp_path):
    proxy.ignores_conditions = True
    for _ in range(2):
        with pytest.raises(HomeError, match=r"overwrites an existing object.*If-None"):
            open_blobs(tmp_path, "tables", bucket, proxy.endpoint)
