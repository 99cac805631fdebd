"""What all blobs must do: one table, run on files, on obstore's own stores and on S3's protocol."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import HomeError
from bench_resources.cluster.object_store import ObjectBlobs
from bench_resources.storage.blobs.files import FileBlobs, open_blobs
from bench_resources.storage.blobs.port import Blobs

long = pytest.mark.long
ODD = "run%2Fstep-1@x=+ 'ü'#.parquet"


@pytest.fixture(
    params=["files", *(pytest.param(one, marks=long) for one in ("memory", "local", "s3"))]
)
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Blobs]:
    """Opens the same blobs again and again."""
    if request.param == "files":
        return lambda: FileBlobs(tmp_path / "home" / "tables")
    stores = pytest.importorskip("obstore.store", reason="make cluster-check installs obstore")
    if request.param == "memory":
        memory = ObjectBlobs(stores.MemoryStore(), "memory")
        return lambda: memory
    if request.param == "local":
        return lambda: ObjectBlobs(stores.LocalStore(tmp_path / "store", mkdir=True), "local")
    bucket: str = request.getfixturevalue("bucket")
    endpoint: str = request.getfixturevalue("store_endpoint")
    return lambda: open_blobs(tmp_path, "tables", f"{bucket}/team a", endpoint)


@pytest.fixture
def blobs(another: Callable[[], Blobs]) -> Blobs:
    return another()


def names(blobs: Blobs, under: str = "") -> list[str]:
    return [blob.name for blob in blobs.list(under)]


@pytest.mark.parametrize("data", [b"", b"\0\xff", b"x" * 6_000_000])
@pytest.mark.parametrize("sync", [True, False])
def test_what_was_put_is_read_by_all(another: Callable[[], Blobs], data: bytes, sync: bool) -> None:
    another().put("a/b", data, sync=sync)
    assert another().get("a/b") == data
    assert another().exists("a/b")


def test_the_later_of_two_puts_stays_and_has_another_version(blobs: Blobs) -> None:
    blobs.put("a", b"first")
    ((_, _, before, _),) = blobs.list()
    blobs.put("a", b"later.")
    ((name, size, version, at),) = blobs.list()
    assert (blobs.get("a"), name, size) == (b"later.", "a", 6)
    assert version != before
    assert abs(at - time.time()) < 60


def test_the_first_of_two_new_ones_stays(another: Callable[[], Blobs]) -> None:
    assert another().put_new("a/b", b"first")
    assert not another().put_new("a/b", b"later")
    assert not another().put_new("a/b", b"first")
    assert another().get("a/b") == b"first"
    assert names(another()) == ["a/b"]


def test_of_sixteen_that_create_a_blob_at_once_one_succeeds(
    another: Callable[[], Blobs],
) -> None:
    all_blobs = [another() for _ in range(16)]
    for n in range(5):
        with ThreadPoolExecutor(16) as threads:
            won = list(
                threads.map(
                    lambda at, n=n: all_blobs[at].put_new(f"claim-{n}", b"%d" % at), range(16)
                )
            )
        assert won.count(True) == 1
        assert all_blobs[0].get(f"claim-{n}") == b"%d" % won.index(True)


def test_a_listing_is_of_whole_parts_in_order_with_sizes(blobs: Blobs) -> None:
    for name in ("b/c/two", "bc/one", "b/a", "b/c.d", "a", f"b/c/{ODD}", "b/.built/x y"):
        blobs.put(name, name.encode(), sync=False)
    everything = ["a", "b/.built/x y", "b/a", "b/c.d", f"b/c/{ODD}", "b/c/two", "bc/one"]
    assert names(blobs) == everything
    assert names(blobs, "b") == everything[1:-1]
    assert names(blobs, "b/c") == everything[4:6]
    assert names(blobs, "a") == []  # that is no folder
    assert [blob.size for blob in blobs.list("b/c")] == [len(f"b/c/{ODD}".encode()), 7]
    assert blobs.get(f"b/c/{ODD}") == f"b/c/{ODD}".encode()


@pytest.mark.parametrize("name", ["", "/a", "a//b", "../a", "a/../b"])
def test_a_name_that_leads_elsewhere_is_refused(blobs: Blobs, name: str) -> None:
    for refuse in (blobs.get, blobs.exists, blobs.delete, blobs.named):
        with pytest.raises(HomeError, match="not a valid name"):
            refuse(name)
    for write in (blobs.put, blobs.put_new):
        with pytest.raises(HomeError, match="not a valid name"):
            write(name, b"x")


def test_a_reader_sees_no_half_of_what_is_put_again_and_again(
    another: Callable[[], Blobs],
) -> None:
    one, other = b"1" * 300_000, b"2" * 200_000
    writer, reader = another(), another()
    writer.put("a", one)
    with ThreadPoolExecutor(1) as thread:
        writing = thread.submit(
            lambda: [writer.put("a", data, sync=False) for data in [other, one] * 10]
        )
        while not writing.done():
            assert reader.get("a") in (one, other)
        writing.result()
