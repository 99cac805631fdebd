"""What belongs to a source folder, and what only looks as if it did."""

import os
import re
from hashlib import sha256
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import SourceFile
from bench_assets.core.tables.source_folder import (
    files_below,
    format_json,
    image_files,
    pin,
    resolve_inside,
    write_files,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "b.png",
        "a/c.png",
        "a-d.png",
        ".hidden",
        "a/.hidden",
        ".git/config.png",
        "a/.b/c/d.png",
    ):
        file = tmp_path / "images" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(name.encode())
    return tmp_path / "images"


def test_files_are_listed_by_path_and_hidden_ones_are_none(folder: Path) -> None:
    names = ["a-d.png", "a/c.png", "b.png"]
    assert files_below(folder) == [folder / name for name in names]
    assert image_files(folder) == {name: folder / name for name in names}


def test_a_file_is_pinned_by_its_bytes(folder: Path) -> None:
    assert pin([folder / "b.png", folder / "a" / "c.png"], folder) == [
        SourceFile(path="a/c.png", sha256=sha256(b"a/c.png").hexdigest(), n_bytes=7),
        SourceFile(path="b.png", sha256=sha256(b"b.png").hexdigest(), n_bytes=5),
    ]


def test_a_link_out_of_the_folder_is_no_image_of_it(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    (folder / "link.png").symlink_to(tmp_path / "secret")
    complaint = f"{re.escape(str(folder))}: image 'link.png' is outside the folder"
    with pytest.raises(SourceError, match=complaint):
        image_files(folder)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        pytest.param("../x.png", "is outside the folder", id="a path upwards"),
        pytest.param("/etc/passwd", "is outside the folder", id="an absolute path"),
        pytest.param("x\0.png", "is not a file name", id="a NUL"),
        pytest.param("x" * 300, "is not a file name", id="a name too long"),
    ],
)
def test_a_name_that_leads_out_is_refused(folder: Path, name: str, complaint: str) -> None:
    with pytest.raises(SourceError, match=f"entry 3: image .*{complaint}"):
        resolve_inside(folder, name, "entry 3")


def test_a_linked_folder_is_followed_unless_it_leads_out(folder: Path, tmp_path: Path) -> None:
    (folder / "here").symlink_to(folder / "a")
    (folder / "away").symlink_to(tmp_path)
    assert resolve_inside(folder, "here/c.png", "entry 3") == folder / "here/c.png"
    with pytest.raises(SourceError, match="is outside the folder"):
        resolve_inside(folder, "away/c.png", "entry 3")


def test_an_image_need_not_be_there_yet(folder: Path) -> None:
    assert resolve_inside(folder, "gone.png", "entry 3") == folder / "gone.png"


def test_files_that_hold_the_same_already_are_left_alone(tmp_path):
    write_files(tmp_path, {"a/b.txt": b"one", "c.txt": b"two"})
    os.utime(tmp_path / "a/b.txt", ns=(7, 7))
    write_files(tmp_path, {"a/b.txt": b"one", "c.txt": b"three"})
    assert (tmp_path / "a/b.txt").stat().st_mtime_ns == 7
    assert (tmp_path / "c.txt").read_bytes() == b"three"
    write_files(tmp_path, {"d/e/f.txt": b"deep"})
    assert (tmp_path / "d" / "e" / "f.txt").read_bytes() == b"deep"


def test_json_that_people_can_read():
    assert format_json([{"a": "é"}]) == '[\n {\n  "a": "é"\n }\n]\n'.encode()
