import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import HomeError
from bench_resources.cluster.object_store import ObjectBlobs
from bench_resources.storage.blobs.files import FileBlobs, open_blobs
from bench_resources.storage.blobs.port import Blobs

long = pytest.mark.long
ODD_NAME = "run%2Fstep-1@x=+ 'ü'#.parquet"


@pytest.fixture(
    params=["files", *(pytest.param(kind, marks=long) for kind in ("memory", "local", "s3"))]
)
def open_again(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Blobs]:
    """Open the same blobs again, as another process would."""
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
def blobs(open_again: Callable[[], Blobs]) -> Blobs:
    return open_again()


def names(blobs: Blobs, under: str = "") -> list[str]:
    return [blob.name for blob in blobs.list(under)]


@pytest.mark.parametrize("data", [b"", b"\0\xff", b"x" * 6_000_000], ids=["none", "two", "6 MB"])
def test_a_blob_is_read_when_the_store_is_opened_again(open_again, data):
    open_again().put("a/b", data)
    assert open_again().get("a/b") == data


def test_a_second_put_replaces_the_blob_and_its_version(blobs: Blobs) -> None:
    blobs.put("a", b"first")
    (first,) = blobs.list()
    blobs.put("a", b"second")
    (second,) = blobs.list()
    assert blobs.get("a") == b"second"
    assert (second.name, second.size) == ("a", 6)
    assert second.version != first.version
    assert abs(second.at - time.time()) < 60


def test_put_new_does_not_replace_a_blob(open_again: Callable[[], Blobs]) -> None:
    assert open_again().put_new("a/b", b"first")
    assert not open_again().put_new("a/b", b"second")
    assert not open_again().put_new("a/b", b"first")
    assert open_again().get("a/b") == b"first"
    assert names(open_again()) == ["a/b"]


def test_one_of_sixteen_concurrent_creations_succeeds(open_again: Callable[[], Blobs]) -> None:
    all_blobs = [open_again() for _ in range(16)]

    def create(name: str, writer: int) -> bool:
        return all_blobs[writer].put_new(name, b"%d" % writer)

    for name in ("a", "b", "c", "d", "e"):
        with ThreadPoolExecutor(16) as threads:
            created = list(threads.map(partial(create, name), range(16)))
        assert created.count(True) == 1
        assert all_blobs[0].get(name) == b"%d" % created.index(True)


def test_a_listing_below_a_folder_has_sorted_names_and_sizes(blobs: Blobs) -> None:
    for name in ("b/c/two", "bc/one", "b/a", "b/c.d", "a", f"b/c/{ODD_NAME}", "b/.built/x y"):
        blobs.put(name, name.encode())
    everything = ["a", "b/.built/x y", "b/a", "b/c.d", f"b/c/{ODD_NAME}", "b/c/two", "bc/one"]
    assert names(blobs) == everything
    assert names(blobs, "b") == everything[1:-1]
    assert names(blobs, "b/c") == everything[4:6]
    assert names(blobs, "a") == []  # a blob, not a folder
    assert [blob.size for blob in blobs.list("b/c")] == [len(f"b/c/{ODD_NAME}".encode()), 7]
    assert blobs.get(f"b/c/{ODD_NAME}") == f"b/c/{ODD_NAME}".encode()


@pytest.mark.parametrize("name", ["", "/a", "a//b", "../a", "a/../b"])
def test_a_name_outside_the_store_is_refused(blobs: Blobs, name: str) -> None:
    for read in (blobs.get, blobs.exists, blobs.delete, blobs.named):
        with pytest.raises(HomeError, match="not a valid name"):
            read(name)
    for write in (blobs.put, blobs.put_new):
        with pytest.raises(HomeError, match="not a valid name"):
            write(name, b"x")


def test_a_reader_never_sees_a_part_of_a_replaced_blob(open_again: Callable[[], Blobs]) -> None:
    first, second = b"1" * 300_000, b"2" * 200_000
    writer, reader = open_again(), open_again()
    writer.put("a", first)

    def replace_repeatedly() -> None:
        for data in [second, first] * 10:
            writer.put("a", data)

    with ThreadPoolExecutor(1) as thread:
        writing = thread.submit(replace_repeatedly)
        while not writing.done():
            assert reader.get("a") in (first, second)
        writing.result()
