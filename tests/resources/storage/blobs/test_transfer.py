"""Blobs that are taken from one place into another: all, and whole, whatever happens meanwhile."""

from pathlib import Path
from typing import cast

import pytest

from bench_assets.core.schema.errors import HomeError
from bench_resources.storage.blobs.files import FileBlobs, open_blobs
from bench_resources.storage.blobs.port import Blobs
from bench_resources.storage.blobs.transfer import TransferRules, transfer

LARGE = b"x" * (9 * 2**20)


@pytest.fixture(params=["files", pytest.param("s3", marks=pytest.mark.long)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    if request.param == "files":
        return FileBlobs(tmp_path / "target")
    bucket: str = request.getfixturevalue("bucket")
    return open_blobs(tmp_path, "tables", bucket, request.getfixturevalue("store_endpoint"))


@pytest.fixture
def source(tmp_path: Path) -> FileBlobs:
    return FileBlobs(tmp_path / "source")


def put(blobs: Blobs, *written: tuple[str, bytes]) -> None:
    for name, data in written:
        blobs.put(name, data)


def lying(blobs: Blobs) -> dict[str, bytes | None]:
    return {blob.name: blobs.get(blob.name) for blob in blobs.list()}


def rules(better: bool = False, replaced: Blobs | None = None) -> TransferRules:
    """Bytes that end with "?" are damaged."""
    return TransferRules(
        is_whole=lambda _, data: not data.endswith(b"?"),
        is_better=lambda *_: better,
        replaced=replaced,
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "better", "became", "lies"),
    [
        (b"a", None, False, "new", b"a"),
        (LARGE, None, False, "new", LARGE),
        (b"a", b"a", True, "there", b"a"),
        (b"a", b"b", False, "kept", b"b"),
        (b"a", b"b", True, "replaced", b"a"),
        (b"a", b"b?", False, "replaced", b"a"),
        (b"a?", None, True, "damaged", None),
        (b"a?", b"b", True, "damaged", b"b"),
    ],
    ids=["new", "new and large", "the same", "older", "newer", "damaged there", "damaged here",
         "damaged here, whole there"],
)  # fmt: skip
def test_what_becomes_of_each(  # noqa: PLR0917
    source: FileBlobs, target: Blobs, tmp_path: Path, ours: bytes, theirs: bytes | None,
    better: bool, became: str, lies: bytes | None,
) -> None:  # fmt: skip
    put(source, ("a/b", ours))
    put(target, *([("a/b", theirs)] if theirs else []))
    replaced = FileBlobs(tmp_path / "replaced")
    transferred = transfer(target, source, source.list(), rules(better, replaced))
    assert transferred == {became: 1}
    assert target.get("a/b") == lies
    assert source.get("a/b") == ours
    lost = became == "replaced" and theirs == b"b"
    assert list(lying(replaced).values()) == ([b"b"] if lost else [])


def test_two_that_are_replaced_one_after_the_other_are_both_kept(
    source: FileBlobs, target: Blobs, tmp_path: Path
) -> None:
    replaced = FileBlobs(tmp_path / "replaced")
    put(target, ("a", b"1"))
    for data in (b"2", b"3"):
        put(source, ("a", data))
        transfer(target, source, source.list(), rules(better=True, replaced=replaced))
    assert sorted(data or b"" for data in lying(replaced).values()) == [b"1", b"2"]
    assert target.get("a") == b"3"


class Failing:
    """Blobs that cannot be written any more after so many, as a full disk or a store that is away.

    What was to be written next may or may not be there.
    """

    def __init__(self, blobs: Blobs, after: int, *, taken: bool) -> None:
        self._blobs, self._left, self._taken = blobs, after, taken

    def __getattr__(self, name: str) -> object:
        return getattr(self._blobs, name)

    def put_new(self, name: str, data: bytes) -> bool:
        self._left -= 1
        if self._left < 0:
            if self._taken:
                self._blobs.put_new(name, data)
            raise HomeError("No space left on device")
        return self._blobs.put_new(name, data)


@pytest.mark.parametrize("taken", [False, True], ids=["not taken", "taken without a word"])
@pytest.mark.parametrize("after", [0, 1, 7, 39])
def test_what_ends_half_way_loses_nothing_and_is_begun_again(
    source: FileBlobs, tmp_path: Path, after: int, taken: bool
) -> None:
    target = FileBlobs(tmp_path / "target")
    put(source, *((f"{n}/x", str(n).encode()) for n in range(40)))
    before = lying(source)
    failing = cast(Blobs, Failing(target, after, taken=taken))
    with pytest.raises(HomeError, match="No space left"):
        transfer(failing, source, source.list(), rules())
    assert lying(source) == before
    assert lying(target).items() <= before.items()
    n_there = len(lying(target))
    assert transfer(target, source, source.list(), rules()) == {
        state: n for state, n in (("there", n_there), ("new", 40 - n_there)) if n
    }
    assert lying(target) == before


def test_what_a_place_loses_without_a_word_is_found_at_once(
    source: FileBlobs, tmp_path: Path
) -> None:
    class Losing(FileBlobs):
        def put_new(self, name: str, data: bytes) -> bool:
            return super().put_new(name, data[:-1])

    put(source, ("a", b"12"))
    with pytest.raises(HomeError, match=f"{tmp_path}/target/a: differs after it was"):
        transfer(Losing(tmp_path / "target"), source, source.list(), rules())
