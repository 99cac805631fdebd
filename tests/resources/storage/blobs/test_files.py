"""What blobs of files say of a disk that does not take or give them."""

import errno
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import HomeError
from bench_resources.storage.blobs.files import FileBlobs
from tests.fakes.unprivileged import unprivileged


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    blobs = FileBlobs(tmp_path)
    for go in (
        lambda: blobs.put("a/b", b"x"),
        lambda: blobs.get("a/b"),
        lambda: blobs.delete("a/b"),
    ):
        with pytest.raises(HomeError, match=f"{tmp_path}/a/b: cannot be"):
            go()
    assert blobs.exists("a/b")


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    blobs.put("a", b"x")
    for put in (blobs.put, blobs.put_new):
        with pytest.raises(HomeError, match=f"{tmp_path}/a/b: cannot be written"):
            put("a/b", b"y")
    assert blobs.get("a/b") is None
    assert not blobs.delete("a/b")


def test_nothing_unfinished_is_left_or_listed(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    blobs.put("a/b", b"x")
    blobs.put_new("a/b", b"y")
    blobs.put_new("a/c", b"y")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["b", "c"]
    (tmp_path / "a" / ".x.unfinished").touch()  # of a process that was killed
    (tmp_path / "a" / "gone").symlink_to(tmp_path / "nowhere")
    assert [blob.name for blob in blobs.list()] == ["a/b", "a/c"]


def test_without_hard_links_one_of_many_writes_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")  # as link(2) on exFAT

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    blobs = FileBlobs(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        wrote = list(threads.map(lambda n: blobs.put_new("a/b", b"%d" % n), range(8)))
    assert wrote.count(True) == 1
    assert blobs.get("a/b") == b"%d" % wrote.index(True)
    assert [blob.name for blob in blobs.list()] == ["a/b"]


def test_a_folder_that_may_not_be_read_is_named_once_all_others_are_listed(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    for name in ("a/b", "closed/d", "e/f"):
        blobs.put(name, b"x")
    (tmp_path / "closed").chmod(0)
    found: list[str] = []
    with unprivileged():
        with pytest.raises(HomeError, match=f"{tmp_path}/closed: cannot be read: Permission"):
            found.extend(blob.name for blob in blobs.list())
        for look in (blobs.exists, blobs.get):
            with pytest.raises(HomeError, match="closed/d: cannot be read: Permission"):
                look("closed/d")
    (tmp_path / "closed").chmod(0o755)
    assert found == ["a/b", "e/f"]
