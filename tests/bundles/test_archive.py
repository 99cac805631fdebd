import io
import os
import zipfile

import pytest

from bench_assets.bundles.archive import Archive
from bench_assets.core.schema.errors import SourceError
from tests.bundles.shelf import write_bundle

FILES = {"manifest.json": b"{}", "a.jsonl": b"", "images/00": bytes(range(256))}


def test_the_same_files_in_any_order_are_the_same_bytes(tmp_path):
    first = write_bundle(tmp_path / "1.zip", FILES)
    os.utime(first, (1, 1))
    second = write_bundle(tmp_path / "2.zip", dict(reversed(FILES.items())))
    assert first.read_bytes() == second.read_bytes()


def test_an_archive_is_a_valid_zip_with_sorted_names_and_no_times(tmp_path):
    with zipfile.ZipFile(write_bundle(tmp_path / "1.zip", FILES)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == sorted(FILES)
        assert {file.date_time for file in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def other_zip(*files: tuple[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A zip file that `pack` did not write."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return buffer.getvalue()


BOMB = other_zip(("manifest.json", bytes(10**7)), compression=zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize(
    ("data", "expected_message"),
    [
        pytest.param(b"", "not a bundle", id="an empty file"),
        pytest.param(b"hello" * 100, "not a bundle", id="no zip"),
        pytest.param(other_zip(("a", b"1"))[:-1], "cut short", id="a byte less"),
        pytest.param(BOMB, "'manifest.json': compressed", id="a zip bomb"),
    ],
)
def test_other_zips_are_refused(tmp_path, data, expected_message):
    file = tmp_path / "b.zip"
    file.write_bytes(data)
    with pytest.raises(SourceError) as refused, Archive.open(file):
        pass
    assert expected_message in str(refused.value)
    assert str(file) in str(refused.value)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_duplicate_name_is_refused(tmp_path):
    file = tmp_path / "b.zip"
    file.write_bytes(other_zip(("a", b"1"), ("a", b"2")))
    with pytest.raises(SourceError, match="'a': duplicate entry"), Archive.open(file):
        pass


def test_a_file_whose_bytes_were_changed_is_refused_by_name(tmp_path):
    file = write_bundle(tmp_path / "b.zip", {"a": b"hello"})
    file.write_bytes(file.read_bytes().replace(b"hello", b"jello"))
    with Archive.open(file) as archive, pytest.raises(SourceError, match="a: damaged"):
        archive.read("a", 10)


def test_a_file_larger_than_allowed_is_not_read(tmp_path):
    with (
        Archive.open(write_bundle(tmp_path / "b.zip", {"a": b"hello"})) as archive,
        pytest.raises(SourceError, match="a: 5 bytes, more than the 4 allowed"),
    ):
        archive.read("a", 4)
