"""That files are known by what they hold, wherever they lie, and are read once."""

import os
import time
from pathlib import Path

import pytest

from bench_resources.storage.file_digests import FileDigests

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # SHA-256 of nothing


def write(folder: Path) -> Path:
    for name, text in (("b/two.txt", "2"), ("a.txt", ""), ("b/__pycache__/x.pyc", "x")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def name_digests(home: Path, *paths: Path) -> list[list[str]]:
    return list(FileDigests(home / "digests.json").of(paths))


def long_ago(file: Path) -> None:
    os.utime(file, (1_000_000_000, 1_000_000_000))


def test_another_text_of_the_same_length_is_another(tmp_path: Path) -> None:
    file = write(tmp_path / "release") / "b" / "two.txt"
    long_ago(file)
    before = name_digests(tmp_path, file)
    file.write_text("3")
    assert name_digests(tmp_path, file) != before


def test_a_file_that_lay_there_is_not_read_again(tmp_path: Path) -> None:
    file = write(tmp_path / "release") / "b" / "two.txt"
    long_ago(file)
    before = name_digests(tmp_path, file)
    file.write_text("3")
    long_ago(file)  # nobody does that; it shows that the file is not read
    assert name_digests(tmp_path, file) == before


def test_what_changed_a_moment_ago_is_not_remembered(tmp_path: Path) -> None:
    file = write(tmp_path / "release") / "b" / "two.txt"
    now = time.time_ns()
    before = []
    for text in "23":  # twice within what a coarse clock takes for one moment
        file.write_text(text)
        os.utime(file, ns=(now, now))
        before.append(name_digests(tmp_path, file))
    assert before[0] != before[1]


@pytest.mark.parametrize("memory", [b"", b"torn{", b"[]", b'{"x": 1}', b'{"x": [1]}', b"\xff"])
def test_a_memory_that_is_damaged_is_made_anew(tmp_path: Path, memory: bytes) -> None:
    file = write(tmp_path / "release") / "a.txt"
    long_ago(file)
    (tmp_path / "digests.json").write_bytes(memory.replace(b'"x"', f'"{file}"'.encode()))
    assert name_digests(tmp_path, file) == [["a.txt", EMPTY]]
    assert name_digests(tmp_path, file) == [["a.txt", EMPTY]]


def test_a_link_to_what_is_not_there_counts_by_its_name(tmp_path: Path) -> None:
    folder = write(tmp_path / "release")
    (folder / "c.txt").symlink_to(tmp_path / "absent")
    assert name_digests(tmp_path, folder)[1] == ["release/c.txt", "not there"]


def test_links_to_the_folder_that_they_are_in_are_not_followed(tmp_path: Path) -> None:
    """With two of them there are 2^40 paths before the system refuses."""
    folder = write(tmp_path / "release")
    (folder / "latest").symlink_to(".")
    (folder / "b" / "all").symlink_to("..")
    (folder / "c").symlink_to("b")
    assert [name for name, _ in name_digests(tmp_path, folder)] == [
        "release/a.txt", "release/b/two.txt", "release/c/two.txt"
    ]  # fmt: skip
