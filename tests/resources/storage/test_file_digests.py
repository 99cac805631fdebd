import os
import time
from pathlib import Path

import pytest

from bench_resources.storage.file_digests import FileDigests

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # SHA-256 of nothing


def write_release(folder: Path) -> Path:
    """Write a folder with two files, and a third one of bytecode."""
    for name, text in (("b/two.txt", "2"), ("a.txt", ""), ("b/__pycache__/x.pyc", "x")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def read_digests(home: Path, *paths: Path) -> list[tuple[str, str]]:
    return list(FileDigests(home / "digests.json").of(paths))


def set_old_mtime(file: Path) -> None:
    os.utime(file, (1_000_000_000, 1_000_000_000))


def test_names_begin_with_the_given_folder_also_of_a_relative_path(tmp_path, monkeypatch) -> None:
    write_release(tmp_path / "release")
    monkeypatch.chdir(tmp_path)
    names = [name for name, _ in read_digests(tmp_path, Path("release"))]
    assert names == ["release/a.txt", "release/b/two.txt"]


def test_a_changed_file_of_the_same_size_has_another_digest(tmp_path: Path) -> None:
    file = write_release(tmp_path / "release") / "b" / "two.txt"
    set_old_mtime(file)
    before = read_digests(tmp_path, file)
    file.write_text("3")
    assert read_digests(tmp_path, file) != before


def test_a_file_with_known_size_and_mtime_is_not_read_again(tmp_path: Path) -> None:
    file = write_release(tmp_path / "release") / "b" / "two.txt"
    set_old_mtime(file)
    before = read_digests(tmp_path, file)
    file.write_text("3")
    set_old_mtime(file)  # with the mtime of before, the change is not seen
    assert read_digests(tmp_path, file) == before


def test_the_digest_of_a_file_that_changed_just_now_is_not_cached(tmp_path: Path) -> None:
    file = write_release(tmp_path / "release") / "b" / "two.txt"
    now = time.time_ns()
    digests = []
    for text in ("2", "3"):  # two changes within one tick of a coarse clock
        file.write_text(text)
        os.utime(file, ns=(now, now))
        digests.append(read_digests(tmp_path, file))
    assert digests[0] != digests[1]


@pytest.mark.parametrize("cache", [b"", b"torn{", b"[]", b'{"x": 1}', b'{"x": [1]}', b"\xff"])
def test_a_damaged_cache_is_replaced(tmp_path: Path, cache: bytes) -> None:
    file = write_release(tmp_path / "release") / "a.txt"
    set_old_mtime(file)
    (tmp_path / "digests.json").write_bytes(cache.replace(b'"x"', f'"{file}"'.encode()))
    assert read_digests(tmp_path, file) == [("a.txt", EMPTY)]
    assert read_digests(tmp_path, file) == [("a.txt", EMPTY)]


def test_a_broken_link_has_an_entry_without_a_digest(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "release")
    (folder / "c.txt").symlink_to(tmp_path / "absent")
    assert read_digests(tmp_path, folder)[1] == ("release/c.txt", "not there")


def test_cyclic_links_are_not_followed(tmp_path: Path) -> None:
    """Two such links would give 2^40 paths before the system refuses."""
    folder = write_release(tmp_path / "release")
    (folder / "latest").symlink_to(".")
    (folder / "b" / "all").symlink_to("..")
    (folder / "c").symlink_to("b")
    assert [name for name, _ in read_digests(tmp_path, folder)] == [
        "release/a.txt", "release/b/two.txt", "release/c/two.txt"
    ]  # fmt: skip
