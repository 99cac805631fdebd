import errno
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import HomeError
from bench_resources.storage.blobs.files import FileBlobs
from tests.fakes.unprivileged import unprivileged


def test_a_folder_with_the_name_of_a_blob_is_named_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    blobs = FileBlobs(tmp_path)
    with pytest.raises(HomeError, match=f"{tmp_path}/a/b: cannot be written"):
        blobs.put("a/b", b"x")
    with pytest.raises(HomeError, match=f"{tmp_path}/a/b: cannot be read"):
        blobs.get("a/b")
    with pytest.raises(HomeError, match=f"{tmp_path}/a/b: cannot be written"):
        blobs.delete("a/b")
    assert blobs.exists("a/b")


def test_a_file_with_the_name_of_a_folder_is_named_in_the_error(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    blobs.put("a", b"x")
    for put in (blobs.put, blobs.put_new):
        with pytest.raises(HomeError, match=f"{tmp_path}/a/b: cannot be written"):
            put("a/b", b"y")
    assert blobs.get("a/b") is None
    assert not blobs.delete("a/b")


def test_unfinished_files_are_not_left_behind_or_listed(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    blobs.put("a/b", b"x")
    blobs.put_new("a/b", b"y")
    blobs.put_new("a/c", b"y")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["b", "c"]
    (tmp_path / "a" / ".x.unfinished").touch()  # of a process that was killed
    (tmp_path / "a" / "broken").symlink_to(tmp_path / "nowhere")
    assert [blob.name for blob in blobs.list()] == ["a/b", "a/c"]


def test_without_hard_links_one_of_many_concurrent_writers_creates_a_blob(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")  # as link(2) on exFAT

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    blobs = FileBlobs(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        created = list(threads.map(lambda n: blobs.put_new("a/b", b"%d" % n), range(8)))
    assert created.count(True) == 1
    assert blobs.get("a/b") == b"%d" % created.index(True)
    assert [blob.name for blob in blobs.list()] == ["a/b"]


def test_an_unreadable_folder_is_named_after_all_others_are_listed(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    for name in ("a/b", "closed/d", "e/f"):
        blobs.put(name, b"x")
    (tmp_path / "closed").chmod(0)
    listed: list[str] = []
    with unprivileged():
        with pytest.raises(HomeError, match=f"{tmp_path}/closed: cannot be read: Permission"):
            listed.extend(blob.name for blob in blobs.list())
        for read in (blobs.exists, blobs.get):
            with pytest.raises(HomeError, match="closed/d: cannot be read: Permission"):
                read("closed/d")
    (tmp_path / "closed").chmod(0o755)
    assert listed == ["a/b", "e/f"]
