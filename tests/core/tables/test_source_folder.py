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
    visible = ("b.png", "a/c.png", "a-d.png")
    hidden = (".hidden", "a/.hidden", ".git/config.png", "a/.b/c/d.png")
    for name in (*visible, *hidden):
        file = tmp_path / "images" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(name.encode())
    return tmp_path / "images"


def test_files_are_listed_by_path_without_hidden_ones(folder: Path) -> None:
    names = ["a-d.png", "a/c.png", "b.png"]
    assert files_below(folder) == [folder / name for name in names]
    assert image_files(folder) == {name: folder / name for name in names}


def test_a_file_is_pinned_by_its_digest_and_size(folder: Path) -> None:
    assert pin([folder / "b.png", folder / "a" / "c.png"], folder) == [
        SourceFile(path="a/c.png", sha256=sha256(b"a/c.png").hexdigest(), n_bytes=7),
        SourceFile(path="b.png", sha256=sha256(b"b.png").hexdigest(), n_bytes=5),
    ]


def test_an_image_that_links_out_of_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    (folder / "link.png").symlink_to(tmp_path / "secret")
    expected_message = f"{re.escape(str(folder))}: image 'link.png' is outside the folder"
    with pytest.raises(SourceError, match=expected_message):
        image_files(folder)


@pytest.mark.parametrize(
    ("name", "expected_message"),
    [
        pytest.param("../x.png", "is outside the folder", id="a path upwards"),
        pytest.param("/etc/passwd", "is outside the folder", id="an absolute path"),
        pytest.param("x\0.png", "is not a file name", id="a NUL"),
        pytest.param("x" * 300, "is not a file name", id="a name too long"),
    ],
)
def test_a_name_out_of_the_folder_is_refused(folder, name, expected_message):
    with pytest.raises(SourceError, match=f"entry 3: image .*{expected_message}"):
        resolve_inside(folder, name, "entry 3")


def test_a_link_to_a_folder_within_is_followed(folder: Path) -> None:
    (folder / "here").symlink_to(folder / "a")
    assert resolve_inside(folder, "here/c.png", "entry 3") == folder / "here/c.png"


def test_a_link_to_a_folder_outside_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "away").symlink_to(tmp_path)
    with pytest.raises(SourceError, match="is outside the folder"):
        resolve_inside(folder, "away/c.png", "entry 3")


def test_a_missing_image_has_a_path(folder: Path) -> None:
    assert resolve_inside(folder, "gone.png", "entry 3") == folder / "gone.png"


def test_only_files_with_other_contents_are_written(tmp_path):
    write_files(tmp_path, {"a/b.txt": b"one", "c.txt": b"two"})
    os.utime(tmp_path / "a/b.txt", ns=(7, 7))
    write_files(tmp_path, {"a/b.txt": b"one", "c.txt": b"three"})
    assert (tmp_path / "a/b.txt").stat().st_mtime_ns == 7
    assert (tmp_path / "c.txt").read_bytes() == b"three"


def test_json_is_indented_and_not_escaped():
    assert format_json([{"a": "é"}]) == '[\n {\n  "a": "é"\n }\n]\n'.encode()
