"""The file of a bundle: the same content is the same bytes, and no compressed zip is read."""

import io
import os
import zipfile
from functools import partial
from pathlib import Path

import pytest

from bench_assets.bundles.archive import Archive, ArchiveFile, pack
from bench_assets.core.schema.errors import SourceError

FILES = {"manifest.json": b"{}", "a.jsonl": b"", "images/00": bytes(range(256))}


def write(target: Path, files: dict[str, bytes]) -> Path:
    pack([ArchiveFile(name, partial(bytes, data)) for name, data in files.items()], target)
    return target


def test_the_same_files_in_any_order_are_the_same_bytes(tmp_path):
    one = write(tmp_path / "1.zip", FILES)
    os.utime(one, (1, 1))
    other = write(tmp_path / "2.zip", dict(reversed(FILES.items())))
    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == sorted(FILES)
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    """A zip of somebody else's."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as archive:
        for entry, data in entries:
            archive.writestr(entry, data)
    return file.getvalue()


def ours() -> bytes:
    return zipped(("a", b"1"), ("b", b"2"))


BOMB = zipped(("manifest.json", bytes(10**7)), how=zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        pytest.param(b"", "not a bundle", id="an empty file"),
        pytest.param(b"hello" * 100, "not a bundle", id="no zip"),
        pytest.param(ours()[:-1], "cut short", id="cut short by a byte"),
        pytest.param(BOMB, "'manifest.json': compressed", id="a zip bomb"),
    ],
)  # fmt: skip
def test_other_zips_are_refused(tmp_path, data, says):
    file = tmp_path / "b.zip"
    file.write_bytes(data)
    with pytest.raises(SourceError) as refused:
        Archive.open(file)
    assert says in str(refused.value)
    assert str(file) in str(refused.value)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_there_twice_is_refused(tmp_path):
    file = tmp_path / "b.zip"
    file.write_bytes(zipped(("a", b"1"), ("a", b"2")))
    with pytest.raises(SourceError, match="'a': duplicate entry"):
        Archive.open(file)


def test_a_file_whose_bytes_were_changed_is_refused_by_name(tmp_path):
    file = write(tmp_path / "b.zip", {"a": b"hello"})
    file.write_bytes(file.read_bytes().replace(b"hello", b"jello"))
    with Archive.open(file) as archive, pytest.raises(SourceError, match="a: damaged"):
        archive.read("a", 10)


def test_a_file_larger_than_it_may_be_is_not_read(tmp_path):
    with (
        Archive.open(write(tmp_path / "b.zip", {"a": b"hello"})) as archive,
        pytest.raises(SourceError, match="a: 5 bytes, more than the 4 allowed"),
    ):
        archive.read("a", 4)
